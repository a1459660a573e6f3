#!/usr/bin/env python3
"""Asks the questions of examples/quotes without a model and counts how good the quotes are.

    cargo build --release
    python3 bench/quotes.py --program target/release/pikerag --part development

Columns, over the questions with an answer: `first` (the first quote holds the answer), `any` (a quote holds it), `missed` (the grade is *not found*).
Over those without: `not found` (said so), `possibly`, `named` (a thing that no document mentions is named), `bare` (a denial without any quote, also
of questions with an answer). `header` counts quoted rows of tables without the names of their columns. A table of `grades` shows how often each grade
is right. `--rows FILE` writes each question with its grade and quotes; leave it out for the part that nobody should read. Needs nothing but Python.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
SETS = ("quotes/ferries", "quotes/tea", "vellmarsh", "linyuan")
COLUMNS = ("questions", "first", "any", "missed", "without", "not found", "possibly", "named", "bare", "header")


def plain(text):
    """A text in lower case without white space and marks of tables, so that a cell is found in any notation."""
    return re.sub(r"[\s|*`]+", " ", text).strip().lower()


def holds(quote, item):
    """Whether a quote holds an answer or the marked span. Digits around an answer make it another number."""
    quote = plain(quote)
    if plain(item["quote"]) in quote:
        return True
    if item["type"] in ("yesno", "comparison"):
        return False
    for answer in map(plain, item["answers"]):
        before = r"(?<![\d.,:])" if answer[:1].isdigit() else ""
        after = r"(?![\d]|[.,:]\d)" if answer[-1:].isdigit() else ""
        if re.search(before + re.escape(answer) + after, quote):
            return True
    return False


def grade_of(answer):
    """The grade of an answer; that of a program without grades comes from its refusal."""
    known = (answer.get("quotes") or {}).get("grade")
    if known:
        return known
    return "not_found" if answer["refused"] or not answer["text"].strip() else "found"


def indexed(program, place, name, environment):
    """Indexes a set in a folder of its own, without a language model. Returns the folder and the questions."""
    base = os.path.join(place, name.replace("/", "-"))
    os.makedirs(base)
    command = [*program, "--offline", "--base", base, "index", str(EXAMPLES / name / "docs")]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=base)
    with (EXAMPLES / name / "questions.jsonl").open(encoding="utf-8") as file:
        return base, [json.loads(line) for line in file]


def answer_of(program, base, item, environment):
    """The answer of `ask --json`."""
    command = [*program, "--base", base, "ask", "--json", item["question"]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=base, check=False)
    try:
        return json.loads(done.stdout)["answer"]
    except (json.JSONDecodeError, KeyError) as error:
        raise SystemExit(f"{item['id']}: {error}\n{done.stdout}\n{done.stderr}") from None


def asked(program, base, item, environment):
    answer = answer_of([*program, "--offline"], base, item, environment)
    is_quoted = answer["written_by"]["kind"] == "quotation"
    texts = [citation["quote"] for citation in answer["citations"]]
    return {
        "id": item["id"],
        "question": item["question"],
        "answerable": item["answerable"],
        "grade": grade_of(answer),
        "absent": (answer.get("quotes") or {}).get("absent", []),
        "rationale": answer["rationale"],
        "held": [holds(text, item) for text in (texts if is_quoted else [answer["text"], *texts])] if item["answerable"] else [],
        "bare": not texts and is_quoted,
        "header": sum(" | " in text and not citation.get("columns") for text, citation in zip(texts, answer["citations"], strict=True)),
        "quotes": texts,
    }


def counted(rows):
    given = [row for row in rows if row["answerable"]]
    other = [row for row in rows if not row["answerable"]]
    return {
        "questions": len(given),
        "first": sum(row["held"][:1] == [True] for row in given),
        "any": sum(any(row["held"]) for row in given),
        "missed": sum(row["grade"] == "not_found" for row in given),
        "without": len(other),
        "not found": sum(row["grade"] == "not_found" for row in other),
        "possibly": sum(row["grade"] == "possibly" for row in other),
        "named": sum(bool(row["absent"]) for row in other),
        "bare": sum(row["bare"] for row in rows),
        "header": sum(row["header"] for row in rows),
    }


def grades(rows):
    """For each grade: questions, and those whose first quote, or any quote, holds the answer."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        one = found[row["grade"]]
        one[0] += 1
        one[1] += row["held"][:1] == [True]
        one[2] += any(row["held"])
    return {grade: found[grade] for grade in ("found", "possibly", "not_found") if grade in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--set", action="append", choices=SETS, help="only this set; may be repeated")
    parser.add_argument("--part", choices=("development", "apart"), help="only this part of the sets that have parts")
    parser.add_argument("--settings", type=pathlib.Path, help="a settings file, such as one that names an embedder (default: none)")
    parser.add_argument("--rows", type=pathlib.Path, help="also write each question, as JSON lines")
    options = parser.parse_args()
    program = [str(pathlib.Path(options.program).resolve())]
    if options.settings:
        program += ["--config", str(options.settings.resolve())]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIKERAG_")}
    every = []
    print(f"{'set':16}" + "".join(f"{column:>11}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as place:
        for name in options.set or SETS[:2]:
            base, items = indexed(program, place, name, environment)
            items = [item for item in items if options.part is None or item.get("part", options.part) == options.part]
            rows = [asked(program, base, item, environment) for item in items]
            every += [{"set": name, **row} for row in rows]
            print(f"{name:16}" + "".join(f"{counted(rows)[column]:11}" for column in COLUMNS))
            for grade, (all_of, first, held) in grades(rows).items():
                print(f"    {grade}: {all_of}, the first quote holds the answer of {first}, any of {held}")
    if options.rows:
        lines = [json.dumps(row, ensure_ascii=False) for row in every]
        options.rows.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
