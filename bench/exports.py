#!/usr/bin/env python3
"""Checks that the readers of training data understand exports: the real program exports `examples/train` in each format, without a model.

    python3 bench/exports.py --program target/debug/pikerag [--cache DIR]

`recipes/check.py` checks the rows by the rules of the formats and reads them with the package datasets, which pip installs once into the cache. Then this script breaks the rows in known places, and each break must be reported. Exit code 0: all checks pass; 1: some fail; 77: the package is not available, and the rules alone were checked.
"""

import argparse
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent
RECIPES = ROOT / "recipes"
QUESTIONS = ROOT / "examples/train/questions.jsonl"
FORMATS = ("trl", "openai", "llama-factory")


def export(program, place):
    """Collects and exports into `place/FORMAT`. Wrong trajectories, which a model would make, give the preferences."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}

    def run(*arguments):
        ran = subprocess.run([program, *map(str, arguments)], cwd=place, env=variables, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"pikerag {' '.join(map(str, arguments))}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")

    run("train", "collect", "--from", "data-set", "--questions", QUESTIONS, "--out", "right")
    wrong = []
    for line in (place / "right/trajectories.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            trajectory = json.loads(line) | {"is_right": False, "attempt": 1}
            chosen = [made["chosen"] for made in trajectory["rounds"] if made.get("chosen")]
            chosen[-1]["question"] = "Which colour does it have?"
            wrong.append(json.dumps(trajectory, ensure_ascii=False) + "\n")
    (place / "wrong").mkdir()
    (place / "wrong/trajectories.jsonl").write_text("".join(wrong), encoding="utf-8")
    for format in FORMATS:
        run("train", "export", "right", "wrong", "--out", format, "--format", format, "--apart", "question", "--held-out", "0.2")


# One break of an export each: format, file, change of its first row or of its whole text, and the words that must be reported.
def breaks():
    def without(*path):
        return change(path, lambda parent, key: parent.pop(key))

    def put(value, *path):
        return change(path, lambda parent, key: parent.__setitem__(key, value))

    def copy(source, target):
        return lambda row: row.__setitem__(target, row[source])

    def change(path, action):
        def on_row(row):
            for key in path[:-1]:
                row = row[key]
            action(row, path[-1])

        return on_row

    def text(pattern, new):
        return lambda whole: re.sub(pattern, lambda _: new, whole, count=1, flags=re.DOTALL)

    user, assistant = {"role": "user", "content": "a"}, {"role": "assistant", "content": "a"}
    train, pairs = "train.jsonl", "dpo-train.jsonl"
    rows = [
        ("trl", train, without("completion"), "train.jsonl:1: the key completion is missing"),
        ("trl", train, put(1, "extra"), "unknown key extra"),
        ("trl", train, put("text", "prompt"), "prompt is not a list of messages"),
        ("trl", train, put([], "prompt"), "prompt is not a list of messages"),
        ("trl", train, put([assistant], "prompt"), "prompt does not end with the user"),
        ("trl", train, put(" ", "completion", 0, "content"), "the content of assistant is empty"),
        ("trl", train, put("robot", "prompt", 0, "role"), "unknown role 'robot'"),
        ("trl", train, put([assistant, assistant], "completion"), "completion is not exactly one message"),
        ("trl", pairs, without("rejected"), "the key rejected is missing"),
        ("trl", pairs, copy("chosen", "rejected"), "the better and the worse reply are equal"),
        ("openai", train, without("messages"), "the key messages is missing"),
        ("openai", train, put([user], "messages"), "messages do not end with the assistant"),
        ("openai", train, put(None, "messages", 1, "content"), "the content of assistant is empty"),
        ("openai", train, put("x", "messages", 0, "extra"), "unknown key extra"),
        ("openai", train, put(2, "messages", 1, "weight"), "weight is not 0 or 1"),
        ("openai", "valid.jsonl", put("bot", "messages", 1, "role"), "valid.jsonl:1: messages: unknown role 'bot'"),
        ("openai", pairs, without("input"), "the key input is missing"),
        ("openai", pairs, without("input", "messages"), "the key messages is missing"),
        ("openai", pairs, put("", "input", "tools"), "tools is not a list"),
        ("openai", pairs, put([assistant, assistant], "preferred_output"), "preferred_output is not exactly one message"),
        ("openai", pairs, put([user], "non_preferred_output"), "non_preferred_output is not exactly one message"),
        ("openai", pairs, copy("preferred_output", "non_preferred_output"), "the better and the worse reply are equal"),
        ("llama-factory", "train.json", without("output"), "train.json, row 1: the key output of the column response is missing"),
        ("llama-factory", "train.json", put("", "instruction"), "the prompt is empty"),
        ("llama-factory", "train.json", put("", "output"), "the reply is empty"),
        ("llama-factory", "train.json", put(["a"], "output"), "output is not a text"),
        ("llama-factory", "dpo-train.json", without("rejected"), "the key rejected of the column rejected is missing"),
        ("llama-factory", "dpo-train.json", copy("chosen", "rejected"), "the better and the worse reply are equal"),
        ("llama-factory", "dataset_info.json", put("no.json", "pikerag_train", "file_name"), "the file no.json does not exist"),
        ("llama-factory", "dataset_info.json", without("pikerag_valid"), "no data set names valid.json"),
        ("llama-factory", "dataset_info.json", without("pikerag_dpo_train", "columns", "rejected"), "the column rejected is missing"),
        ("llama-factory", "dataset_info.json", put(False, "pikerag_dpo_train", "ranking"), "the column response is missing"),
        ("llama-factory", "dataset_info.json", put("x", "pikerag_train", "columns", "reply"), "no column reply"),
        ("llama-factory", "dataset_info.json", put("sharegpt", "pikerag_train", "formatting"), "formatting is not alpaca"),
    ]
    texts = [
        ("trl", train, text("^", "\ufeff"), "a byte order mark"),
        ("trl", train, text("^.*$", ""), "no rows"),
        ("openai", train, text("^.", "["), "train.jsonl:1: not JSON"),
        ("openai", train, text("\n", "\n\n"), "train.jsonl:2: not JSON"),
        ("openai", train, text("^[^\n]*\n", ""), "card.json: "),
        ("openai", train, text("^[^\n]*", '{"messages": NaN}'), "NaN is not JSON"),
        ("llama-factory", "train.json", text("^.*$", "{}"), "train.json is not a list of rows"),
        ("llama-factory", "dataset_info.json", text("^.*$", "[]"), "not an object"),
    ]
    for format, file, action, wanted in rows:
        yield format, file, first_row(action, file), wanted
    yield from texts


def first_row(action, file):
    """Applies a change to the first row of a file's text, or to the whole object of `dataset_info.json`."""

    def on_text(whole):
        if file.endswith(".jsonl"):
            first, rest = whole.split("\n", 1)
            row = json.loads(first)
            action(row)
            return json.dumps(row, ensure_ascii=False) + "\n" + rest
        value = json.loads(whole)
        action(value[0] if isinstance(value, list) else value)
        return json.dumps(value, ensure_ascii=False)

    return on_text


