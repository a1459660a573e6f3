#!/usr/bin/env python3
"""Asks the questions of examples/plans, which need several steps or figures from prose, and counts right, wrong and undecided answers.

    cargo build --release
    python3 bench/plans.py --program target/release/pikerag
    python3 bench/plans.py --program target/release/pikerag --questions apart.jsonl --quiet
    python3 bench/plans.py --program target/release/pikerag --questions counts.jsonl --settings pikerag.toml --sample 15

Without `--settings`, no model is asked. An answer is right if it meets each asked part of the question (examples/plans/README.md);
judgements and summaries are checked by the verdict and by nothing else, so read them. Quotes and refusals are undecided; `quoted` are
those whose quotes contain all accepted forms, `failed` those that ended with an error. For a question that the documents do not answer, undecided is right. Needs nothing
but Python.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "plans"
SECONDS = 3600
VERDICTS = {
    "likely": r"\b(?:likely|probabl)|可能|会",
    "unlikely": r"\bunlikely|improbable|\bnot likely|不太可能|不会|不大可能",
    "depends": r"depend|if |取决|看",
    "uncertain": r"uncertain|unclear|not (?:certain|decided|settled)|cannot be|不确定|无法确定|难以确定|尚不清楚",
}


def gold():
    spec = importlib.util.spec_from_file_location("gold", EXAMPLES / "gold.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(program, place, flags, *words):
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
    keys = {name: value for name, value in os.environ.items() if name.endswith("_API_KEY")}
    return subprocess.run([program, *flags, *words], cwd=place, env=variables | keys, capture_output=True, text=True, timeout=SECONDS)


def is_met(part, text, meets):
    if "accept" in part:
        return meets(text, part["accept"])
    if "range" in part:
        least, most = part["range"]
        return any(least <= float(number.replace(",", "")) <= most for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text))
    if "verdict" in part:
        return re.search(VERDICTS[part["verdict"]], text.lower()) is not None
    return True


def verdict(question, reply, meets):
    """`right`, `wrong`, `quoted` or `undecided`."""
    answer = reply.get("answer") or {}
    text = answer.get("text", "")
    by = answer.get("written_by", {}).get("kind")
    parts = [part for part in question.get("parts", []) if part.get("asked")]
    accepts = [{"accept": [question["answers"]]}] if "parts" not in question else parts
    is_given = bool(text) and not answer.get("refused") and by != "quotation"
    if question.get("kind", "answer") == "not stated" and not is_given:
        return "right"
    if not is_given:
        quotes = " ".join([text] + [citation["quote"] for citation in answer.get("citations", [])])
        is_quoted = by == "quotation" and all("accept" in part and is_met(part, quotes, meets) for part in accepts)
        return "quoted" if is_quoted else "undecided"
    whole = " ".join([text, answer.get("rationale", "")])
    return "right" if all(is_met(part, whole, meets) for part in accepts) else "wrong"


def steps_of(reply):
    return ((reply.get("answer") or {}).get("worked") or {}).get("steps", [])


def show(question, reply, came):
    text = (reply.get("answer") or {}).get("text") or reply.get("error", "")
    print(f"{came}: {question['id']} {question['question']}\n    {question['answers'][:3]}: {text[:240]!r}")
    for step in steps_of(reply):
        print(f"      {step['kind']}: {step['question']} -> {step['answer'][:120]!r}", flush=True)


def keep(replies, question, reply, came):
    """Appends the reply at once, so that a run that is stopped after hours leaves its replies."""
    if replies:
        with replies.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"id": question["id"], "came": came, **reply}, ensure_ascii=False) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--questions", default="questions.jsonl", choices=["questions.jsonl", "apart.jsonl", "counts.jsonl"])
    arguments.add_argument("--settings", type=pathlib.Path, help="a settings file with a model")
    arguments.add_argument("--sample", type=int, help="only every nth question, so that about this number is asked")
    arguments.add_argument("--skip", type=int, default=0, help="without the first N of these, which an earlier run asked")
    arguments.add_argument("--at-once", type=int, default=os.cpu_count(), help="questions asked at a time")
    arguments.add_argument("--place", type=pathlib.Path, help="a folder that keeps the bases for a later run; default: a temporary one")
    arguments.add_argument("--replies", type=pathlib.Path, help="a file that takes each reply as a line of JSON")
    arguments.add_argument("--quiet", action="store_true", help="totals only")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    meets = gold().meets
    questions = [json.loads(line) for line in (EXAMPLES / given.questions).read_text(encoding="utf-8").splitlines()]
    if given.sample:
        questions = questions[:: max(1, len(questions) // given.sample)][: given.sample]
    questions = questions[given.skip :]
    with tempfile.TemporaryDirectory() as folder:
        place = given.place.resolve() if given.place else pathlib.Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        settings = ["--config", str(given.settings.resolve())] if given.settings else []
        for name in sorted({question["set"] for question in questions}):
            indexed = run(program, place, [*settings, "--offline", "--base", str(place / name)], "index", str(EXAMPLES / name / "docs"))
            if indexed.returncode:
                raise SystemExit(indexed.stderr)

        def asked(question):
            flags = [*(settings or ["--offline"]), "--base", str(place / question["set"]), "--json"]
            ran = run(program, place, flags, "ask", question["question"])
            try:
                reply = json.loads(ran.stdout)
            except ValueError:
                return question, {"error": ran.stderr}, "failed"
            return question, reply, verdict(question, reply, meets)

        if given.replies:
            given.replies.write_text("", encoding="utf-8")
        results = []
        with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
            for result in pool.map(asked, questions):
                results.append(result)
                keep(given.replies, *result)
                if not given.quiet:
                    show(*result)
    names = ("right", "wrong", "quoted", "undecided", "failed")
    counts = {language: dict.fromkeys(names, 0) for language in ("en", "zh", "all")}
    planned = 0
    for question, reply, came in results:
        planned += bool(steps_of(reply))
        for language in (question.get("language", "en"), "all"):
            counts[language][came] += 1
    print("| questions | language | asked | right | wrong | undecided | of these quoted | failed |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for language, by in counts.items():
        undecided = by["undecided"] + by["quoted"]
        print(f"| {given.questions} | {language} | {sum(by.values())} | {by['right']} | {by['wrong']} | {undecided} | {by['quoted']} | {by['failed']} |")
    print(f"\nanswered by a plan: {planned}")


if __name__ == "__main__":
    main()
