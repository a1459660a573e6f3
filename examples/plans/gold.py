#!/usr/bin/env python3
"""Computes the answers of counts.jsonl and checks every answer of the question files.

    python3 examples/plans/gold.py           # check
    python3 examples/plans/gold.py --write   # write counts.jsonl, and `classes` and `documents` of the question files

A part of a question has `gold`, one query or a list of queries. A filter is COLUMN=VALUE[;VALUE…], COLUMN!=VALUE
or date=FROM..TO (prefixes of ISO dates, both included). `month` is a column too: 2025-03.

    count FILTER…                      number of events in truth.csv
    sum | mean | share FILTER…         of `figure`; share: per cent of the events of the first filter
    distinct COLUMN FILTER…            number of different values
    top | least COLUMN FILTER…         value with most or fewest events; second: the next after the most
    topsum COLUMN FILTER…              value with the greatest sum of `figure`; topmean: the greatest mean
    max | min | first | last COLUMN FILTER…   COLUMN of the event with that figure or date
    series quarter|month|half FILTER…  counts of the periods of 2025
    cell FILE KEY=VALUE COLUMN         a cell of a table among the documents
    days FILTER…                       days between the first and the last event
    tsum | tseries | ttop | tlow FILE COLUMN…  a sum, the sums by month, or the key (by=) with the greatest or least sum
    calc EXPRESSION                    arithmetic; [QUERY] stands for a figure
    quote FILE TEXT                    TEXT occurs in FILE
    absent TEXT…                       no document of the set contains any of these words

A part with `range` is a forecast: a straight line through the series of its `gold` must end inside the range.
"""

import csv
import json
import re
import shlex
import statistics
import sys
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
SETS = ("clinic", "notices", "orchard")
CLASSES = {"factual", "bridging", "comparative", "quantitative", "summarizing", "predictive", "creative"}
NUMBER_WORDS = set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
)
KINDS = {"answer", "not stated", "uncertain"}


class Fault(Exception):
    """A query that has no single answer."""


def matches(row, terms):
    for term in terms:
        column, negated, value = re.fullmatch(r"(.+?)(!?)=(.*)", term).groups()
        have = row[column]
        if ".." in value:
            low, high = value.split("..")
            good = have[: len(low)] >= low and have[: len(high)] <= high
        else:
            good = have in value.split(";")
        if good == bool(negated):
            return False
    return True


def extreme(values, what, rank=0):
    """The key with the greatest value; fails on a tie."""
    ranked = sorted(values.items(), key=lambda pair: -pair[1])
    if not ranked or len(ranked) <= rank:
        raise Fault(f"nothing to rank: {what}")
    for near in (rank - 1, rank + 1):
        if 0 <= near < len(ranked) and ranked[near][1] == ranked[rank][1]:
            raise Fault(f"tie: {what}: {ranked}")
    return ranked[rank][0]


