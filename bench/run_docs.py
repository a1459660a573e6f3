#!/usr/bin/env python3
"""Runs the shell commands of the documents with the real program, and compares the output that the pages show.

    python3 bench/run_docs.py --program target/debug/pikerag [--jobs N] [--verbose] [PAGE…]

Each page has one shell, in an empty folder with a copy of `examples`, and stops at the first command that fails. The word after ```sh selects the treatment:

    (none)          the commands run, each must succeed
    exit=3          exactly the last command fails, with this exit code
    no-run=REASON   the commands do not run; REASON is a key of REASONS

A ```text block after a block that ran, with no heading and no block between them, shows lines of its output: `…` stands for any text; identifiers, times, decimal fractions and lines after `$ ` are not compared. ```text no-check is not compared.
Exit code 0: all pages pass; 1: some fail.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "README.zh.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md", "packages/**/*.md", "clients/**/*.md")
# Why a block may not run here.
REASONS = {
    "build": "compiles a program or an image",
    "data": "needs a data set that is not in the repository",
    "download": "needs a network",
    "model": "needs a language model, or makes paid calls",
    "slow": "takes minutes",
    "server": "the command serves until somebody stops it, or needs such a server",
    "system": "changes the system or the home of a user",
    "tool": "needs a program that is not installed everywhere",
}
# Seconds for one page.
LONGEST = 240
# Separates the program's output from the notes of the shell. No program prints it.
NOTE = "\x1e"
# Runs before the first block. A note about a failure has the line, the exit code and the command.
PROLOGUE = f"""set -eE; note() {{ printf '\\n{NOTE}%s\\n' "$*"; }}; trap 'note failed $LINENO $? "$BASH_COMMAND"' ERR; """


@dataclasses.dataclass
class Block:
    line: int  # of its opening fence, from 1
    language: str
    words: list
    lines: list
    follows: object = None  # the last block since the last heading


@dataclasses.dataclass
class Result:
    page: str
    counts: collections.Counter
    failures: list  # (line, text)
    seconds: float = 0.0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True, type=pathlib.Path)
    arguments.add_argument("--jobs", type=int, default=2, help="pages at a time")
    arguments.add_argument("--verbose", action="store_true", help="print the output of each block")
    arguments.add_argument("pages", nargs="*", metavar="PAGE")
    options = arguments.parse_args()
    program = options.program.resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"{program} is not a program; build it: cargo build")
    pages = [os.path.relpath(pathlib.Path(page).resolve(), ROOT) for page in options.pages] or all_pages()

    began = time.monotonic()
    ports = collections.defaultdict(threading.Lock)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda page: run_page(page, program, ports, options.verbose), pages))
    counts = sum((result.counts for result in results), collections.Counter())
    n_failures = sum(len(result.failures) for result in results)
    for result in sorted(results, key=lambda result: -result.seconds)[:3]:
        print(f"{result.page}: {result.seconds:.1f} s")
    reasons = ", ".join(f"{name} {counts[name]}" for name in REASONS if counts[name])
    print(
        f"{len(pages)} pages: {counts['run']} blocks run, {counts['no-run']} not ({reasons}); "
        f"{counts['compared']} outputs compared, {counts['text'] - counts['compared']} not; "
        f"{n_failures} failures; {time.monotonic() - began:.0f} s"
    )
    return 1 if n_failures else 0


def all_pages():
    found = {path.relative_to(ROOT).as_posix() for pattern in PAGES for path in ROOT.glob(pattern)}
    return sorted(page for page in found if "node_modules" not in page)


def run_page(page, program, ports, is_verbose):
    result = Result(page, collections.Counter(), [])
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(blocks_of(text))
    checked = [block for block in blocks if is_run(block, result)]
    if checked:
        # Two pages that serve at the same port run one after the other.
        used = sorted({port for block in checked for line in block.lines for port in re.findall(r"\b18[0-9]{3}\b", line)})
        for port in used:
            ports[port].acquire()
        began = time.monotonic()
        try:
            run_blocks(blocks, checked, len(text.splitlines()), program, result, is_verbose)
        finally:
            for port in used:
                ports[port].release()
        result.seconds = time.monotonic() - began
    for line, failure in sorted(result.failures):
        print(f"{page}:{line}: {failure}", flush=True)
    return result


def blocks_of(text):
    """The fenced blocks of a page, without the indentation of their fence."""
    block, last, indent = None, None, 0
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"( *)```\s*(\S*)\s*(.*)", line)
        if block is None and fence:
            indent = len(fence[1])
            block = Block(number, fence[2], fence[3].split(), [], last)
        elif block is not None and fence:
            yield block
            last, block = block, None
        elif block is not None:
            block.lines.append(line[indent:] if not line[:indent].strip() else line)
        elif line.startswith("#"):
            last = None


def is_run(block, result):
    """True if the block's commands run; counts the block, and reports unknown words."""
    if block.language == "text" and block.follows and block.follows.language == "sh":
        result.counts["text"] += 1
    if block.language not in ("sh", "text"):
        return False
    run = block.language == "sh"
    for word in block.words:
        name, _, value = word.partition("=")
        if name == "no-run" and block.language == "sh":
            run = False
            if value in REASONS:
                result.counts.update(["no-run", value])
            else:
                result.failures.append((block.line, f"`{word}`: give the reason, as no-run=REASON, one of {', '.join(REASONS)}"))
        elif not (name == "exit" and value.isdigit() and run or word == "no-check" and block.language == "text"):
            result.failures.append((block.line, f"`{word}` is unknown (see bench/run_docs.py)"))
    result.counts["run"] += run
    return run


