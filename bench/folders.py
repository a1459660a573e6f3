#!/usr/bin/env python3
"""Indexes folders as they are, twice: what folders give, and everything (`--include '*' --source-code`).

    cargo build --release
    python3 bench/folders.py --program target/release/pikerag FOLDER …

Prints for each folder the files, the chunks and the seconds of both runs, the files left out by kind, and the documents
whose chunks differ between the runs: there should be none. It uses words alone, without a model and without embeddings.
Folders that are documentation of packages, such as a book of mdBook, a site of Sphinx and one of Javadoc, show most.
Needs nothing but Python.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time


def run(program, place, *words):
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
    ran = subprocess.run([program, "--offline", "--json", *words], env=variables, capture_output=True, text=True, check=False)
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise SystemExit(ran.stderr) from None


def indexed(program, place, name, folder, *options):
    """The report of a run, its seconds, and the chunks of each file."""
    base = ["--base", str(place / name)]
    started = time.monotonic()
    report = run(program, place, *base, "index", str(folder), *options)
    seconds = time.monotonic() - started
    files = run(program, place, *base, "files")["files"]
    return report, seconds, {file["name"]: file["chunks"] for file in files}


def outcomes(report):
    return collections.Counter(outcome["outcome"] for _, outcome in report["report"]["files"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--program", required=True)
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    for folder in given.folders:
        folder = folder.resolve()
        with tempfile.TemporaryDirectory() as place:
            place = pathlib.Path(place)
            report, seconds, chunks = indexed(program, place, "chosen", folder)
            whole, whole_seconds, whole_chunks = indexed(program, place, "all", folder, "--include", "*", "--source-code")
        print(f"\n{folder}\n\n| | files in the base | left out by kind | not read | chunks | seconds |\n| --- | ---: | ---: | ---: | ---: | ---: |")
        for name, one, took, of in (("chosen", report, seconds, chunks), ("everything", whole, whole_seconds, whole_chunks)):
            omitted = sum(kind["count"] for kind in one["omitted"])
            print(f"| {name} | {len(of)} | {omitted} | {outcomes(one)['failed']} | {sum(of.values())} | {took:.0f} |")
        for kind in report["omitted"]:
            print(f"- {kind['count']} {kind['kind']}: {', '.join(os.path.basename(name.rstrip('/')) for name in kind['examples'])}")
        extra = collections.Counter()
        for name in whole_chunks.keys() - chunks.keys():
            extra[pathlib.Path(name).suffix or pathlib.Path(name).name] += whole_chunks[name]
        print("- chunks of everything that the choice leaves out:", ", ".join(f"{suffix} {count}" for suffix, count in extra.most_common()) or "none")
        differ = [name for name in chunks if whole_chunks.get(name) != chunks[name]]
        print(f"- documents with other chunks: {len(differ)}", *differ[:5])


if __name__ == "__main__":
    main()
