#!/usr/bin/env python3
"""Asks a sample of the questions of examples/tables with a model, without one, and by plain text-to-SQL.

    cargo build --release
    python3 bench/text_to_sql.py --program target/release/pikerag --base-url http://127.0.0.1:28551/v1 --model qwen --set third --sample 30

Prints a Markdown table: how many answers of each strategy are right, wrong or withheld. examples/tables/README.md says what counts as right.

- `pikerag ask`: the environment sets the model at `--base-url`. Any answer counts, computed or written by the model; mere quotes count as none.
- `pikerag --offline ask`: the same base, no model.
- text-to-SQL: the model gets `CREATE TABLE` and three rows of each table, and writes one query for SQLite. A query that fails gets a second try
  with the error message. The result, at most 20 rows, is scored by the same rules. An error, no rows, or only empty cells count as none.
  **This baseline gets the files that hold the answer; pikerag has to find them among all files of the set.**

Calls, tokens and seconds are means per question. A question counts as failed if the server or the program fails.

The sample is fixed by a seed, half English, half Chinese, among the questions whose files are all CSV or TSV: the standard library reads no others.
The head line of a file is its first line with two filled cells; its separator is the most frequent one there. A column is a number if all its
filled cells are plain numbers. The temperature is 0. Needs nothing but Python and a server with the OpenAI protocol.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from tables import EXAMPLES, run, verdict

SEED = 30
PLAIN = (".csv", ".tsv")
ROWS_SHOWN, ROWS_RESULT = 3, 20
QUERY_SECONDS, CALL_SECONDS = 5, 600
INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})")
REAL = re.compile(r"[-+]?(?:0|[1-9]\d*)?(?:\.\d+)?(?:[eE][-+]?\d+)?")
# The actions that a query may take; all others are refused.
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, getattr(sqlite3, "SQLITE_RECURSIVE", 33)}
INSTRUCTION = (
    "You write one SQLite query that answers the user's question over the given tables. "
    "Copy the names of tables and columns exactly, in double quotes; values in single quotes. Select only what the question asks for. "
    "If it asks for a percentage, give a number from 0 to 100. Reply with the SQL alone."
)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def identifier(stem):
    name = re.sub(r"\W+", "_", stem).strip("_") or "t"
    return f"t_{name}" if name[0].isdigit() else name


def column_names(head):
    """Makes the names of columns filled and unique, as SQLite compares them."""
    names, seen = [], set()
    for at, cell in enumerate(head, 1):
        base = name = cell.strip() or f"column_{at}"
        count = 1
        while name.lower() in seen:
            count += 1
            name = f"{base}_{count}"
        seen.add(name.lower())
        names.append(name)
    return names


def typed(cells):
    """A column's type and its values."""
    filled = [cell for cell in cells if cell]
    if filled and all(INTEGER.fullmatch(cell) for cell in filled):
        return "INTEGER", [int(cell) if cell else None for cell in cells]
    if filled and all(REAL.fullmatch(cell) and any(one.isdigit() for one in cell) for cell in filled):
        return "REAL", [float(cell) if cell else None for cell in cells]
    return "TEXT", [cell or None for cell in cells]


def read_table(path):
    """The name, the columns with their types, and the rows of a file."""
    text = path.read_text(encoding="utf-8-sig")
    first = next((line for line in text.splitlines() if sum(map(bool, map(str.strip, re.split(r"[,;\t|]", line)))) > 1), "")
    separator = max(",;\t|", key=first.count)
    lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text), delimiter=separator)]
    start = next(at for at, line in enumerate(lines) if sum(map(bool, line)) > 1)
    names = column_names(lines[start])
    rows = [(line + [""] * len(names))[: len(names)] for line in lines[start + 1 :] if any(line)]
    columns = [typed(cells) for cells in zip(*rows, strict=True)] if rows else [("TEXT", []) for _ in names]
    kinds, values = zip(*columns, strict=True)
    return identifier(path.stem), list(zip(names, kinds, strict=True)), list(zip(*values, strict=True))


