#!/usr/bin/env python3
"""Measures how fast documents are read, beside `pdftotext` and one Python reader for each format.

    python3 bench/speed.py BINARY DATA [--python PYTHON] [--repeat 3]

BINARY is a release build of pikerag, DATA the folder with MANIFEST.tsv. All files of a format are
read one after the other, `--repeat` times each; the fastest time of each file counts.

pikerag is timed as its users run it: `pikerag --json parse FILE`, with the start of the program and
of its limited child. A second line subtracts the time for a file of one line. `pdftotext` is timed
with its start, too. The Python readers run in one process with their modules loaded beforehand, so
their times are of reading alone. `pdfinfo` counts the pages. PYTHON is an interpreter with some of
pypdf, python-docx, python-pptx, openpyxl, beautifulsoup4, striprtf, odfpy; absent ones are skipped,
and the output names them.
"""
import argparse, collections, csv, json, os, shutil, subprocess, sys, tempfile, time

READER = r'''
import sys, time, json, importlib
name, repeat, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
def pypdf(path):
    from pypdf import PdfReader
    return "".join(page.extract_text() for page in PdfReader(path).pages)
def docx(path):
    import docx
    document = docx.Document(path)
    cells = [c.text for t in document.tables for r in t.rows for c in r.cells]
    return "\n".join([p.text for p in document.paragraphs] + cells)
def pptx(path):
    from pptx import Presentation
    return "\n".join(s.text_frame.text for p in Presentation(path).slides for s in p.shapes if s.has_text_frame)
def openpyxl(path):
    import openpyxl
    book = openpyxl.load_workbook(path, data_only=True)
    return "\n".join(str(c) for s in book for r in s.iter_rows(values_only=True) for c in r if c is not None)
def bs4(path):
    from bs4 import BeautifulSoup
    return BeautifulSoup(open(path, "rb"), "html.parser").get_text()
def striprtf(path):
    from striprtf.striprtf import rtf_to_text
    return rtf_to_text(open(path, encoding="latin-1").read())
def odf(path):
    from odf import opendocument, teletype
    return teletype.extractText(opendocument.load(path).body)
def csv(path):
    import csv
    return "\n".join(" ".join(r) for r in csv.reader(open(path, encoding="utf-8", errors="replace")))
def email(path):
    import email, email.policy
    message = email.message_from_binary_file(open(path, "rb"), policy=email.policy.default)
    return "\n".join(str(p.get_content()) for p in message.walk() if p.get_content_maintype() == "text")
def etree(path):
    import xml.etree.ElementTree as tree
    return "".join(tree.parse(path).getroot().itertext())
importlib.import_module(name if name != "etree" else "xml.etree.ElementTree")
read, times = globals()[name] if callable(globals().get(name)) else None, {}
for path in files:
    best = None
    for _ in range(repeat):
        start = time.perf_counter()
        try:
            read(path)
        except Exception as error:
            best = None
            break
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    times[path] = best
print(json.dumps(times))
'''
READERS = {"pdf": "pypdf", "docx": "docx", "pptx": "pptx", "xlsx": "openpyxl", "xlsm": "openpyxl", "html": "bs4",
           "rtf": "striprtf", "odt": "odf", "ods": "odf", "odp": "odf", "csv": "csv", "eml": "email",
           "xml": "etree", "nxml": "etree"}


def timed(command, repeat, **options):
    best = None
    for _ in range(repeat):
        start = time.perf_counter()
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, **options)
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return None
        took = time.perf_counter() - start
        if done.returncode != 0:
            return None
        best = took if best is None else min(best, took)
    return best


def pages_of(path):
    if not path.endswith(".pdf") or not shutil.which("pdfinfo"):
        return 0
    done = subprocess.run(["pdfinfo", path], capture_output=True, text=True, errors="replace")
    pages = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("Pages:")]
    return int(pages[0]) if pages else 0


def python_times(python, name, repeat, files):
    # The file must not have the name of a module: `csv.py` here would hide the real one.
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "reader_of_documents.py")
        open(script, "w").write(READER)
        done = subprocess.run([python, script, name, str(repeat), *files], capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["failed"])[-1]
        return {}, reason
    return json.loads(done.stdout.splitlines()[-1]), None


def line(name, who, times, sizes, pages):
    read = [path for path, took in times.items() if took]
    total = sum(times[path] for path in read)
    if not total:
        return f"{name}\t{who}\t-\t-\t-\t0 files read"
    n_pages, size = sum(pages[p] for p in read), sum(sizes[p] for p in read)
    return (f"{name}\t{who}\t{total:.2f} s\t{size / total / 1e6:.2f} MB/s\t"
            f"{f'{n_pages / total:.0f} pages/s' if n_pages else '-'}\t{len(read)} of {len(times)} files read")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("binary")
    options.add_argument("data")
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--only", default="", help="only this format")
    options = options.parse_args()
    binary, data = os.path.abspath(options.binary), os.path.abspath(options.data)
    with open(os.path.join(data, "MANIFEST.tsv"), encoding="utf-8") as manifest:
        files = [os.path.join(data, row["file"]) for row in csv.DictReader(manifest, delimiter="\t")]
    formats = collections.defaultdict(list)
    for path in files:
        formats[path.rsplit(".", 1)[1].lower()].append(path)
    start = tempfile.TemporaryDirectory()
    small = os.path.join(start.name, "small.txt")
    open(small, "w").write("x\n")
    floor = timed([binary, "--json", "parse", small], 5, cwd=start.name)
    print(f"start of pikerag and its child: {floor * 1000:.0f} ms for each file" if floor else "pikerag does not run")
    print("format\treader\ttime\tMB/s\tpages/s\tnote")
    skipped = {}
    for name in sorted(formats):
        if options.only and name != options.only:
            continue
        paths = formats[name]
        sizes = {path: os.path.getsize(path) for path in paths}
        pages = {path: pages_of(path) for path in paths}
        own = {path: timed([binary, "--json", "parse", path], options.repeat, cwd=start.name) for path in paths}
        print(line(name, "pikerag", own, sizes, pages), flush=True)
        # The time of reading alone, for the comparison with readers that are loaded already.
        alone = {path: took and max(took - (floor or 0), 1e-4) for path, took in own.items()}
        if name != "pdf":
            print(line(name, "pikerag, start taken off", alone, sizes, pages), flush=True)
        else:
            # Scans take their time in Tesseract, which the others do not run.
            digital = [p for p in paths if len(subprocess.run(["pdftotext", p, "-"], capture_output=True).stdout.split()) > 9]
            print(line("pdf, with text", "pikerag", {p: own[p] for p in digital}, sizes, pages), flush=True)
            print(line("pdf, with text", "pikerag, start taken off", {p: alone[p] for p in digital}, sizes, pages), flush=True)
            theirs = {p: timed(["pdftotext", "-layout", p, os.devnull], options.repeat) for p in digital}
            print(line("pdf, with text", "pdftotext", theirs, sizes, pages), flush=True)
            paths = digital
        if name in READERS:
            times, reason = python_times(options.python, READERS[name], options.repeat, paths)
            if reason:
                skipped[READERS[name]] = reason
            else:
                label = "pdf, with text" if name == "pdf" else name
                print(line(label, READERS[name], times, sizes, pages), flush=True)
    for name, reason in skipped.items():
        print(f"skipped: {name}: {reason}")


if __name__ == "__main__":
    main()
