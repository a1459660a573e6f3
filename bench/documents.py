#!/usr/bin/env python3
"""Compares `pikerag parse` with expected texts and with other readers, on real documents.

    python3 bench/documents.py BINARY DATA [--json OUT] [--only TEXT] [--config FILE]

BINARY is pikerag. DATA is the folder with MANIFEST.tsv, the files, and their expected texts in
`expected/`. Standard library only; `pdftotext` and `soffice` are used if they are installed.

Figures for each file, and the median for each format:

* words: the share of the expected words that we find, counted with repetitions. A word is a run of
  letters and digits after Unicode normalisation (NFKC) and case folding; each Chinese, Japanese or
  Korean character counts as a word. Markdown and HTML marks are removed from the expected text;
  words divided at the end of a line are joined on both sides. `extra` is the share of our words
  that are not expected (boilerplate, invented text). If strings are expected instead of a text
  (`*.contains.json`), the figure is the share of their words that lie in strings we find whole.
* words beside pdftotext (`-layout`) and LibreOffice (`--convert-to txt`): the share of the expected
  words that they find; and, as `of theirs`, the share of their words that we find. If nothing is
  expected, their text is the reference.
* tables: the share of cells recovered. It covers the filled cells of each expected table with at
  least two rows and columns. A cell counts as recovered if one of our tables has a cell with the
  same words, with the same row neighbour in its row and the same column neighbour in its column.
  The row neighbour is the nearest filled cell to the left, or to the right for the first; the
  column neighbour the nearest above, or below for the first. A missing neighbour is not checked.
* order: three words in a row that occur once in both texts are marks. The figure is the share of
  all pairs of marks in the expected order (1 is the same order, 0.5 chance). It is repeated for the
  files with two columns, which TWO_COLUMNS names.

The exit code is 0 unless pikerag crashed on a file; the figures are the report.
"""
import argparse, bisect, collections, csv, html, json, os, re, shutil, statistics, subprocess, sys
import tempfile, unicodedata