class Set:
    def __init__(self, name):
        self.name = name
        self.events = list(csv.DictReader((HERE / name / "truth.csv").open(encoding="utf-8")))
        for row in self.events:
            row["month"] = row["date"][:7]
        self.docs = {p.name: p.read_text(encoding="utf-8") for p in sorted((HERE / name / "docs").iterdir())}

    def pick(self, terms, used):
        rows = [r for r in self.events if matches(r, terms)]
        for row in rows:
            used.update(row["documents"].split(" | "))
        return rows

    def table(self, file, terms, used):
        used.add(file)
        return [r for r in csv.DictReader(self.docs[file].splitlines()) if matches(r, terms)]

    def query(self, text, used):
        """Answers one query; adds the documents with its evidence to `used`."""
        verb, _, rest = text.partition(" ")
        if verb == "calc":
            inner = re.sub(r"\[(.*?)\]", lambda m: str(self.query(m[1], used)), rest)
            if not re.fullmatch(r"[\d\s.+*/()<>=-]+", inner):
                raise Fault(f"not arithmetic: {inner}")
            value = eval(inner)  # digits and operators only
            return round(value, 2) if isinstance(value, float) else value
        words = shlex.split(rest)
        if verb == "quote":
            file, quote = words
            used.add(file)
            if quote not in self.docs[file]:
                raise Fault(f"{file} does not contain {quote!r}")
            return None
        if verb == "absent":
            for word in words:
                for file, body in self.docs.items():
                    if word.lower() in body.lower():
                        raise Fault(f"{file} contains {word!r}")
            return None
        if verb == "cell":
            file, key, column = words
            rows = self.table(file, [key], used)
            if len({r[column] for r in rows}) != 1:
                raise Fault(f"{len(rows)} rows: {text}")
            return rows[0][column]
        if verb in ("tsum", "tseries", "ttop", "tlow"):
            file, column, *terms = words
            by = [t[3:] for t in terms if t.startswith("by=")]
            rows = self.table(file, [t for t in terms if not t.startswith("by=")], used)
            if verb == "tsum":
                return round(sum(float(r[column]) for r in rows), 2)
            sums = defaultdict(float)
            for row in rows:
                sums[row[by[0] if by else next(iter(row))]] += float(row[column])
            if verb == "tseries":
                return list(sums.values())
            return extreme(sums if verb == "ttop" else {k: -v for k, v in sums.items()}, text)
        if verb == "days":
            dates = sorted(date.fromisoformat(r["date"]) for r in self.pick(words, used))
            return (dates[-1] - dates[0]).days
        if verb in ("count", "sum", "mean", "share"):
            rows = self.pick(words, used)
            figures = [float(r["figure"]) for r in rows]
            if verb == "count":
                return len(rows)
            if verb == "share":
                return round(100 * len(rows) / len(self.pick(words[:1], used)), 1)
            return sum(figures) if verb == "sum" else round(statistics.mean(figures), 2)
        column, *terms = words
        rows = self.pick(terms, used)
        if verb == "distinct":
            return len({r[column] for r in rows})
        if verb == "series":
            months = Counter(int(r["date"][5:7]) for r in rows)
            width = {"month": 1, "quarter": 3, "half": 6}[column]
            return [sum(months[m] for m in range(s, s + width)) for s in range(1, 13, width)]
        if verb in ("top", "least", "second"):
            counts = Counter(r[column] for r in rows)
            if verb == "least":
                counts = {k: -v for k, v in counts.items()}
            return extreme(counts, text, 1 if verb == "second" else 0)
        if verb in ("topsum", "topmean"):
            groups = defaultdict(list)
            for row in rows:
                groups[row[column]].append(float(row["figure"]))
            made = sum if verb == "topsum" else statistics.mean
            return extreme({k: made(v) for k, v in groups.items()}, text)
        if verb in ("max", "min", "first", "last"):
            sign = -1 if verb in ("min", "first") else 1
            key = "figure" if verb in ("max", "min") else "date"
            weights = {i: sign * float(r[key].replace("-", "")) for i, r in enumerate(rows)}
            return rows[extreme(weights, text)][column]
        raise Fault(f"unknown query: {text}")


def holds(answer, value):
    """Whether the text states the value."""
    text = answer.lower()
    if isinstance(value, bool):
        yes = re.match(r"yes|是|会|要|有|够|能|高于|多于|可以", text)
        no = re.match(r"no\b|否|不|没有", text)
        return bool(yes) if value else bool(no)
    if isinstance(value, (int, float)):
        numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))]
        return any(abs(n - value) <= 0.051 * (value != int(value)) for n in numbers)
    if isinstance(value, list):
        return all(holds(answer, v) for v in value)
    return str(value).lower() in text


def has(text, form):
    """Whether the text has the form: a number or a short word as a whole, anything else from the start of a word."""
    form = re.escape(form.lower())
    if re.fullmatch(r"[\d\\.,]+", form):
        return bool(re.search(rf"(?<![\d.]){form.replace(',', '')}(?!\d)(?!\.\d)", text))
    if re.match("[a-z]", form):
        whole = len(form) <= 3 or form in NUMBER_WORDS
        return bool(re.search(rf"(?<![a-z]){form}" + ("(?![a-z])" if whole else ""), text))
    return form.replace("\\", "") in text