def loaded(paths):
    """A database with one table for each file, and its description for the model."""
    base = sqlite3.connect(":memory:")
    tables = []
    for path in paths:
        name, columns, rows = read_table(path)
        fields = ",\n  ".join(f"{quoted(column)} {kind}" for column, kind in columns)
        create = f"CREATE TABLE {quoted(name)} (\n  {fields}\n);"
        base.execute(create)
        base.executemany(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", rows)
        sample = "\n".join(" | ".join("NULL" if cell is None else str(cell) for cell in row) for row in rows[:ROWS_SHOWN])
        tables.append(f"{create}\n/* The first of {len(rows)} rows:\n{sample}\n*/")
    base.commit()
    base.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
    return base, "\n\n".join(tables)


def first_statement(reply):
    """The first SQL statement of a reply, without fences and surrounding text."""
    fenced = re.search(r"```[a-zA-Z]*\s*\n?(.*?)(?:```|\Z)", reply, re.DOTALL)
    text = fenced.group(1) if fenced else reply
    begins = re.search(r"\b(?:SELECT|WITH)\b", text, re.IGNORECASE)
    if not begins:
        return None
    text = text[begins.start() :]
    for end in (found.end() for found in re.finditer(";", text)):
        if sqlite3.complete_statement(text[:end]):
            return text[:end]
    return text.strip()


def queried(base, statement):
    """The first rows of a query's result. Raises sqlite3.Error."""
    if statement is None:
        raise sqlite3.OperationalError("the reply holds no SELECT statement")
    ends = time.monotonic() + QUERY_SECONDS
    base.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
    return base.execute(statement).fetchmany(ROWS_RESULT)


def in_words(rows):
    if all(cell is None or cell == "" for row in rows for cell in row):
        return ""
    text = "; ".join(", ".join("" if cell is None else str(cell) for cell in row) for row in rows)
    # `verdict` drops a last bracket, which here is part of a cell.
    return text + "." if text.endswith((")", "）")) else text


class Model:
    """A chat model behind an OpenAI-compatible server."""

    def __init__(self, base_url, name, key):
        self.address, self.name, self.key = base_url.rstrip("/") + "/chat/completions", name, key

    def reply(self, messages):
        """The text of a reply and its usage."""
        body = {"model": self.name, "messages": messages, "temperature": 0, "max_tokens": 400}
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.key}"}
        sent = urllib.request.Request(self.address, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(sent, timeout=CALL_SECONDS) as response:
            reply = json.load(response)
        return reply["choices"][0]["message"]["content"] or "", reply.get("usage") or {}


def by_sql(model, question, docs):
    """The outcome of plain text-to-SQL."""
    base, schema = loaded([docs / name for name in question["files"]])
    messages = [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": f"{schema}\n\nQuestion: {question['question']}"},
    ]
    statements, error, text, tokens = [], None, "", 0
    for _ in range(2):
        reply, usage = model.reply(messages)
        tokens += usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        statement = first_statement(reply)
        statements.append(statement or reply)
        try:
            text, error = in_words(queried(base, statement)), None
            break
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as failed:
            error = str(failed)
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": f"The query failed: {error}. Reply with a corrected query alone, with names from the tables above."},
        ]
    base.close()
    answered = {"answer": {"text": text, "written_by": {"kind": "reckoning"}}}
    return {"came": verdict(question, answered), "text": text, "error": error, "sql": statements, "calls": len(statements), "tokens": tokens}


def by_pikerag(ran, question):
    """The outcome of `pikerag --json ask`, with calls and tokens."""
    try:
        reply = json.loads(ran.stdout)
    except ValueError:
        error = (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1]
        return {"came": "failed", "text": "", "error": error, "calls": 0, "tokens": 0}
    answer = reply.get("answer") or {}
    writer = (answer.get("written_by") or {}).get("kind")
    # `verdict` counts computed answers; here an answer of the model counts, too.
    scored = answer | {"written_by": {"kind": "reckoning" if writer == "language_model" else writer}}
    spent = [(calls, *usage.values()) for calls, usage in ((answer.get("spent") or {}).get("by_role") or {}).values()]
    came = {"came": verdict(question, {"answer": scored}), "text": answer.get("text", ""), "error": None, "by": writer}
    return came | {"calls": sum(one[0] for one in spent), "tokens": sum(sum(one[1:]) for one in spent)}


