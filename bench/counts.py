#!/usr/bin/env python3
"""Asks for the counts of examples/plans/counts.jsonl and compares the things behind each figure with the events that a reader counted by hand.

    cargo build --release
    python3 bench/counts.py --program target/release/pikerag --settings pikerag.toml

`found`: events of the count that a thing of the figure tells of. `invented`: things that tell of no event of truth.csv; `other`: things that tell
of one that the count excludes. `twice`: things that tell of an event that another one tells of, too. A thing tells of an event if one of its records
has its date; of several on one day that whose place the record names; without a date that whose quote in truth.csv the record overlaps most. Without a model no figure is collected from prose, so `--settings` is needed. Needs nothing but Python.
"""

import argparse
import concurrent.futures
import csv
import importlib.util
import json
import os
import pathlib
import shlex
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
EXAMPLES = BENCH.parent / "examples" / "plans"
COLUMNS = ("figures", "things", "found", "of", "invented", "other", "twice")


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Document:
    """The text of a document, and the spans of quotes in it."""

    def __init__(self, program, run, place, path):
        parsed = json.loads(run(program, place, ["--json"], "parse", str(path)).stdout)
        parsed = parsed["documents"][0] if "documents" in parsed else parsed
        self.text = parsed["text"].encode()
        # The letters alone, and where each begins.
        self.letters, self.starts = bytearray(), []
        for at, byte in enumerate(self.text):
            if byte not in b" \n\r\t":
                self.letters.append(byte)
                self.starts.append(at)

    def span(self, quote):
        wanted = bytes(byte for byte in quote.encode() if byte not in b" \n\r\t")
        at = self.letters.find(wanted)
        return None if at < 0 or not wanted else (self.starts[at], self.starts[at + len(wanted) - 1] + 1)


def events_of(place, run, program, name):
    """The events of a set, each with the spans of its quotes by document, and the number of quotes that were not found."""
    documents, missing = {}, 0
    with (EXAMPLES / name / "truth.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["spans"] = []
        for document, quote in zip(row["documents"].split(" | "), row["quotes"].split(" | ")):
            if document not in documents:
                documents[document] = Document(program, run, place, EXAMPLES / name / "docs" / document)
            span = documents[document].span(quote)
            missing += span is None
            row["spans"] += [(document, *span)] if span else []
    return rows, missing


def told(events, record, fields):
    """The event that a record tells of; None for no event."""
    dates = [field["value"]["date"] for field in fields if "date" in (field.get("value") or {})]
    if dates:
        same = [at for at, event in enumerate(events) if event["date"] in dates]
        named = [at for at in same if any(events[at]["place"] in field["raw"] for field in fields)]
        return (named or same or [None])[0]
    document, start, end = pathlib.Path(record["uri"]).name, record["span"]["start"], record["span"]["end"]
    shared = [(min(end, to) - max(start, begin), at) for at, event in enumerate(events) for name, begin, to in event["spans"] if name == document]
    best = max(shared, default=(0, None))
    return best[1] if 0 < best[0] else None


def compared(events, counted, figures, fields):
    """How the things behind a figure compare with the events that count."""
    things = [thing for row in figures["rows"] for thing in row["things"]]
    tells = []
    for thing in things:
        places = {told(events, figures["records"][at], fields.get(figures["records"][at]["id"], [])) for at in thing} - {None}
        tells.append(places)
    found = {at for places in tells for at in places} & counted
    single = [min(places) for places in tells if places]
    return {
        "things": len(things),
        "found": len(found),
        "of": len(counted),
        "invented": sum(not places for places in tells),
        "other": sum(bool(places) and not places & counted for places in tells),
        "twice": len(single) - len(set(single)),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--settings", type=pathlib.Path, required=True, help="a settings file with a model")
    arguments.add_argument("--at-once", type=int, default=os.cpu_count(), help="questions asked at a time")
    arguments.add_argument("--place", type=pathlib.Path, help="a folder that keeps the bases for a later run; default: a temporary one")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    plans, gold = loaded(BENCH / "plans.py"), loaded(EXAMPLES / "gold.py")
    questions = [json.loads(line) for line in (EXAMPLES / "counts.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        place = given.place.resolve() if given.place else pathlib.Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        settings = ["--config", str(given.settings.resolve())]
        truth = {}
        for name in sorted({question["set"] for question in questions}):
            base = str(place / name)
            indexed = plans.run(program, place, [*settings, "--offline", "--base", base], "index", str(EXAMPLES / name / "docs"))
            if indexed.returncode:
                raise SystemExit(indexed.stderr)
            truth[name], missing = events_of(place, plans.run, program, name)
            if missing:
                print(f"{name}: {missing} quotes of truth.csv were not found in the documents")

        def asked(question):
            flags = [*settings, "--base", str(place / question["set"]), "--json"]
            ran = plans.run(program, place, flags, "ask", question["question"])
            try:
                reply = json.loads(ran.stdout)
            except ValueError:
                return question, {}, "failed"
            return question, reply, plans.verdict(question, reply, gold.meets)

        with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
            results = list(pool.map(asked, questions))
        fields = {}
        for name in truth:
            records = json.loads(plans.run(program, place, ["--offline", "--base", str(place / name), "--json"], "records").stdout)
            fields |= {record["id"]: record["fields"] for record in records}
    totals = {}
    for question, reply, came in results:
        events = truth[question["set"]]
        terms = [term for term in shlex.split(question["gold"])[1:] if "=" in term]
        counted = {at for at, event in enumerate(events) if gold.matches(event, terms)}
        answer = reply.get("answer") or {}
        total = totals.setdefault(question["set"], dict.fromkeys(("right", "wrong", "undecided", *COLUMNS), 0))
        total[came if came in ("right", "wrong") else "undecided"] += 1
        figures = (answer.get("worked") or {}).get("figures")
        told_of = compared(events, counted, figures, fields) if figures and not answer.get("refused") else None
        print(f"{came}: {question['id']} {question['question']}\n    {question['answers'][:2]}: {answer.get('text', '')[:160]!r}")
        # The things behind a rank are those of its first group.
        if told_of and question["operation"] in ("count", "sum"):
            print("    " + ", ".join(f"{value} {key}" for key, value in told_of.items()))
            total["figures"] += 1
            for key, value in told_of.items():
                total[key] += value
    print("| set | right | wrong | undecided | " + " | ".join(COLUMNS) + " |\n| --- |" + " ---: |" * (3 + len(COLUMNS)))
    for name, total in totals.items():
        print(f"| `{name}` | " + " | ".join(str(value) for value in total.values()) + " |")


if __name__ == "__main__":
    main()
