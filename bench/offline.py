#!/usr/bin/env python3
"""Measures answers without a language model: asks the questions of sets over the documents of a company.

    python3 bench/offline.py BINARY SET… [--by SEARCH] [--words] [--json OUT] [--show]

BINARY is pikerag; a SET is a folder with `docs/` and `questions.jsonl`, such as `examples/vellmarsh`.
Each line of the questions has `question`, `answers`, `answerable`, `supporting` (the last one holds the
answer) and `quote`, the passage that supports it. --words uses no embedder, --by takes another search for
the chunks, --show prints the reply to each question that went wrong. Standard library only.

Figures for the answerable questions: the share whose needed chunk is the first hit of the search, or among the
first 5; the share with a right first quote, or any right quote; and the share that wrongly gets "nothing found".
For the others: the share that gets "nothing found". A quote is right if it lies in the supporting passage or
contains it, or if it is from the right document and contains an accepted answer of more than one character
(other than yes and no). Even and odd lines of a set also get figures of their own.
"""
import argparse, json, os, re, subprocess, sys, tempfile

NOT_FOUND = 3  # The exit code.
MARKS = re.compile(r"[\s*_`|\"“”]+")


def plain(text):
    return MARKS.sub(" ", text).strip().lower()


def supports(text, question):
    """Whether this text supports the answer of a question."""
    text, quote = plain(text), plain(question["quote"])
    if quote and (quote in text or (text in quote and 0.3 * len(quote) < len(text))):
        return True
    answers = [plain(answer) for answer in question["answers"]]
    return any(1 < len(answer) and answer not in ("yes", "no", "不能", "不可以", "可以") and answer in text for answer in answers)


def is_of(uri, question):
    return bool(question["supporting"]) and os.path.basename(uri) == os.path.basename(question["supporting"][-1])


def run(command, folder):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL)
    try:
        return ran.returncode, json.loads(ran.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{command} ended with {ran.returncode}: {ran.stderr}")


def ask(binary, base, question, by):
    begin = [binary, "--offline", "--json", "--base", base]
    search = begin + ["search", "-k", "5", question["question"]] + (["--by", by] if by else [])
    _, hits = run(search, base)
    places = [
        place for place, hit in enumerate(hits)
        if is_of(hit["chunk"]["uri"], question) and supports(hit["chunk"]["text"], question)
    ]
    code, reply = run(begin + ["ask", question["question"]], base)
    citations = reply["answer"]["citations"]
    right = [is_of(it["uri"], question) and supports(it["quote"], question) for it in citations]
    return {
        "id": question["id"], "answerable": question["answerable"], "question": question["question"],
        "place": places[0] + 1 if places else None, "right": right, "not_found": code == NOT_FOUND,
        "quotes": [f"{it['uri']}: {it['quote']}" for it in citations], "wanted": question["quote"],
    }


def share(rows, holds):
    return f"{sum(bool(holds(row)) for row in rows):3} of {len(rows):2}"


def print_figures(name, rows):
    there, absent = [row for row in rows if row["answerable"]], [row for row in rows if not row["answerable"]]
    quoted = lambda row: not row["not_found"]
    print(
        f"{name:28} chunk@1 {share(there, lambda row: row['place'] == 1)}, @5 {share(there, lambda row: row['place'])};"
        f" first quote {share(there, lambda row: quoted(row) and row['right'][:1] == [True])},"
        f" any {share(there, lambda row: quoted(row) and any(row['right']))},"
        f" wrongly nothing found {share(there, lambda row: row['not_found'])};"
        f" rightly nothing found {share(absent, lambda row: row['not_found'])};"
        f" quotes {sum(len(row['quotes']) for row in there) / max(1, len(there)):.1f}"
    )


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--by")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    binary, everything = os.path.abspath(given.binary), {}
    for folder in map(os.path.abspath, given.sets):
        with open(os.path.join(folder, "questions.jsonl"), encoding="utf-8") as lines:
            questions = [json.loads(line) for line in lines if line.strip()]
        with tempfile.TemporaryDirectory() as place:
            base = os.path.join(place, "base")
            os.makedirs(base)
            if given.words:
                with open(os.path.join(base, "pikerag.toml"), "w") as settings:
                    settings.write('[embed]\nkind = "none"\n')
            index = [binary, "--offline", "--json", "--base", base, "index", os.path.join(folder, "docs")]
            run(index, base)
            rows = [ask(binary, base, question, given.by) for question in questions]
        name = os.path.basename(folder)
        everything[name] = rows
        print_figures(name, rows)
        print_figures("  even lines", rows[0::2])
        print_figures("  odd lines", rows[1::2])
        for row in rows if given.show else []:
            is_right = row["not_found"] if not row["answerable"] else not row["not_found"] and row["right"][:1] == [True]
            if not is_right:
                print(f"\n{row['id']} {row['question']}\n  wanted: {row['wanted'] or 'nothing'}; chunk {row['place']}")
                print("  not found" if row["not_found"] else "".join(f"  - {quote}\n" for quote in row["quotes"]), end="")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump(everything, out, ensure_ascii=False, indent=1)


main()