def run_blocks(blocks, checked, n_lines, program, result, is_verbose):
    with tempfile.TemporaryDirectory(prefix="run-docs-") as scratch:
        scratch = pathlib.Path(scratch)
        for folder in ("bin", "home", "tmp", "page"):
            (scratch / folder).mkdir()
        (scratch / "bin/pikerag").symlink_to(program)
        shutil.copytree(ROOT / "examples", scratch / "page/examples", ignore=shutil.ignore_patterns(".pikerag", "__pycache__"))
        script = scratch / "script"
        script.write_text(script_of(checked, n_lines), encoding="utf-8")
        output = run_script(script, scratch)
    failures = []
    outputs = {}
    output = re.sub(r"\S*/script: line \d+: +\d+ (Terminated|Killed) .*", "", output)  # of a server that a page stops
    for part in output.split(f"\n{NOTE}")[1:]:
        note, _, text = part.partition("\n")
        kind, _, rest = note.partition(" ")
        if kind == "block":
            line = int(rest)
            outputs[line] = text
            if is_verbose:
                print(f"--- {result.page}:{line}\n{text}", flush=True)
        elif kind == "failed":
            at, code, command = rest.split(" ", 2)
            failures.append((int(at), int(code), command))
        elif kind == "end":
            block = next(block for block in checked if block.line == int(rest))
            expected = expected_code(block)
            if expected != 0 and [code for _, code, _ in failures] != [expected]:
                got = ", ".join(f"{code} of `{command}`" for _, code, command in failures) or "0"
                result.failures.append((block.line, f"exit code {got}, not {expected}\n{indented(outputs[block.line])}"))
            failures = []
        elif kind == "late":
            result.failures.append((line, f"the page takes more than {LONGEST} s"))
    if failures:
        at, code, command = failures[0]
        result.failures.append((at, f"exit code {code}: {command}\n{indented(outputs.pop(line))}"))
    elif checked[-1].line not in outputs:
        result.failures.append((checked[0].line, f"the shell ended early\n{indented(output[-2000:])}"))
    for block in blocks:
        shown = block.follows
        if block.language == "text" and "no-check" not in block.words and shown and shown.line in outputs:
            result.counts["compared"] += 1
            for at, line, nearest in missing(block, outputs[shown.line]):
                result.failures.append((at, f"the output has no line `{line}`; the nearest is\n    {nearest}"))


def script_of(blocks, n_lines):
    """One script, each command on the line that it has in the page."""
    lines = [""] * n_lines
    lines[0] = PROLOGUE
    for block in blocks:
        before, after = f"note block {block.line}", f"note end {block.line}"
        if expected_code(block) != 0:
            before, after = f"{before}; set +e", f"{after}; set -e"
        lines[block.line - 1] += before
        lines[block.line : block.line + len(block.lines)] = block.lines
        lines[block.line + len(block.lines)] = after
    return "\n".join(lines) + "\n"


def expected_code(block):
    return next((int(word.partition("=")[2]) for word in block.words if word.startswith("exit=")), 0)


def run_script(script, scratch):
    """Runs the script with nothing of the caller's environment, and ends all processes that it leaves."""
    environment = {
        "PATH": f"{scratch}/bin:{os.environ['PATH']}",
        "HOME": f"{scratch}/home",
        "XDG_STATE_HOME": f"{scratch}/home/.local/state",
        "TMPDIR": f"{scratch}/tmp",
        "LANG": "C.UTF-8",
        "USER": "reader",
    }
    with open(scratch / "output", "wb+") as output:
        shell = subprocess.Popen(
            ["bash", str(script)],
            cwd=scratch / "page",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            shell.wait(LONGEST)
        except subprocess.TimeoutExpired:
            os.write(output.fileno(), f"\n{NOTE}late\n".encode())
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
        return (scratch / "output").read_text(encoding="utf-8", errors="replace")


def missing(block, output):
    """The lines of a ```text block that the output does not have, each with the most similar line."""
    present = {plain(line): line for line in output.splitlines()}
    for at, line in enumerate(block.lines, block.line + 1):
        parts = [re.escape(part.strip()) for part in plain(line).split("…")]
        is_command = line.startswith("$ ")
        if any(parts) and not is_command and not any(re.fullmatch(r"\s*.*\s*".join(parts), other) for other in present):
            nearest = difflib.get_close_matches(plain(line), present, 1, 0)
            yield at, line.strip(), present[nearest[0]].strip() if nearest else ""


def plain(line):
    """The line without the differences between two runs."""
    line = re.sub(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z?\b", "TIME", line)
    line = re.sub(r"\b[0-9a-hjkmnp-tv-z]{8}\b", "ID", line)  # also words without i, l, o and u
    line = re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", r"N \2", line)
    line = re.sub(r"\b\d+\.\d+(e-?\d+)?\b", "N", line)
    return " ".join(line.split())


def indented(text):
    lines = text.strip().splitlines()
    return "\n".join(f"    {line}" for line in lines[-25:])


if __name__ == "__main__":
    sys.exit(main())
