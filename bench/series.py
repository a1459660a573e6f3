#!/usr/bin/env python3
"""Holds back the end of public series, asks for forecasts, and compares them with the real values.

    cargo build --release
    python3 bench/series.py --program target/release/pikerag

Each series is cut at several origins. The file up to the origin is indexed with all other files of its set, and a question in
English or Chinese (in turn) asks for the next periods. No model is used. The output is a Markdown table: the questions with a
forecast of the right series, the share of real values within the 80 % interval, and the mean absolute error as a multiple of the
error of a naive forecast on the same points. The naive forecast is the value of the same season a year before, or the last value
if there are no seasons.

The true values are computed from the file with the standard library. A forecast is of the right series if its past equals that of
the file, period by period. Needs nothing but Python.
"""

import argparse
import csv
import datetime
import io
import json
import pathlib
import re
import shutil
import tempfile

from tables import EXAMPLES, run


class Series:
    """A column of a file by period, its questions, and the number of periods that are held back."""

    def __init__(self, file, time, value, step, function, ahead, origins, questions, where=None):
        self.file, self.time, self.value, self.step, self.function = file, time, value, step, function
        self.ahead, self.origins, self.questions, self.where = ahead, origins, questions, where

    def name(self):
        return pathlib.Path(self.file).stem


SERIES = [
    Series("main/docs/co2_mauna_loa.csv", ["Datum"], "CO2 (ppm)", "month", "mean", 12, range(0, 120, 15),
           ["Forecast the CO2 level for the next 12 months.", "未来12个月的CO2预计是多少？"]),
    Series("main/docs/sunspots.csv", ["year"], "sunspot_number", "year", "mean", 5, range(0, 80, 10),
           ["What will the sunspot number be in the next five years?", "未来五年的太阳黑子数预计是多少？"]),
    Series("main/docs/nile_flow.csv", ["year"], "volume", "year", "mean", 5, range(0, 40, 5),
           ["Forecast the flow volume of the Nile for the next 5 years.", "未来五年尼罗河的流量预计是多少？"]),
    Series("main/docs/美国就业人数（千人）.csv", ["月份"], "制造业", "month", "mean", 6, range(0, 48, 6),
           ["Forecast US manufacturing employment for the next six months.", "未来六个月美国制造业的就业人数预计是多少？"]),
    Series("main/docs/seattle-weather.csv", ["date"], "temp_max", "month", "mean", 3, range(0, 24, 3),
           ["What will the average maximum temperature in Seattle be in the next three months?", "西雅图未来三个月的平均最高气温预计是多少？"]),
    Series("main/docs/seattle-weather.csv", ["date"], "precipitation", "month", "sum", 3, range(0, 24, 3),
           ["How much precipitation will fall in Seattle in the next three months?", "西雅图未来三个月的总降水量预计是多少？"]),
    Series("main/docs/us_macro_quarterly.csv", ["year", "quarter"], "realgdp", "quarter", "mean", 4, range(0, 64, 8),
           ["What will US real GDP be in the next four quarters?", "未来四个季度美国实际GDP预计是多少？"]),
    Series("main/docs/us_macro_quarterly.csv", ["year", "quarter"], "unemp", "year", "mean", 2, range(4, 60, 8),
           ["What will the average US unemployment rate be in the next two years?", "未来两年美国的平均失业率预计是多少？"]),
    Series("main/docs/company_investment_1935-1954.csv", ["year"], "invest", "year", "mean", 2, range(0, 8, 2),
           ["What will the investment of Chrysler be in the next two years?", "未来两年Chrysler的投资额预计是多少？"], where=("firm", "Chrysler")),
    Series("third/docs/全球自然灾害死亡人数.csv", ["年份"], "死亡人数", "year", "sum", 3, range(0, 24, 3),
           ["How many deaths from floods will there be in the next three years?", "未来三年洪水的死亡人数预计是多少？"], where=("灾害类型", "洪水")),
]
SEASONS = {"month": 12, "quarter": 4, "year": 1}


def rows_of(path):
    """The head of a file, its rows, and its separator."""
    text = path.read_text(encoding="utf-8-sig")
    separator = ";" if text.splitlines()[0].count(";") > text.splitlines()[0].count(",") else ","
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    return rows[0], rows[1:], separator


def number(cell, separator):
    cell = cell.replace(",", ".") if separator == ";" else cell
    try:
        return float(cell)
    except ValueError:
        return None


