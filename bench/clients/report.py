"""Prints what the clients found: a line for each client, tables in Markdown, JSON."""

import json
import pathlib
import re
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The table shows the first letters of a reason; the JSON file has all of it.
LONGEST = 160


def counts(results):
    """Such as `12 passed, 3 refused`."""
    numbers = {kind: sum(one["result"] == kind for one in results) for kind in ("passed", "refused", "failed")}
    return ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number) or "nothing was tried"


def line(name, versions, results):
    """The line of a client, with the reasons of its failures below."""
    shown = f"{name} ({versions})" if versions else name
    failed = [one for one in results if one["result"] == "failed"]
    first = f"{shown}: FAILED: {counts(results)}" if failed or not results else f"{shown}: {counts(results)}"
    return "\n".join([first, *(f"  {one['operation']}: {one['words']}" for one in failed)])


def paired(before, after):
    """Each operation with its two results; an operation that one of the runs did not reach has none there."""
    earlier, later = ({one["operation"]: one for one in results} for results in (before, after))
    return [(name, earlier.get(name), later.get(name)) for name in dict.fromkeys([*later, *earlier])]


def markdown(found, has_before):
    """Two tables: the clients with their counts, and each operation."""
    titles = ["before", "after"] if has_before else ["result"]
    head = ["client", "version", *titles]
    summary = [[one["client"], one["versions"], *([counts(one["before"])] if has_before else []), counts(one["after"])] for one in found]
    rows = []
    for one in found:
        for name, before, after in paired(one["before"], one["after"]):
            cells = [before, after] if has_before else [after]
            rows.append([one["client"], one["versions"], name, *map(cell, cells)])
    return "\n\n".join([table(head, summary), table(["client", "version", "operation", *titles], rows)])


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(escaped(text) for text in row) + " |" for row in lines)


def cell(one):
    """A result, with the words of a refusal or a failure."""
    if one is None:
        return "not reached"
    if one["result"] == "passed":
        return "passed"
    # Ports and folders differ from run to run.
    words = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", one["words"])
    words = re.sub(r" \(\w+\.py:\d+\)$", "", words)
    for folder in (pathlib.Path.home(), ROOT, tempfile.gettempdir()):
        words = re.sub(f"{re.escape(str(folder))}/[^ '\"]*/", "…/", words)
    return f"{one['result']}: {words if len(words) <= LONGEST else words[:LONGEST].rstrip() + '…'}"


def escaped(text):
    for mark in "\\|<>[]*_`~":
        text = text.replace(mark, f"\\{mark}")
    return text


def write_json(path, found, programs):
    held = {"date": time.strftime("%Y-%m-%d"), **programs, "clients": found}
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n")