def sample_of(questions, size):
    """A fixed sample, half English and half Chinese where there are enough of each."""
    drawn = random.Random(SEED)
    english, chinese = ([one for one in questions if one["language"] == language] for language in ("en", "zh"))
    n = min(len(english), max(size // 2, size - len(chinese)))
    chosen = drawn.sample(english, n) + drawn.sample(chinese, min(len(chinese), size - n))
    return sorted(chosen, key=lambda one: one["id"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--base-url", required=True, help="such as http://127.0.0.1:28551/v1")
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--key", default=os.environ.get("OPENAI_API_KEY") or "none")
    arguments.add_argument("--set", choices=["main", "third", "apart"], default="third")
    arguments.add_argument("--sample", type=int, default=30)
    arguments.add_argument("--parallel", type=int, default=2, help="questions asked of the model at once")
    arguments.add_argument("--json", action="store_true", help="print every question with its three outcomes; the table goes to the error output")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    docs = EXAMPLES / given.set / "docs"
    questions = [json.loads(line) for line in (EXAMPLES / given.set / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    eligible = [one for one in questions if one["files"] and all(name.endswith(PLAIN) for name in one["files"])]
    sample = sample_of(eligible, given.sample)
    print(f"{len(sample)} of {len(eligible)} questions over CSV files; {len(questions)} in the set", file=sys.stderr, flush=True)
    model = Model(given.base_url, given.model, given.key)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        indexed = run(program, place, ["--offline"], "index", str(docs))
        if indexed.returncode:
            raise SystemExit(indexed.stderr)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "XDG_STATE_HOME": str(place / "state"),
            "OPENAI_BASE_URL": given.base_url,
            "OPENAI_MODEL": given.model,
            "OPENAI_API_KEY": given.key,
        }

        def with_model(question):
            command = [program, "--json", "--base", str(place / "base"), "ask", question["question"]]
            ran = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, timeout=3 * CALL_SECONDS)
            return by_pikerag(ran, question)

        strategies = {
            "`pikerag ask`": with_model,
            "`pikerag --offline ask`": lambda question: by_pikerag(run(program, place, ["--offline"], "--json", "ask", question["question"]), question),
            "text-to-SQL, given the right files": lambda question: by_sql(model, question, docs),
        }

        def outcome(name, question):
            began = time.monotonic()
            try:
                came = strategies[name](question)
            except (OSError, ValueError, KeyError, urllib.error.URLError, subprocess.TimeoutExpired) as failed:
                came = {"came": "failed", "text": "", "error": str(failed), "calls": 0, "tokens": 0}
            came["seconds"] = round(time.monotonic() - began, 1)
            shown = came["text"] or came["error"] or ""
            print(f"{name} {came['came']}: {question['id']} {question['answers'][:3]}: {shown[:120]!r}", file=sys.stderr, flush=True)
            return came

        with concurrent.futures.ThreadPoolExecutor(given.parallel) as pool:
            waiting = {name: [pool.submit(outcome, name, question) for question in sample] for name in reversed(strategies)}
            results = {name: [one.result() for one in waiting[name]] for name in strategies}
    if given.json:
        lines = [question | {"came": {name: results[name][at] for name in strategies}} for at, question in enumerate(sample)]
        print(json.dumps({"set": given.set, "model": given.model, "eligible": len(eligible), "questions": lines}, ensure_ascii=False, indent=1))
    out = sys.stderr if given.json else sys.stdout
    print("| strategy | questions | right | wrong | none | failed | calls | tokens | seconds |", file=out)
    print("| --- |" + " ---: |" * 8, file=out)
    for name, outcomes in results.items():
        n = len(outcomes)
        counts = [sum(one["came"] == came for one in outcomes) for came in ("right", "wrong", "none", "failed")]
        means = [f"{sum(one[field] for one in outcomes) / n:.1f}" for field in ("calls", "tokens", "seconds")]
        row = [name, n, f"{counts[0]} ({counts[0] / n:.0%})", f"{counts[1]} ({counts[1] / n:.0%})", *counts[2:], *means]
        print("| " + " | ".join(map(str, row)) + " |", file=out)


if __name__ == "__main__":
    main()
