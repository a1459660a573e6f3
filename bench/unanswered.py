#!/usr/bin/env python3
"""Asks a model questions that the documents answer and questions that they do not, and counts what it claims.

    python3 bench/unanswered.py --program target/release/pikerag --settings small.toml --every 3

Sets: those of bench/quotes.py, 32 of whose questions have no answer in the documents; each is asked. Of the others, one in `--every` is. An answer
counts as *marked* if it says that something is missing, that nothing was found, that it is only possibly there, or that no sentence supports it.
Columns: `given` (questions with an answer), `right` (the answer holds a right one, marked or not), `right, marked` of them, `wrong` (neither right nor
marked), `wrong, marked`; `without` (questions without one), `marked` and `claimed` (an answer as if the documents gave it). `--rows FILE` writes each
answer; rows that the file already holds are not asked again. Needs nothing but Python.
"""

import argparse
import json
import os
import pathlib
import re
import tempfile
import time

from quotes import SETS, answer_of, indexed, plain

COLUMNS = ("given", "right", "right, marked", "wrong", "wrong, marked", "without", "marked", "claimed")


def is_right(text, item):
    """Whether a text holds an answer as whole words; Chinese has no word borders."""
    text = plain(text)
    for answer in map(plain, item["answers"]):
        before = r"(?<![\w.,:])" if re.match(r"[\d]|[a-z]", answer) else ""
        after = r"(?![\d]|[.,:]\d|[a-z])" if re.search(r"[\da-z]$", answer) else ""
        if re.search(before + re.escape(answer) + after, text):
            return True
    return False


def is_marked(answer):
    """Whether an answer says that it may be none. Quotes do unless their grade is *found*."""
    if answer["written_by"]["kind"] == "quotation":
        return (answer.get("quotes") or {}).get("grade") != "found"
    return bool(answer["refused"] or answer.get("missing") or not answer["citations"])


def asked(program, base, item, environment):
    began = time.monotonic()
    answer = answer_of(program, base, item, environment)
    return {
        "id": item["id"],
        "question": item["question"],
        "answers": item["answers"] if item["answerable"] else None,
        "text": answer["text"],
        "rationale": answer["rationale"],
        "right": item["answerable"] and is_right(answer["text"], item),
        "marked": is_marked(answer),
        "quotes": [citation["quote"] for citation in answer["citations"]],
        "written_by": answer["written_by"]["kind"],
        "seconds": round(time.monotonic() - began, 1),
    }


def counted(rows):
    given = [row for row in rows if row["answers"] is not None]
    other = [row for row in rows if row["answers"] is None]
    return {
        "given": len(given),
        "right": sum(row["right"] for row in given),
        "right, marked": sum(row["right"] and row["marked"] for row in given),
        "wrong": sum(not row["right"] and not row["marked"] for row in given),
        "wrong, marked": sum(not row["right"] and row["marked"] for row in given),
        "without": len(other),
        "marked": sum(row["marked"] for row in other),
        "claimed": sum(not row["marked"] for row in other),
    }


def line(name, rows):
    figures = counted(rows)
    return f"{name:16}" + "".join(f"{figures[column]:>{max(10, len(column) + 2)}}" for column in COLUMNS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--settings", type=pathlib.Path, required=True, help="a settings file that names the model")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set; may be repeated")
    parser.add_argument("--every", type=int, default=3, help="ask one in so many of the questions with an answer (default: 3)")
    parser.add_argument("--rows", type=pathlib.Path, help="also write each answer, as JSON lines; a run that was stopped goes on there")
    options = parser.parse_args()
    program = [str(pathlib.Path(options.program).resolve()), "--config", str(options.settings.resolve())]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIKERAG_")}
    kept = {}
    if options.rows and options.rows.exists():
        for row in map(json.loads, options.rows.read_text(encoding="utf-8").splitlines()):
            kept[row["set"], row["id"]] = row
    every = []
    print(f"{'set':16}" + "".join(f"{column:>{max(10, len(column) + 2)}}" for column in COLUMNS), flush=True)
    with tempfile.TemporaryDirectory() as place:
        for name in options.set or SETS:
            base, items = indexed(program, place, name, environment)
            given = [item["id"] for item in items if item["answerable"]][:: options.every]
            rows = []
            for item in items:
                if item["answerable"] and item["id"] not in given:
                    continue
                row = kept.get((name, item["id"])) or {"set": name, **asked(program, base, item, environment)}
                rows.append(row)
                if options.rows and (name, item["id"]) not in kept:
                    with options.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
            every += rows
            print(line(name, rows), flush=True)
    print(line("all", every))
    print(f"a question took {sum(row['seconds'] for row in every) / max(1, len(every)):.1f} s")


if __name__ == "__main__":
    main()
