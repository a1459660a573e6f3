#!/usr/bin/env python3
"""Tests that real clients understand the server: their official packages call the real program over `examples/maintenance`, without a model.

    python3 bench/clients.py --program target/release/pikerag [--cache DIR] [--only NAME,… | --all]
    python3 bench/clients.py --program target/release/pikerag --before OLD/target/release/pikerag --all --table clients.md --json clients.json

Each operation of a client is passed, refused with the server's own words, or failed with a reason; all are tried. Each client has an environment of its own in the cache, which pip and npm make once. `bench/clients/` has the operations. Exit code 0: none fails; 1: some fail; 77: packages are not available.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import traceback
import venv

from clients import report, servers
from clients.catalogue import CLIENTS, shown_packages
from clients.harness import Check, reason

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent
# Seconds for all operations of a client.
LIMIT = 1000


def environment(cache, name):
    """The Python of an environment with the packages of a client; `None` if they are not available."""
    client = CLIENTS[name]
    folder = cache / (client.environment or name)
    python = folder / "bin/python"
    done = folder / "done"
    listed = [pathlib.Path(part).read_text() if part.endswith(".txt") else part for part in client.pip]
    wanted = "\n".join([*listed, *client.npm])
    if done.exists() and done.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    if client.pip and subprocess.run([python, "-m", "pip", "install", "--quiet", *client.pip]).returncode:
        return None
    if client.npm:
        npm = shutil.which("npm")
        if npm is None or subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, *client.npm]).returncode:
            return None
    done.write_text(wanted)
    return python


def versions(client):
    """The installed versions of the packages that the table shows, such as `ollama 0.6.3`."""
    found = []
    for package in shown_packages(client):
        described = pathlib.Path(os.environ.get("NODE_FOLDER", "")) / "node_modules" / package / "package.json"
        try:
            version = json.loads(described.read_text())["version"] if described.exists() else importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            version = "is not installed"
        found.append(f"{package} {version}")
    return ", ".join(found)


def check(name, url, program):
    """Runs in the environment of a client: prints a line of JSON for each operation."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    # The packages print, too.
    os.dup2(2, 1)

    def send(held):
        lines.write(json.dumps(held) + "\n")

    client = CLIENTS[name]
    trial = Check(url, program, send)
    try:
        send({"versions": versions(client)})
        module, function = client.operations.split(".")
        getattr(importlib.import_module(f"clients.{module}"), function)(trial)
    except Exception as error:
        traceback.print_exc()
        trial.report("the check as a whole", "failed", reason(error))
    finally:
        trial.close()


def tried(python, name, url, program, variables):
    """The versions, the results and the standard error of a client's check."""
    command = [python, HERE, "--program", program, "--check", name, "--url", url]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            printed, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, errors = process.communicate()
    shown, results, begun = "", [], None
    # A process that is killed may leave half a line.
    for held in map(json.loads, (line for line in printed.splitlines() if line.endswith("}"))):
        shown = held.get("versions", shown)
        begun = held.get("begins")
        if "operation" in held:
            results.append(held)
    if process.returncode:
        results.append({"operation": begun or "the check as a whole", "result": "failed", "words": f"its process ended with {process.returncode}"})
    return shown, results, errors


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--before", help="an older program, for a column of its own")
    arguments.add_argument("--cache", default=os.path.expanduser("~/.cache/pikerag/clients"))
    arguments.add_argument("--only", help=f"of {', '.join(CLIENTS)}")
    arguments.add_argument("--all", action="store_true", help="also the clients that CI does not try")
    arguments.add_argument("--table", nargs="?", const="-", metavar="FILE", help="write tables in Markdown, by default to standard output")
    arguments.add_argument("--json", type=pathlib.Path, metavar="FILE")
    arguments.add_argument("--check", help=argparse.SUPPRESS)
    arguments.add_argument("--url", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    if given.check:
        check(given.check, given.url, program)
        return 0
    names = given.only.split(",") if given.only else [name for name, client in CLIENTS.items() if client.is_default or given.all]
    if unknown := set(names) - set(CLIENTS):
        arguments.error(f"no such client: {', '.join(unknown)}")
    programs = {"after": program} | ({"before": str(pathlib.Path(given.before).resolve())} if given.before else {})
    cache = pathlib.Path(given.cache)
    cache.mkdir(parents=True, exist_ok=True)
    found, absent = [], []
    with contextlib.ExitStack() as stack:
        over = {when: stack.enter_context(servers.over_example(path)) for when, path in programs.items()}
        for name in names:
            python = environment(cache, name)
            if python is None:
                absent.append(name)
                print(f"{name}: packages are not available", flush=True)
                continue
            one, errors = {"client": name, "versions": "", "before": [], "after": []}, {}
            for when, (url, variables) in over.items():
                variables = variables | {"NODE_FOLDER": str(python.parent.parent)}
                variables |= {kept: os.environ[kept] for kept in ("SEED", "EXAMPLES") if kept in os.environ}
                one["versions"], one[when], errors[when] = tried(python, name, url, programs[when], variables)
            found.append(one)
            print(report.line(name, one["versions"], one["after"]), flush=True)
            if has_failed(one):
                print(errors["after"][-3000:], flush=True)
            if given.before:
                print(f"  before: {report.counts(one['before'])}", flush=True)
    if given.json:
        report.write_json(given.json, found, {when: version(path) for when, path in programs.items()})
    if given.table:
        text = report.markdown(found, bool(given.before))
        print("\n" + text) if given.table == "-" else pathlib.Path(given.table).write_text(text + "\n")
    return 1 if any(map(has_failed, found)) else 77 if absent else 0


def has_failed(client):
    return not client["after"] or any(one["result"] == "failed" for one in client["after"])


def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
