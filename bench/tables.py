#!/usr/bin/env python3
"""Asks the questions of examples/tables, and counts right, wrong and withheld answers.

    cargo build --release
    python3 bench/tables.py --program target/release/pikerag --set main
    python3 bench/tables.py --program target/release/pikerag --set apart --quiet
    python3 bench/tables.py --program target/release/pikerag --set mixed --settings pikerag.toml

Without `--settings`, no model is asked. The settings file names the model; only computed answers count. Prints a Markdown table by language, and all answers that are not right unless `--quiet` is given. examples/tables/README.md says
what counts as right. Needs nothing but Python.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "tables"
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# The largest number of cells in an answer to a question for one thing; more cells are a list.
CELLS = 4


# The longest time for one question; a model may be slow.
SECONDS = 3600


def run(program, place, flags, *words):
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
    keys = {name: value for name, value in os.environ.items() if name.endswith("_API_KEY")}
    command = [program, *flags, "--base", str(place / "base"), *words]
    return subprocess.run(command, cwd=place, env=variables | keys, capture_output=True, text=True, timeout=SECONDS)


def numbers(text):
    return [float(found.replace(",", "").replace("−", "-")) for found in NUMBER.findall(text)]


def lead(text):
    """The text before the last bracket, which contains the interpretation."""
    cut = [at for at in (text.rfind(" ("), text.rfind("（")) if 0 < at]
    # Brackets within brackets belong to the interpretation.
    depth, start = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        depth += text[at] in ")）"
        if text[at] in "(（":
            depth -= 1
            if depth == 0:
                start = at
                break
    return text[:start].strip() if cut and text.rstrip().endswith((")", "）")) else text


MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]


def spellings(answer):
    """The answer; for the name of a month, its number in a date, too: `-03`."""
    return [answer, f"-{MONTHS.index(answer) + 1:02}"] if answer in MONTHS else [answer]


def verdict(question, reply):
    """`right`, `wrong` or `none`."""
    answer = reply.get("answer") or {}
    text = answer.get("text", "")
    is_given = bool(text) and not answer.get("refused") and answer.get("written_by", {}).get("kind") == "reckoning"
    if question["kind"] == "none":
        return "wrong" if is_given else "right"
    if not is_given:
        return "none"
    given, accepted = lead(text).lower(), [one.lower() for one in question["answers"]]
    if question["kind"] == "number":
        gold, tolerance = float(accepted[0].replace(",", "")), question.get("tolerance", 1e-6)
        found = numbers(given)[:3]
        is_right = any(abs(abs(one) - abs(gold)) <= abs(gold) * tolerance + 1e-9 for one in found)
        # Words or a sign show the direction of a change.
    elif question["kind"] == "text":
        is_right = any(one in given for answer in accepted for one in spellings(answer)) and len(re.split("[;；]", given)) <= CELLS
    else:
        is_right = all(one in given or (NUMBER.fullmatch(one) and float(one) in numbers(given)) for one in accepted)
    return "right" if is_right else "wrong"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--set", choices=sorted(held.name for held in EXAMPLES.iterdir() if held.is_dir()), default="main")
    arguments.add_argument("--settings", type=pathlib.Path, help="a settings file with a model")
    arguments.add_argument("--quiet", action="store_true")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    questions = [json.loads(line) for line in (EXAMPLES / given.set / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        settings = ["--config", str(given.settings.resolve())] if given.settings else []
        flags = settings or ["--offline"]
        indexed = run(program, place, [*settings, "--offline"], "index", str(EXAMPLES / given.set / "docs"))
        if indexed.returncode:
            raise SystemExit(indexed.stderr)

        def asked(question):
            ran = run(program, place, flags, "--json", "ask", question["question"])
            try:
                reply = json.loads(ran.stdout)
            except ValueError:
                raise SystemExit(f"{question['id']}: {ran.stderr}") from None
            return question, reply, verdict(question, reply)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(asked, questions))
    counts = {language: {"right": 0, "wrong": 0, "none": 0} for language in ("en", "zh", "all")}
    for question, reply, came in results:
        for language in (question["language"], "all"):
            counts[language][came] += 1
        if came != "right" and not given.quiet:
            text = (reply.get("answer") or {}).get("text", "")
            print(f"{came}: {question['id']} {question['question']}\n    {question['answers'][:3]}: {text[:200]!r}")
    if given.json:
        print(json.dumps({"set": given.set, **counts}))
        return
    print("| set | language | questions | right | wrong | none |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for language, by in counts.items():
        n = sum(by.values())
        print(f"| {given.set} | {language} | {n} | {by['right']} ({by['right'] / n:.0%}) | {by['wrong']} ({by['wrong'] / n:.0%}) | {by['none']} |")


if __name__ == "__main__":
    main()