def period(cells, step):
    """The name of a period in answers: `2013`, `2013-Q3`, `2013-07`."""
    if len(cells) == 2:
        year, part = int(cells[0]), int(cells[1])
        month = 3 * part if step != "month" else part
        day = datetime.date(year, month, 1)
    elif re.fullmatch(r"\d{4}", cells[0]):
        day = datetime.date(int(cells[0]), 1, 1)
    elif "." in cells[0]:
        day = datetime.datetime.strptime(cells[0], "%d.%m.%Y").date()
    else:
        day = datetime.date.fromisoformat(cells[0][:10])
    label = {"year": f"{day.year}", "quarter": f"{day.year}-Q{(day.month + 2) // 3}", "month": f"{day.year}-{day.month:02}"}
    return label[step]


def read(series, path):
    """The figure of each period, in order, and each row with its period."""
    head, rows, separator = rows_of(path)
    times, value = [head.index(name) for name in series.time], head.index(series.value)
    kept, placed = {}, []
    for row in rows:
        if len(row) <= value:
            continue
        label = period([row[at] for at in times], series.step)
        placed.append((label, row))
        if series.where and row[head.index(series.where[0])] != series.where[1]:
            continue
        if (amount := number(row[value], separator)) is not None:
            kept.setdefault(label, []).append(amount)
    figure = sum if series.function == "sum" else lambda amounts: sum(amounts) / len(amounts)
    return {label: figure(amounts) for label, amounts in sorted(kept.items())}, placed, head, separator


def naive(known, at, season):
    """The value of the same season a year before the period `at` steps ahead, or the last value."""
    back = season - (at - 1) % season
    return known[-back] if back <= len(known) else known[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/pikerag")
    parser.add_argument("--alone", action="store_true", help="index the file of the series without its set")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    print("| series | asked | right series | within 80 % | points | error / naive |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    total = [0, 0, 0, 0, 0.0, 0.0]
    for series in SERIES:
        path = EXAMPLES / series.file
        truth, placed, head, separator = read(series, path)
        labels = list(truth)
        asked = right = within = points = 0
        error = naive_error = 0.0
        for turn, origin in enumerate(series.origins):
            cut = len(labels) - series.ahead - origin
            known, to_come = labels[:cut], labels[cut : cut + series.ahead]
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder)
                docs = place / "docs"
                if given.alone:
                    docs.mkdir()
                else:
                    shutil.copytree(path.parent, docs)
                with open(docs / path.name, "w", newline="", encoding="utf-8") as file:
                    written = csv.writer(file, delimiter=separator)
                    written.writerow(head)
                    written.writerows(row for label, row in placed if label <= known[-1])
                indexed = run(program, place, ["--offline"], "index", str(docs))
                if indexed.returncode:
                    raise SystemExit(indexed.stderr)
                question = series.questions[turn % 2]
                reply = json.loads(run(program, place, ["--offline"], "--json", "ask", question).stdout or "{}")
            asked += 1
            answer = reply.get("answer") or {}
            forecast = (answer.get("worked") or {}).get("forecast")
            past = {one["period"]: one["value"] for one in (forecast or {}).get("past", [])}
            is_right = bool(past) and list(past)[-1] == known[-1] and all(
                past[label] is not None and abs(past[label] - truth[label]) <= 1e-6 * max(1, abs(truth[label]))
                for label in past
                if label in truth
            )
            if not is_right:
                if not given.quiet:
                    print(f"<!-- {question}: {answer.get('text', reply)!s:.200} -->")
                continue
            right += 1
            values = [truth[label] for label in known]
            by_label = {one["period"]: one for one in forecast["points"]}
            for at, label in enumerate(to_come, 1):
                one = by_label[label]
                points += 1
                within += one["low"] <= truth[label] <= one["high"]
                error += abs(one["value"] - truth[label])
                naive_error += abs(naive(values, at, SEASONS[series.step]) - truth[label])
        share = f"{100 * within / points:.0f} %" if points else "–"
        ratio = f"{error / naive_error:.2f}" if naive_error else "–"
        print(f"| {series.name()}: {series.value} by {series.step} | {asked} | {right} | {share} | {points} | {ratio} |", flush=True)
        total[0] += asked
        total[1] += right
        total[2] += within
        total[3] += points
    share = f"{100 * total[2] / total[3]:.0f} %" if total[3] else "–"
    print(f"| all | {total[0]} | {total[1]} | {share} | {total[3]} | |")


if __name__ == "__main__":
    main()
