#!/usr/bin/env python3
"""Restores bases in PostgreSQL in four ways, and compares each restored base with the original by its export, byte for byte.

    cargo build && python3 bench/restore.py --program target/debug/pikerag

The servers come from the package of crates/test-support/postgres/serve.py, and archive their log into a folder.

    dump        `pg_dump` of the database, restored into a second server
    backup      `pikerag backup` of one base, restored into another base
    time        `pg_basebackup` and the archived log, restored to the moment before a mistake that deletes all tables
    standby     a standby, promoted after the first server was killed

Two bases are indexed, so that a way that takes one base only shows. Documents change after the copies of `time` and `standby`.
Prints a line for each way, or JSON; the exit code is 1 if an export differs.
"""

import argparse
import hashlib
import json
import pathlib
import sys
import time

from cluster.postgres import Place
from cluster.program import Program

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASES = ("main", "law")
# Searches and indexing without any model.
SETTINGS = '[embed]\nkind = "none"\n[index]\natoms = ["sentences"]\n'


class Trial:
    """The two bases of a server, and what was restored so far."""

    def __init__(self, place, program):
        self.place, self.program, self.lines = place, program, []
        self.archive = place.own_folder("archive")
        self.first = place.server("first", archive_mode="on", archive_command=f"cp %p {self.archive}/%f").start()
        self.first.create("pikerag")
        for base, example in zip(BASES, ("harbour", "maintenance")):
            self.program.run(self.first.address(base, "pikerag"), "--offline", "index", ROOT / f"examples/{example}/docs")

    def exports(self, server, database="pikerag"):
        return {base: self.program.export(server.address(base, database)) for base in BASES}

    def compare(self, way, expected, found, began):
        """Notes whether all bases are equal, and the seconds that the way took."""
        line = {"way": way, "seconds": round(time.monotonic() - began, 1), "equal": expected == found}
        line["bytes"] = sum(map(len, expected.values()))
        line["digests"] = {base: hashlib.sha256(export).hexdigest()[:16] for base, export in found.items()}
        self.lines.append(line)

    def dump(self):
        expected, file = self.exports(self.first), self.place.own_folder("dumps") / "pikerag.dump"
        second = self.place.server("second").start()
        began = time.monotonic()
        self.first.dump(file, "pikerag")
        second.query("CREATE DATABASE pikerag ENCODING 'UTF8' TEMPLATE template0")
        second.restore(file, "pikerag")
        self.compare("dump", expected, self.exports(second), began)
        second.stop()

    def backup(self):
        """Restores both bases into the same database, under other names."""
        expected, found = self.exports(self.first), {}
        began = time.monotonic()
        for base in BASES:
            file = self.program.folder / f"{base}.pikerag"
            self.program.run(self.first.address(base, "pikerag"), "backup", file)
            self.program.run(self.first.address(f"{base}-again", "pikerag"), "restore", file)
            found[base] = self.program.export(self.first.address(f"{base}-again", "pikerag"))
        self.compare("backup", expected, found, began)

    def change(self, text):
        """Adds a document, so that a copy made before is older than the base."""
        document = self.program.folder / "note.md"
        document.write_text(f"# Note\n\n{text}\n", encoding="utf-8")
        self.program.run(self.first.address("main", "pikerag"), "--offline", "index", document)

    def time(self):
        began = time.monotonic()
        copy = self.first.copy("recovered")
        self.change("The crane of Hamburg was painted.")
        expected = self.exports(self.first)
        moment = self.first.one("SELECT clock_timestamp()")
        time.sleep(0.1)
        self.first.query("DROP SCHEMA pikerag CASCADE", "pikerag")
        # The archive receives a file of the log when it is full, or now.
        file = self.first.one("SELECT pg_walfile_name(pg_switch_wal())")
        until = time.monotonic() + 30
        while not (self.archive / file).exists() and time.monotonic() < until:
            time.sleep(0.1)
        usual = {**copy.settings, "archive_mode": "off"}
        target = {"recovery_target_time": moment, "recovery_target_action": "promote"}
        copy.settings = {**usual, "restore_command": f"cp {self.archive}/%f %p", **target}
        (copy.data / "recovery.signal").touch()
        copy.start()
        # Its own standby must not stop at that moment, too.
        copy.settings = usual
        while copy.one("SELECT pg_is_in_recovery()") == "t":
            time.sleep(0.1)
        self.compare("time", expected, self.exports(copy), began)
        # The recovered server is the first one from now on.
        self.first.stop()
        self.first = copy

    def standby(self):
        other = self.first.standby("standby")
        self.change("The crane of Genoa was painted.")
        expected = self.exports(self.first)
        began = time.monotonic()
        self.first.kill()
        other.promote()
        self.compare("standby", expected, self.exports(other), began)
        self.first = other


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with Place() as place:
        trial = Trial(place, Program(given.program, place.folder / "program", SETTINGS))
        for way in (trial.dump, trial.backup, trial.time, trial.standby):
            way()
    if given.json:
        print(json.dumps(trial.lines, indent=1))
    else:
        for line in trial.lines:
            print(f"{line['way']}: {'equal' if line['equal'] else 'DIFFERENT'}, {line['bytes']} bytes, {line['seconds']} s")
    return 0 if all(line["equal"] for line in trial.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
