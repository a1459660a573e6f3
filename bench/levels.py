#!/usr/bin/env python3
"""Asks the questions of examples/plans/levels.jsonl at each level of PIKE-RAG's Table 1, L0 to L4, over one base: what each answers, and its cost.

    cargo build --release
    python3 bench/levels.py --program target/release/pikerag
    python3 bench/levels.py --program target/release/pikerag --settings pikerag.toml

Each level has a copy of the base, so that no level uses the calls that another has paid. `found`: the passages of L0 hold the answer. `named`:
refused with the level that the question needs. Without `--settings`, no model is asked. Needs nothing but Python.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import shutil
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
EXAMPLES = BENCH.parent / "examples" / "plans"
LEVELS = ("L0", "L1", "L2", "L3", "L4")
OUTCOMES = ("right", "wrong", "found", "quoted", "named", "refused")


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(question, level, reply, meets):
    answer = reply.get("answer") or {}
    text = " ".join([answer.get("text", ""), answer.get("rationale", "")])
    worked = answer.get("worked") or {}
    if level == "L0":
        chunks = (answer.get("context") or {}).get("chunks", [])
        passages = " ".join(chunk["chunk"]["text"] for chunk in chunks)
        return "found" if "accept" in question and meets(passages, question["accept"]) else "refused"
    if not answer.get("text") or answer.get("refused"):
        return "named" if re.search(rf"\b{question['level']}\b", text) and level < question["level"] else "refused"
    if "ideas" in question:
        return "right" if question["ideas"] <= len(worked.get("ideas", [])) else "wrong"
    if "range" in question:
        least, most = question["range"]
        is_right = any(least <= float(number) <= most for number in re.findall(r"\d+(?:\.\d+)?", text))
    else:
        is_right = meets(text, question["accept"])
    if answer.get("written_by", {}).get("kind") == "quotation":
        return "quoted"
    return "right" if is_right else "wrong"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--settings", type=pathlib.Path, help="a settings file with a model")
    arguments.add_argument("--at-once", type=int, default=os.cpu_count(), help="questions asked at a time")
    arguments.add_argument("--replies", type=pathlib.Path, help="a file that takes each reply as a line of JSON")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    run, gold = loaded(BENCH / "plans.py").run, loaded(EXAMPLES / "gold.py")
    questions = [json.loads(line) for line in (EXAMPLES / "levels.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        settings = ["--config", str(given.settings.resolve())] if given.settings else []
        indexed = run(program, place, [*settings, "--offline", "--base", str(place / "base")], "index", str(EXAMPLES / "clinic" / "docs"))
        if indexed.returncode:
            raise SystemExit(indexed.stderr)
        for level in LEVELS:
            shutil.copytree(place / "base", place / level)

        def asked(job):
            level, question = job
            flags = [*(settings or ["--offline"]), "--base", str(place / level), "--json"]
            ran = run(program, place, flags, "ask", "--level", level, question["question"])
            try:
                reply = json.loads(ran.stdout)
            except ValueError:
                raise SystemExit(f"{level} {question['id']}: {ran.stderr}") from None
            return level, question, reply, outcome(question, level, reply, gold.meets)

        with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
            results = list(pool.map(asked, [(level, question) for level in LEVELS for question in questions]))
    if given.replies:
        lines = [json.dumps({"level": level, "id": question["id"], "came": came, **reply}, ensure_ascii=False) for level, question, reply, came in results]
        given.replies.write_text("\n".join(lines) + "\n", encoding="utf-8")
    classes = list(dict.fromkeys(question["class"] for question in questions))
    print(f"| level | {' | '.join(classes)} | calls | tokens |\n| --- |{' --- |' * len(classes)} ---: | ---: |")
    for level in LEVELS:
        of_level = [result for result in results if result[0] == level]
        cells = []
        for kind in classes:
            came = [outcome for _, question, _, outcome in of_level if question["class"] == kind]
            cells.append(", ".join(f"{came.count(name)} {name}" for name in OUTCOMES if name in came))
        spent = [reply["answer"]["spent"] for _, _, reply, _ in of_level]
        calls = sum(calls for call in spent for calls, _ in call["by_role"].values())
        tokens = sum(used["prompt_tokens"] + used["completion_tokens"] for call in spent for _, used in call["by_role"].values())
        print(f"| {level} | {' | '.join(cells)} | {calls} | {tokens:,} |")


if __name__ == "__main__":
    main()
