#!/usr/bin/env python3
"""Measures a table of a million rows: index, questions, SQL, memory, size.

    cargo build --release
    python3 bench/million_rows.py --program target/release/pikerag
    python3 bench/million_rows.py --program target/release/pikerag --rows 100000 --files 4

Writes CSV files of orders (eight columns: number, two dates, three categories, two measures) with a fixed seed, computes the
expected figures while writing, indexes them without vectors, and asks. Each figure is compared with the expected one; a wrong
figure ends the script with an error. Prints Markdown, or JSON. Needs Linux and nothing but Python.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request

REGIONS = ["North", "South", "East", "West", "Centre"]
PRODUCTS = [f"Model {letter}{number}" for letter in "ABCDEFGHIJ" for number in range(1, 21)]
STATES = ["open", "shipped", "returned", "cancelled"]
REPEATS = 7


def write(folder, rows, files):
    """The files, and the figures that the questions below must have."""
    draw, figures = random.Random(7), collections.Counter()
    first = datetime.date(2019, 1, 1)
    days = [str(first + datetime.timedelta(day)) for day in range(6 * 365)]
    for file in range(files):
        with open(folder / f"orders_{file + 1}.csv", "w", encoding="utf-8") as out:
            out.write("order_no,ordered_on,shipped_on,region,product,status,quantity,amount\n")
            for row in range(file * rows // files, (file + 1) * rows // files):
                day = draw.randrange(len(days) - 20)
                region, product, status = draw.choice(REGIONS), draw.choice(PRODUCTS), draw.choices(STATES, (1, 6, 1, 1))[0]
                quantity, cents = draw.randint(1, 40), draw.randint(100, 900_000)
                shipped = days[day + draw.randint(1, 19)] if status in ("shipped", "returned") else ""
                out.write(f"O{row:07},{days[day]},{shipped},{region},{product},{status},{quantity},{cents / 100:.2f}\n")
                figures["rows"] += 1
                figures["returned"] += status == "returned"
                if region == "North" and days[day].startswith("2021"):
                    figures["north in 2021"] += 1
                    figures["quantity of north in 2021"] += quantity
                figures[("quantity", product)] += quantity
    by_product = {name: n for (_, name), n in ((key, n) for key, n in figures.items() if isinstance(key, tuple))}
    figures["best product"] = max(by_product, key=by_product.get)
    return figures


class Place:
    """A folder with documents and a base, in which commands run."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "PIKERAG_LANG": "en"}

    def command(self, *words):
        return [self.program, "--offline", "--base", str(self.folder / "base"), *words]

    def run(self, *words):
        """The seconds and the output of a command."""
        started = time.perf_counter()
        ran = subprocess.run(self.command(*words), cwd=self.folder, env=self.variables, capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"{' '.join(words)}: {ran.stderr[-2000:]}")
        return time.perf_counter() - started, ran.stdout

    def measure(self, *words):
        """The seconds, the seconds of cores, and the largest memory in MiB of a command with its children."""
        with open(self.folder / "error.txt", "w", encoding="utf-8") as error:
            started = time.perf_counter()
            process = subprocess.Popen(self.command(*words), cwd=self.folder, env=self.variables, stdout=subprocess.DEVNULL, stderr=error)
            _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(words)}: {(self.folder / 'error.txt').read_text(encoding='utf-8')[-2000:]}")
        return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def serve(self, requests):
        """The median seconds of each request to a server, and the server's largest memory in MiB."""
        process = subprocess.Popen(self.command("serve", "--port", "0"), cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = next(line for line in process.stdout if "http://" in line)
        address = re.search(r"http://[\w.:]+", line).group()
        times = {}
        for name, path, body in requests:
            runs = []
            for _ in range(REPEATS):
                data = body and json.dumps(body).encode()
                request = urllib.request.Request(f"{address}/api/v1/bases/default/{path}", data, {"Content-Type": "application/json"})
                started = time.perf_counter()
                urllib.request.urlopen(request, timeout=60).read()
                runs.append(time.perf_counter() - started)
            times[name] = statistics.median(runs)
        process.terminate()
        _, _, usage = os.wait4(process.pid, 0)
        return times, usage.ru_maxrss / 1024


def lead(text):
    found = re.search(r"[-−]?\d[\d,]*(?:\.\d+)?", text)
    return found and float(found.group().replace(",", ""))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--files", type=int, default=8)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        docs = place / "docs"
        docs.mkdir()
        gold = write(docs, given.rows, given.files)
        (place / "pikerag.toml").write_text('[embed]\nkind = "none"\n', encoding="utf-8")
        at = Place(program, place)
        wall, cores, memory = at.measure("index", str(docs))
        megabytes = lambda files: round(sum(file.stat().st_size for file in files if file.is_file()) / 2**20)
        report = {
            "rows": given.rows,
            "CSV, MiB": megabytes(docs.iterdir()),
            "base, MiB": megabytes((place / "base").rglob("*")),
            "index, s": round(wall),
            "index, s of one core": round(cores),
            "index, MiB": round(memory),
        }
        north = "FROM orders WHERE region = 'North' AND ordered_on BETWEEN '2021-01-01' AND '2021-12-31'"
        statements = [
            ("count of a filter", f"SELECT count(*) {north}", gold["north in 2021"]),
            ("sum of a filter", f"SELECT sum(quantity) {north}", gold["quantity of north in 2021"]),
            ("sums of 200 groups", "SELECT product, sum(quantity) FROM orders GROUP BY product ORDER BY 2 DESC LIMIT 1", gold["best product"]),
        ]
        report["start and list of tables, s"] = round(statistics.median(at.run("tables")[0] for _ in range(REPEATS)), 2)
        for name, statement, expected in statements:
            runs = [at.run("--json", "sql", statement) for _ in range(REPEATS)]
            if str(expected) not in runs[0][1]:
                raise SystemExit(f"{name}: {expected} is not in {runs[0][1][:500]}")
            report[f"`sql`, {name}, s"] = round(statistics.median(seconds for seconds, _ in runs), 2)
        questions = [
            ("How many orders are there?", gold["rows"]),
            ("How many orders were returned?", gold["returned"]),
            ("What is the total quantity of orders in the North region ordered in 2021?", gold["quantity of north in 2021"]),
            ("Which product has the highest total quantity?", gold["best product"]),
        ]
        for question, expected in questions:
            runs = [at.run("--json", "ask", question) for _ in range(3)]
            text = (json.loads(runs[0][1]).get("answer") or {}).get("text", "")
            is_right = lead(text) == expected if isinstance(expected, int) else expected in text
            seconds = statistics.median(seconds for seconds, _ in runs)
            report[f"`ask`: {question}"] = f"{'right' if is_right else 'NOT RIGHT: ' + text[:200]}, {seconds:.2f} s"
        report["`ask`, MiB"] = round(at.measure("ask", questions[2][0])[2])
        # The page's tab of tables sends these.
        times, memory = at.serve([("list of tables", "tables", None), *((name, "sql", {"statement": sql}) for name, sql, _ in statements), ("first 1,000 rows", "sql", {"statement": "SELECT * FROM orders"})])
        report |= {f"server, {name}, s": round(seconds, 3) for name, seconds in times.items()}
        report["server, MiB"] = round(memory)
    if given.json:
        print(json.dumps(report, ensure_ascii=False))
        return
    print("| | |\n| --- | ---: |")
    for name, value in report.items():
        print(f"| {name} | {value:,} |" if isinstance(value, (int, float)) else f"| {name} | {value} |")


if __name__ == "__main__":
    main()
