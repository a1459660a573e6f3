#!/usr/bin/env python3
"""Tests the packages for clients (`clients/`) as a user gets them: builds each, installs it into an environment without its source, and runs its own tests against the real program over `examples/maintenance`.

    python3 bench/packages.py --program target/release/pikerag [--cache DIR] [--only NAME,…]

The environments stay in the cache, the packages are built and installed each time. Exit code 0: all tests pass, and none is left out; 1: some fail; 77: packages of others are not available.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile

from clients import servers

ROOT = servers.ROOT
# Each package's folder and module, after those that it needs.
PYTHON = {
    "pikerag-client": ("python", "pikerag_client"),
    "langchain-pikerag": ("python-langchain", "langchain_pikerag"),
    "llama-index-retrievers-pikerag": ("python-llamaindex", "llama_index"),
}
TYPESCRIPT = "@pikerag/client"
BUILDERS = ["build>=1.2,<2", "hatchling>=1.27,<2"]
# The example of each package, with words of its output.
EXAMPLES = {
    "pikerag-client": ("ask.py", "19"),
    "langchain-pikerag": ("langchain_search.py", "6 mm"),
    "llama-index-retrievers-pikerag": ("llamaindex_search.py", "6 mm"),
    TYPESCRIPT: ("ask.mjs", "19"),
}
UNCOPIED = shutil.ignore_patterns("node_modules", "dist", "__pycache__", ".*_cache", "*.egg-info")


class Absent(Exception):
    """A package of others, or a program, is not available."""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--cache", default=os.path.expanduser("~/.cache/pikerag/packages"))
    arguments.add_argument("--only", default=",".join([*PYTHON, TYPESCRIPT]))
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    cache = pathlib.Path(given.cache).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    names = given.only.split(",")
    if unknown := set(names) - {*PYTHON, TYPESCRIPT}:
        arguments.error(f"no such package: {', '.join(sorted(unknown))}")
    failed, absent = [], []
    with tempfile.TemporaryDirectory() as folder, servers.over_example(program) as (url, _):
        place = pathlib.Path(folder)
        wheels = {}
        for name in [*PYTHON, TYPESCRIPT]:
            try:
                if name == TYPESCRIPT:
                    result = try_typescript(cache, place, url) if name in names else None
                else:
                    # A package needs the wheels of those before it, also with `--only`.
                    wheels[name] = build_wheel(cache, place, name)
                    result = try_python(cache, place, url, name, wheels) if name in names else None
                if result:
                    print(f"{name}: {result}", flush=True)
            except Absent as error:
                absent.append(name)
                print(f"{name}: LEFT OUT: {error}", flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed.append(name)
                print(f"{name}: FAILED: {error}", flush=True)
    return 1 if failed else 77 if absent else 0


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def build_wheel(cache, place, name):
    """Builds the source distribution, and the wheel from it; returns the wheel."""
    folder, module = PYTHON[name]
    python = environment(cache / "build", BUILDERS)
    source, dist = place / "source" / folder, place / "dist"
    shutil.copytree(ROOT / "clients" / folder, source, ignore=UNCOPIED)
    run([python, "-m", "build", "--no-isolation", "--outdir", dist, source])
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    assert project["version"] == version(), f"version {project['version']}, but the program has {version()}"
    assert (source / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), "LICENSE is not the project's"
    [wheel] = dist.glob(f"{name.replace('-', '_')}-{project['version']}-*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert {path.split("/")[0] for path in files if ".dist-info/" not in path} == {module}, files
    for ending in ("/py.typed", "/licenses/LICENSE"):
        assert any(path.endswith(ending) for path in files), f"{wheel.name} has no {ending}"
    return wheel


def try_python(cache, place, url, name, wheels):
    folder, module = PYTHON[name]
    source = place / "source" / folder
    wheel = f"{wheels[name]}[test]"
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    wanted = json.dumps([project["dependencies"], project["optional-dependencies"]])
    python = environment(cache / folder, ["--find-links", wheels[name].parent, wheel], wanted)
    # The first package is the client that the others need.
    needed = dict.fromkeys([next(iter(wheels.values())), wheels[name]])
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", *needed])
    run([python, "-m", "pip", "check"])
    # The tests without the source: Python finds only the installed package.
    tests = place / "tests" / folder
    shutil.copytree(source / "tests", tests / "tests")
    shutil.copy(source / "pyproject.toml", tests)
    ran = run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], tests, {"PIKERAG_URL": url})
    summary = ran.splitlines()[-1]
    assert "skipped" not in summary and "xfailed" not in summary, f"tests are left out: {ran[-2000:]}"
    try_example(name, [python], tests, url)
    if any(requirement.startswith("mypy") for requirement in project["optional-dependencies"]["test"]):
        run([python, "-m", "mypy", "--strict", "--cache-dir", cache / "mypy", "-p", module], tests)
        summary += ", types checked"
    return f"{wheels[name].name}: {summary}"


def try_typescript(cache, place, url):
    found = subprocess.run(["node", "--version"], capture_output=True, text=True) if shutil.which("node") and shutil.which("npm") else None
    if found is None or int(re.match(r"v(\d+)", found.stdout)[1]) < 20:
        raise Absent("Node.js 20 is not installed")
    source = cache / "typescript/source"
    modules = source / "node_modules"
    lock = (ROOT / "clients/typescript/package-lock.json").read_text()
    done = cache / "typescript/done"
    if not modules.exists() or not done.exists() or done.read_text() != lock:
        shutil.rmtree(source, ignore_errors=True)
        copy_typescript(source)
        install(["npm", "ci", "--silent"], source)
        done.write_text(lock)
    copy_typescript(source)
    package = json.loads((source / "package.json").read_text())
    assert package["version"] == version(), f"version {package['version']}, but the program has {version()}"
    assert (source / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), "LICENSE is not the project's"
    run(["npm", "pack", "--silent", "--pack-destination", place], source)
    [packed] = place.glob("*.tgz")
    with tarfile.open(packed) as archive:
        files = {name.removeprefix("package/") for name in archive.getnames()}
    assert {"LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts"} <= files, files
    assert not any(name.startswith(("src/", "test/")) for name in files), files
    # A project of a user, with the package from its archive. TypeScript is for the tests only.
    project = place / "project"
    shutil.copytree(source / "test", project / "test")
    (project / "package.json").write_text(json.dumps({"private": True, "type": "module", "dependencies": {TYPESCRIPT: f"file:{packed}"}}))
    run(["npm", "install", "--silent", "--offline"], project)
    (project / "node_modules/typescript").symlink_to(modules / "typescript")
    tests = sorted(str(path) for path in (project / "test").glob("*.test.mjs"))
    ran = run(["node", "--test", "--test-reporter", "tap", "--test-timeout", "300000", *tests], project, {"PIKERAG_URL": url})
    counts = dict(re.findall(r"^# (pass|skipped|todo) (\d+)$", ran, re.MULTILINE))
    assert counts["skipped"] == counts["todo"] == "0", f"tests are left out: {ran[-2000:]}"
    try_example(TYPESCRIPT, ["node"], project, url)
    return f"{packed.name}: {counts['pass']} passed, types checked"


def copy_typescript(source):
    shutil.rmtree(source / "dist", ignore_errors=True)
    for folder in ("src", "test"):
        shutil.rmtree(source / folder, ignore_errors=True)
    shutil.copytree(ROOT / "clients/typescript", source, ignore=UNCOPIED, dirs_exist_ok=True)


def try_example(name, interpreter, folder, url):
    file, words = EXAMPLES[name]
    example = folder / file
    example.write_text((ROOT / "examples/clients" / file).read_text().replace("http://localhost:8686", url))
    printed = run([*interpreter, example], folder)
    assert words in printed, f"{file} printed: {printed[:1000]}"


def environment(folder, packages, wanted=None):
    """The Python of an environment with packages, which pip makes once."""
    python = folder / "bin/python"
    done = folder / "done"
    wanted = wanted or json.dumps(packages)
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        install([python, "-m", "pip", "install", "--quiet", *packages])
        done.write_text(wanted)
    return python


def install(command, folder=None):
    if subprocess.run(command, cwd=folder).returncode:
        raise Absent("packages of others are not available")


def run(command, folder=None, variables=None):
    """The output of a command that must succeed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NODE_PATH")}
    ran = subprocess.run(command, cwd=folder, env={**environment, **(variables or {})}, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"{' '.join(str(word) for word in command)}: {(ran.stdout + ran.stderr)[-4000:]}"
    return ran.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