def meets(answer, accept):
    """Whether the answer has one form of each requirement."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", answer.lower())
    return all(any(has(text, form) for form in forms) for forms in accept)


def next_value(series):
    slope, start = statistics.linear_regression(range(len(series)), series)
    return start + slope * len(series)


COUNTS = [
    # set, id, language, question, query
    ("clinic", "en", "How many times did medical equipment (pumps, beds, monitors, suction) fail on the wards in 2025?", "count kind=failure"),
    ("clinic", "en", "How many BP-7 battery packs failed in service in 2025?", "count item=BP-7"),
    ("clinic", "en", "Which ward had the most failures of medical equipment in 2025?", "top place kind=failure"),
    ("clinic", "en", "How many minutes were lost in 2025 by failed bed actuators?", "sum item=AC-4"),
    ("clinic", "en", "How many patients fell in 2025?", "count kind=fall"),
    ("clinic", "en", "By how many days did falls prolong the stays of patients in 2025, all together?", "sum kind=fall"),
    ("clinic", "en", "How many falls in 2025 were caused by a wet floor?", 'count kind=fall "cause=wet floor"'),
    ("clinic", "en", "How many medication errors happened in 2025?", 'count "kind=medication error"'),
    ("clinic", "en", "Which hospital of the group had the most failures of medical equipment in 2025?", "top area kind=failure"),
    ("clinic", "zh", "2025年10月至12月，BP-7电池组在使用中失效多少次？", "count item=BP-7 date=2025-10..2025-12"),
    ("clinic", "zh", "2025年哪个部件在使用中失效的次数最多？", "top item kind=failure"),
    ("clinic", "zh", "2025年BP-7电池组失效，中断时间最长的一次是多少分钟？", "max figure item=BP-7"),
    ("notices", "zh", "2025年全市供水管道爆管多少次？", "count kind=爆管"),
    ("notices", "zh", "2025年梧桐路爆管几次？", "count kind=爆管 place=梧桐路"),
    ("notices", "zh", "2025年哪种管材爆管次数最多？", "top item kind=爆管"),
    ("notices", "zh", "2025年爆管造成的停水一共多少小时？", "sum kind=爆管"),
    ("notices", "zh", "2025年因施工损坏造成的爆管有多少次？", "count kind=爆管 cause=施工"),
    ("notices", "zh", "2025年因管道老化造成的爆管有多少次？", "count kind=爆管 cause=老化"),
    ("notices", "zh", "2025年哪个区爆管造成的停水总时间最长？", "topsum area kind=爆管"),
    ("notices", "zh", "2025年单次停水时间最长的爆管发生在哪条路？", "max place kind=爆管"),
    ("notices", "zh", "2025年成立的水质投诉有多少起？", "count kind=水质"),
    ("notices", "zh", "2025年的水质问题一共涉及多少户？", "sum kind=水质"),
    ("notices", "en", "How many bursts did the West station repair in 2025?", "count kind=爆管 area=河西区;南圃区"),
    ("notices", "en", "How many bursts of 2025 were due to frost?", "count kind=爆管 cause=冻裂"),
    ("orchard", "en", "How many loads were refused by buyers in 2025?", 'count "kind=refused load"'),
    ("orchard", "en", "How many crates were refused in 2025, over all buyers?", 'sum "kind=refused load"'),
    ("orchard", "en", "How many loads did Castell Foods refuse in 2025?", '''count "kind=refused load" "buyer=Castell Foods"'''),
    ("orchard", "en", "Which buyer refused the most crates in 2025?", 'topsum buyer "kind=refused load"'),
    ("orchard", "en", "How many machine breakdowns did the cooperative have in 2025?", "count kind=breakdown"),
    ("orchard", "en", "For how many hours did the grading line stand still in 2025 because of breakdowns?", 'sum kind=breakdown "place=grading line"'),
    ("orchard", "en", "How many times did the belt of the grading line tear in 2025?", "count kind=breakdown item=belt"),
    ("orchard", "en", "How many hectares of blossom did frost destroy in 2025 on all farms?", "sum kind=frost"),
    ("orchard", "zh", "2025年合作社有多少批货因碰伤被拒收？", 'count "kind=refused load" cause=bruises'),
    ("orchard", "zh", "2025年哪个农场被拒收的批次最多？", 'top place "kind=refused load"'),
    ("orchard", "zh", "2025年哪个农场受霜冻损失的面积最大？", "topsum place kind=frost"),
    ("orchard", "zh", "2025年哪个品种被拒收的批次最多？", 'top item "kind=refused load"'),
]


OTHER_NAMES = {
    "AC-4": ["bed actuator"], "BP-7": ["battery pack", "电池组"], "Yunting": ["云汀果品", "云汀"], "Red Tansy": ["红菊"],
}


def shown(value):
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    return [text, *OTHER_NAMES.get(text, [])]


def make_counts(sets):
    lines, numbers = [], Counter()
    for name, language, question, query in COUNTS:
        numbers[name] += 1
        used = set()
        value = sets[name].query(query, used)
        lines.append(
            {
                "id": f"{name}-{numbers[name]:02}", "set": name, "language": language, "question": question,
                "answers": shown(value), "operation": query.split()[0], "gold": query, "documents": sorted(used),
            }
        )
    return lines


def check_truth(world, say):
    for row in world.events:
        files, quotes = row["documents"].split(" | "), row["quotes"].split(" | ")
        if len(files) != len(quotes):
            say(f"{world.name} {row['id']}: documents and quotes differ in number")
        for file, quote in zip(files, quotes):
            if quote not in world.docs.get(file, ""):
                say(f"{world.name} {row['id']}: not in {file}: {quote}")
    for row in csv.DictReader((HERE / world.name / "near.csv").open(encoding="utf-8")):
        if row["quote"] not in world.docs[row["document"]]:
            say(f"{world.name} {row['id']}: not in {row['document']}")


def check_question(q, sets, say):
    """Checks one question; returns its classes and the documents of its evidence."""
    where, used = q["id"], set()
    for part in q["parts"]:
        golds = part["gold"] if isinstance(part["gold"], list) else [part["gold"]]
        for gold in golds:
            try:
                value = sets[q["set"]].query(gold, used)
            except (Fault, KeyError, ValueError) as fault:
                say(f"{where}: {gold}: {fault}")
                continue
            if "range" in part:
                if isinstance(value, list):
                    low, high = part["range"]
                    if not low <= next_value(value) <= high:
                        say(f"{where}: the line ends at {next_value(value):.1f}, outside {low} to {high}")
            elif value is not None and not holds(part["answer"], value):
                say(f"{where}: {gold} gives {value}, the part says {part['answer']!r}")
        if not meets(part["answer"], part.get("accept", [])):
            say(f"{where}: the part's own answer is not accepted: {part['answer']!r}")
        if part.get("asked") and not {"accept", "range", "points", "verdict"} & part.keys():
            say(f"{where}: nothing to judge {part['question']!r} by")
        if part["class"] not in CLASSES:
            say(f"{where}: class {part['class']}")
    if q["kind"] not in KINDS or q["set"] not in SETS or not q["answers"]:
        say(f"{where}: kind, set or answers")
    classes = list(dict.fromkeys(p["class"] for p in q["parts"]))
    if len(classes) < 2 and not q.get("structure"):
        say(f"{where}: one class and no structure")
    if not any(p.get("asked") for p in q["parts"]):
        say(f"{where}: no part is asked for")
    return classes, sorted(used)


def main():
    sets = {name: Set(name) for name in SETS}
    faults, write = [], "--write" in sys.argv
    for world in sets.values():
        check_truth(world, faults.append)
    made = "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in make_counts(sets))
    path = HERE / "counts.jsonl"
    if write:
        path.write_text(made, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != made:
        faults.append("counts.jsonl differs from what gold.py computes")
    seen = set()
    for name in ("questions.jsonl", "apart.jsonl"):
        path = HERE / name
        questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        for q in questions:
            classes, documents = check_question(q, sets, faults.append)
            if q["id"] in seen or q["question"] in seen:
                faults.append(f"{q['id']}: twice")
            seen |= {q["id"], q["question"]}
            if write:
                q["classes"], q["documents"] = classes, documents
            elif (q["classes"], q["documents"]) != (classes, documents):
                faults.append(f"{q['id']}: classes or documents differ from what gold.py computes")
        if write:
            path.write_text("".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions), encoding="utf-8")
        tally = Counter(q["language"] for q in questions)
        print(f"{name}: {len(questions)} questions, {dict(tally)}, {dict(Counter(q['kind'] for q in questions))}")
    print(f"counts.jsonl: {len(COUNTS)} questions")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
