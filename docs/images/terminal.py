#!/usr/bin/env python3
"""Records the terminal for the README: commands as they are typed, with what the program really says, as an SVG that moves.

    python3 -m venv env && env/bin/pip install termtosvg
    PATH=target/release:$PATH env/bin/python docs/images/terminal.py docs/images/terminal.svg
"""

import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COLUMNS, ROWS = 108, 30
COMMANDS = [
    "pikerag --offline index docs",
    'pikerag --offline ask "Who supervises the hall in which the KX-40 is assembled?"',
    'pikerag --offline ask --quiet "INC-205 号故障的原因是什么？"',
    'pikerag --offline search -k 2 "calibration rig of the TW-9 sensor"',
    "pikerag runs",
]


def said(command, folder, environment):
    """What a command prints on a terminal, piece by piece, each with the seconds since it began."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "rows", str(ROWS), "cols", str(COLUMNS)], stdin=theirs, check=True)
    began = time.monotonic()
    with subprocess.Popen(command, shell=True, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        while True:
            ready, _, _ = select.select([ours], [], [], 0.1)
            if ready:
                try:
                    piece = os.read(ours, 65536)
                except OSError:
                    break
                if not piece:
                    break
                yield time.monotonic() - began, piece.decode(errors="replace")
            elif child.poll() is not None:
                break
    os.close(ours)


def main():
    events, now = [], 0.5
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples/harbour/docs", pathlib.Path(folder) / "docs")
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        for command in COMMANDS:
            events.append((now, "\x1b[32m$\x1b[0m "))
            for letter in command:
                now += 0.03
                events.append((now, letter))
            now += 0.6
            events.append((now, "\r\n"))
            last = 0.0
            for at, piece in said(command, folder, environment):
                last = at
                events.append((now + at, piece))
            now += last + 5.5
        events.append((now, "\x1b[32m$\x1b[0m "))
        cast = pathlib.Path(folder) / "terminal.cast"
        lines = [{"version": 2, "width": COLUMNS, "height": ROWS}, *([at, "o", text] for at, text in events)]
        cast.write_text("".join(json.dumps(line) + "\n" for line in lines))
        program = pathlib.Path(sys.executable).with_name("termtosvg")
        subprocess.run([program, "render", cast, sys.argv[1], "-t", "window_frame", "-D", "4000", "-m", "30", "-M", "6000"], check=True)


if __name__ == "__main__":
    main()