def unreported(place, check):
    """The breaks that `check.py` does not report in the expected words, and the number of all breaks."""
    found, n_breaks = [], 0
    for n_breaks, (format, file, action, wanted) in enumerate(breaks(), 1):
        broken = place / "broken"
        shutil.copytree(place / format, broken)
        before = (broken / file).read_text(encoding="utf-8")
        after = action(before)
        assert after != before, f"{format}, {file}: the break for {wanted!r} changes nothing"
        (broken / file).write_text(after, encoding="utf-8")
        problems = check.problems(broken, format)
        if not any(wanted in problem for problem in problems):
            found.append(f"{format}, {file}: {wanted!r} was not reported, but {problems[:3]}")
        shutil.rmtree(broken)
    return found, n_breaks


def is_load_checked(place, python):
    """True if the package datasets reports rows with other columns. The rules are left out, because they report them first."""
    mixed = place / "mixed"
    shutil.copytree(place / "trl", mixed)
    with (mixed / "train.jsonl").open("a", encoding="utf-8") as rows:
        rows.write('{"question": "a text"}\n')
    script = "import pathlib, sys, readers; sys.exit(not readers.load(pathlib.Path(sys.argv[1]), 'trl'))"
    return subprocess.run([python, "-B", "-c", script, mixed], cwd=RECIPES).returncode == 0


def pinned():
    """The version of the package datasets that the recipe uses."""
    [line] = re.findall(r"^datasets==\S+", (RECIPES / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return line


def environment(cache):
    """The Python of an environment with the package datasets; `None` if it is not available."""
    python, done = cache / "bin/python", cache / "done"
    if done.exists() and done.read_text() == pinned():
        return python
    shutil.rmtree(cache, ignore_errors=True)
    venv.create(cache, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", pinned()]).returncode:
        return None
    done.write_text(pinned())
    return python


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--cache", default=os.path.expanduser("~/.cache/pikerag/exports"))
    given = arguments.parse_args()
    sys.path.insert(0, str(RECIPES))
    sys.dont_write_bytecode = True
    check = importlib.import_module("check")
    python = environment(pathlib.Path(given.cache))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        export(str(pathlib.Path(given.program).resolve()), place)
        for format in FORMATS:
            command = [python or sys.executable, "-B", RECIPES / "check.py", place / format, "--format", format]
            ran = subprocess.run([*command, "--load"] if python else command)
            failed += ran.returncode != 0
        found, n_breaks = unreported(place, check)
        if python and not is_load_checked(place, python):
            found.append("trl: the package datasets reads rows with other columns without a complaint")
    for problem in found:
        print(problem)
    if not found:
        print(f"all {n_breaks} breaks are reported")
    if failed or found:
        return 1
    if python is None:
        print("the package datasets is not available")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