TWO_COLUMNS = ["docling__normal_4pages.pdf", "docling__amt_handbook_sample.pdf"]
NO_WORDS = re.compile(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", re.S)
WIDE = r"\u2e80-\u9fff\uac00-\ud7af\u1100-\u11ff\uf900-\ufaff\u3130-\u318f"
WORD = re.compile(rf"[{WIDE}]|[^\W_{WIDE}]+")


def words(text):
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    text = re.sub(r"(\w)[-\u2010]\n\s*(\w)", r"\1\2", text)
    return WORD.findall(text.casefold())


def unmarked(text):
    """Markdown without comments, pictures, targets of links, tags and entities."""
    text = NO_WORDS.sub(" ", text)
    text = re.sub(r"\]\((?:[^()\s]|\([^()]*\))*\)", "] ", text)
    text = re.sub(r"</?[a-zA-Z][^<>\n]*>", " ", text)
    return re.sub(r"\\([\\`*_{}\[\]()#+.!|<>~&$-])", r"\1", html.unescape(text))


def recall(expected, found):
    if not expected:
        return None
    both = collections.Counter(expected) & collections.Counter(found)
    return sum(both.values()) / len(expected)


def order(expected, found):
    """The share of pairs of marks in the expected order, and the number of marks."""
    def marks(text):
        threes = list(zip(text, text[1:], text[2:]))
        count = collections.Counter(threes)
        return {three: at for at, three in enumerate(threes) if count[three] == 1}
    theirs, ours = marks(expected), marks(found)
    places = [ours[mark] for mark in sorted(theirs, key=theirs.get) if mark in ours]
    if len(places) < 10:
        return None, len(places)
    seen, turned = [], 0
    for place in places:
        turned += len(seen) - bisect.bisect(seen, place)
        bisect.insort(seen, place)
    return 1 - turned / (len(places) * (len(places) - 1) / 2), len(places)


def markdown_tables(text):
    tables, rows = [], []
    for line in text.split("\n") + [""]:
        if line.strip().startswith("|"):
            rows.append(re.split(r"(?<!\\)\|", line.strip().strip("|")))
        elif rows:
            tables.append([row for row in rows if not all(re.fullmatch(r"\s*:?-+:?\s*", c) for c in row)])
            rows = []
    return tables


def html_tables(text):
    tables = []
    for table in re.findall(r"<table.*?</table>", text, re.S | re.I):
        rows = re.findall(r"<tr.*?(?:</tr>|(?=<tr)|$)", table, re.S | re.I)
        tables.append([re.findall(r"<t[dh][^>]*>(.*?)(?:</t[dh]>|$)", row, re.S | re.I) for row in rows])
    return tables


def keyed(table):
    return [[" ".join(words(unmarked(cell))) for cell in row] for row in table]


def cells(expected, ours):
    """The number of expected cells, and of those recovered in the right row and column."""
    ours = [keyed(table) for table in ours]
    places = collections.defaultdict(list)
    for number, table in enumerate(ours):
        for r, row in enumerate(table):
            for c, cell in enumerate(row):
                if cell:
                    places[cell].append((number, r, c))
    total = recovered = 0
    for table in map(keyed, expected):
        if len(table) < 2 or max(map(len, table), default=0) < 2:
            continue
        width = max(map(len, table))
        table = [row + [""] * (width - len(row)) for row in table]
        for r, row in enumerate(table):
            for c, cell in enumerate(row):
                if not cell:
                    continue
                total += 1
                left, right = [x for x in row[:c] if x], [x for x in row[c + 1:] if x]
                column = [line[c] for line in table]
                above, below = [x for x in column[:r] if x], [x for x in column[r + 1:] if x]
                beside = left[-1] if left else right[0] if right else None
                over = above[-1] if above else below[0] if below else None
                for number, ro, co in places.get(cell, []):
                    own = ours[number]
                    in_row = beside is None or beside in own[ro][:co] + own[ro][co + 1:]
                    in_column = over is None or any(
                        n != ro and co < len(line) and line[co] == over for n, line in enumerate(own))
                    if in_row and in_column:
                        recovered += 1
                        break
    return total, recovered


def run(command, timeout=300, **options):
    try:
        return subprocess.run(command, capture_output=True, timeout=timeout, **options)
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        return subprocess.CompletedProcess(command, 99, b"", str(error).encode())


def ours(binary, path, config, folder):
    command = [binary, "--json"] + (["--config", config] if config else []) + ["parse", path]
    done = run(command, cwd=folder)
    try:
        parsed = json.loads(done.stdout)
    except ValueError:
        return None, (done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}")
    return (None, parsed["refused"]) if "refused" in parsed else (parsed, None)


def pdftotext(path):
    if not path.endswith(".pdf") or not shutil.which("pdftotext"):
        return None
    done = run(["pdftotext", "-layout", path, "-"])
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def soffice(path, folder):
    office = (".docx", ".doc", ".odt", ".rtf")
    if not path.endswith(office) or not shutil.which("soffice"):
        return None
    profile = f"-env:UserInstallation=file://{folder}/profile"
    run(["soffice", profile, "--headless", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", folder, path])
    text = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".txt")
    return open(text, encoding="utf-8-sig", errors="replace").read() if os.path.exists(text) else None


def judge(row, parsed, expected_path, file):
    text = "\n\n".join(document["text"] for document in parsed["documents"])
    found = words(text)
    row["words"] = len(found)
    blocks = [block for document in parsed["documents"] for block in document["blocks"]]
    tables = [[t for t in [kind["header"]] if t] + kind["rows"]
              for kind in (block["kind"] for block in blocks) if kind["block"] == "table"]
    row["tables"] = len(tables)
    row["pages"] = max((b["page"] or 0 for b in blocks), default=0)
    row["figures"] = sum(b["kind"]["block"] == "figure" for b in blocks)
    row["hidden"] = sum(b.get("hidden", False) for b in blocks)
    row["problems"] = [" ".join([p["place"], p["reason"]]).strip() for p in parsed["problems"]]
    expected, wanted = None, []
    if expected_path:
        raw = open(expected_path, encoding="utf-8-sig", errors="replace").read()
        if expected_path.endswith(".contains.json"):
            rules = json.loads(raw)
            strings = [s for key in ("content_contains_all", "must_include") for s in rules.get(key) or []]
            joined = " ".join(found)
            if strings:
                lost = [s for s in strings if " ".join(words(unmarked(s))) not in joined]
                size = lambda some: sum(len(words(unmarked(s))) for s in some)
                row["recall"], row["lost"] = 1 - size(lost) / max(size(strings), 1), lost
            row["kind"] = f"{len(strings)} strings" if strings else "-"
        else:
            row["kind"] = expected_path.rsplit(".", 1)[1]
            if expected_path.endswith(".csv"):
                wanted = [list(csv.reader(raw.splitlines()))]
                expected = words(raw)
            else:
                expected = words(unmarked(raw))
                wanted = markdown_tables(raw)
    elif file.endswith((".html", ".htm")):
        source = open(os.path.join(os.path.dirname(row["path"]), file), encoding="utf-8", errors="replace").read()
        wanted = html_tables(source) if "colspan" not in source and "rowspan" not in source else []
    if expected:
        row["recall"] = recall(expected, found)
        row["extra"] = 1 - recall(found, expected) if found else None
        row["order"], row["marks"] = order(expected, found)
        lost = collections.Counter(expected) - collections.Counter(found)
        row["lost"] = [word for word, _ in lost.most_common(12)]
    row["cells"], row["recovered"] = cells(wanted, tables)
    return found, expected


def show(value):
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("binary")
    options.add_argument("data")
    options.add_argument("--json", metavar="OUT", help="write all figures here")
    options.add_argument("--only", default="", help="only files whose name contains this")
    options.add_argument("--config", help="settings file for pikerag")
    options.add_argument("--lost", action="store_true", help="list words that were not found")
    options = options.parse_args()
    binary, config = os.path.abspath(options.binary), options.config and os.path.abspath(options.config)
    data = os.path.abspath(options.data)
    with open(os.path.join(data, "MANIFEST.tsv"), encoding="utf-8") as manifest:
        files = [row for row in csv.DictReader(manifest, delimiter="\t") if options.only in row["file"]]
    rows, crashed = [], 0
    head = ["file", "recall", "extra", "order", "cells", "pdftotext", "soffice", "of theirs", "note"]
    print("\t".join(head))
    with tempfile.TemporaryDirectory() as folder:
        for entry in files:
            file = entry["file"]
            path = os.path.join(data, file)
            row = {"file": file, "path": path, "format": file.rsplit(".", 1)[1].lower(), "kind": "-"}
            rows.append(row)
            parsed, refused = ours(binary, path, config, folder)
            truth = entry["ground_truth"]
            truth = os.path.join(data, truth) if truth not in ("", "-") else None
            if refused:
                row["refused"] = refused
                crashed += "crashed" in refused or "panicked" in refused
                print(f"{file}\trefused: {refused[:200]}")
                continue
            found, expected = judge(row, parsed, truth, file)
            for name, text in (("pdftotext", pdftotext(path)), ("soffice", soffice(path, folder))):
                theirs = words(text) if text else None
                if not theirs:
                    continue
                if expected:
                    row[name] = recall(expected, theirs)
                    row[name + "_order"] = order(expected, theirs)[0]
                row["of_theirs"] = recall(theirs, found)
                if not expected and "recall" not in row:
                    row["recall"], row["kind"] = row["of_theirs"], name
                    row["order"], row["marks"] = order(theirs, found)
            share = row["recovered"] / row["cells"] if row["cells"] else None
            row["share"] = share
            print("\t".join([file, *(show(row.get(k)) for k in ("recall", "extra", "order")),
                             f"{row['recovered']}/{row['cells']}" if row["cells"] else "-",
                             *(show(row.get(k)) for k in ("pdftotext", "soffice", "of_theirs")),
                             f"by {row['kind']}, {len(row['problems'])} problems"]), flush=True)
            if options.lost and row.get("lost"):
                print("    lost:", row["lost"])
    report(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, ensure_ascii=False, indent=1)
    return 1 if crashed else 0


def report(rows):
    print("\nformat\tfiles\trefused\tmedian recall\tlowest\tcells")
    for name in sorted({row["format"] for row in rows}):
        of = [row for row in rows if row["format"] == name]
        recalls = [row["recall"] for row in of if row.get("recall") is not None]
        wanted, got = (sum(row.get(k) or 0 for row in of) for k in ("cells", "recovered"))
        print("\t".join([name, str(len(of)), str(sum("refused" in row for row in of)),
                         show(statistics.median(recalls) if recalls else None),
                         show(min(recalls) if recalls else None), f"{got}/{wanted}" if wanted else "-"]))
    measured = [row for row in rows if row.get("recall") is not None]
    if measured:
        print(f"\nword recall: median {statistics.median(r['recall'] for r in measured):.3f} of {len(measured)} files,"
              f" {sum(r['recall'] < 0.85 for r in measured)} below 0.85")
    for row in sorted(measured, key=lambda row: row["recall"]):
        if row["recall"] < 0.85:
            print(f"  below 0.85: {row['file']} {row['recall']:.3f} (by {row['kind']}; pdftotext {show(row.get('pdftotext'))},"
                  f" soffice {show(row.get('soffice'))})")
    for row in rows:
        if "refused" in row:
            print(f"  refused: {row['file']}: {row['refused'][:160]}")
    wanted, got = (sum(row.get(k) or 0 for row in rows) for k in ("cells", "recovered"))
    if wanted:
        shares = [row["share"] for row in rows if row.get("share") is not None]
        print(f"table cells in the right row and column: {got} of {wanted} ({got / wanted:.3f});"
              f" median of {len(shares)} files {statistics.median(shares):.3f}")
    for row in rows:
        if row["file"] in TWO_COLUMNS and row.get("order") is not None:
            print(f"two columns: {row['file']}: order {row['order']:.3f} over {row['marks']} marks;"
                  f" pdftotext -layout {show(row.get('pdftotext_order'))}")


if __name__ == "__main__":
    sys.exit(main())
