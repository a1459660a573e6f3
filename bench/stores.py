#!/usr/bin/env python3
"""Compares the two stores of a base, SQLite and PostgreSQL: load time, size, each search with filters, recall of the HNSW indexes.

    cargo build --release
    python3 bench/stores.py --program target/release/pikerag                       # 100,000 passages, 1,000,000 sentences
    python3 bench/stores.py --program target/release/pikerag --passages 2000       # no index: it begins at 50,000 vectors

Both bases hold the same passages, written with a seed; an embedder within this script gives the same vectors to both. Texts and
vectors come in clusters, so neighbours are not random noise (bench/cluster/texts.py). The database is a real server
(crates/test-support/postgres/serve.py) with `fsync`.

Searches go through `pikerag serve`, one at a time, each with another question: words (BM25), meaning (vectors of passages), atoms
(vectors of sentences), auto; without a filter and with one that admits 1, 10 and 100 % of the passages. Processor time is that of the
server and of PostgreSQL. Recall is the share of the hits of an exact search that a search finds; for the exact search, the HNSW indexes
are switched off in the catalogue of the database.

`--place FOLDER` keeps the bases there, and a later run continues with them. `--migrate` copies the base into the database instead of
indexing it there. Prints Markdown, or JSON. Needs Linux and nothing but Python.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import random
import resource
import sys
import time

from cluster import texts
from cluster.postgres import Place, Server
from cluster.program import Program

KINDS = ("words", "meaning", "atoms", "auto")
FILTERS = {"none": None, "1 %": "folder=one", "10 %": "folder=one|ten", "100 %": "folder=one|ten|rest"}
SEARCH = "/api/v1/bases/default/search"
# One chunk for each passage.
SETTINGS = '[chat]\nmodel = "none"\nbase_url = "{url}"\n[embed]\nmodel = "clusters"\nbase_url = "{url}"\n[index]\natoms = ["sentences"]\nmax_tokens = 1000\nsummarize = []\noriginals = false\n'


def megabytes(folder):
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20, 1)


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Client:
    """Sends searches over one connection."""

    def __init__(self, server):
        host, port = server.url.removeprefix("http://").split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=600)

    def search(self, by, query, k, condition):
        body = {"query": query, "by": by, "k": k} | ({"filter": [condition]} if condition else {})
        self.connection.request("POST", SEARCH, json.dumps(body), {"content-type": "application/json"})
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise SystemExit(f"search by {by} with the filter {condition}: {reply.status} {text[:500]}")
        return [(hit["chunk"]["id"], hit["atom"]) for hit in json.loads(text)["hits"]]


def questions(seed, number):
    draw = random.Random(f"{seed}.questions")
    return [texts.question(draw) for _ in range(number)]


def measured(client, by, condition, asked, spent):
    """Milliseconds of searches, and of processor time for each."""
    took, before = [], spent()
    for query in asked:
        began = time.perf_counter()
        client.search(by, query, 8, condition)
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    at = lambda share: round(took[min(int(share * len(took)), len(took) - 1)], 2)
    return {"p50_ms": at(0.5), "p99_ms": at(0.99), "processor_ms": round((spent() - before) * 1000 / len(asked), 2)}


def searched(program, address, given, postgres=None):
    """The figures of each search, and the hits for the recall."""
    lines, hits = [], {}
    server = program.serve(address)
    try:
        client = Client(server)
        spent = lambda: server.processor_seconds() + (postgres.processor_seconds() if postgres else 0)
        warm = questions(f"{given.seed}.warm", 5)
        for by in given.kinds:
            for name, condition in FILTERS.items():
                measured(client, by, condition, warm, spent)
                lines.append({"by": by, "filter": name, **measured(client, by, condition, questions(f"{given.seed}.{by}.{name}", given.searches), spent)})
                print(lines[-1], file=sys.stderr)
        for by in ("meaning", "atoms"):
            for k in (10, 50):
                hits[f"{by} {k}"] = [client.search(by, query, k, None) for query in questions(f"{given.seed}.recall", given.searches)]
        memory = server.memory_mib()
    finally:
        server.stop()
    return {"searches": lines, "memory_mib": memory}, hits


def recall(exact, found):
    """The mean share of the exact hits that were found."""
    shares = [len(set(right) & set(got)) / len(right) for right, got in zip(exact, found) if right]
    return round(sum(shares) / len(shares), 4)


def loaded(program, address, postgres=None, copied=None):
    """Fills a base and returns seconds of the clock and of processors."""
    own, database, began = children_seconds(), postgres.processor_seconds() if postgres else 0, time.monotonic()
    if copied:
        program.run(address, "migrate", copied, address)
    else:
        program.run(address, "index", "docs")
    figures = {"load_s": round(time.monotonic() - began, 1), "program_s": round(children_seconds() - own, 1)}
    return figures | ({"database_s": round(postgres.processor_seconds() - database, 1)} if postgres else {})


def indexes(postgres, memory):
    """The HNSW indexes with their sizes and, with this much memory, the seconds to build each again."""
    found = []
    for name, size in postgres.query("SELECT c.oid::regclass, pg_relation_size(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw' ORDER BY 1", "pikerag"):
        found.append({"name": name, "mib": round(int(size) / 2**20, 1), "build_s": None})
        if memory:
            began = time.monotonic()
            postgres.query(f"SET maintenance_work_mem = '{memory}'; REINDEX INDEX {name}", "pikerag")
            found[-1]["build_s"] = round(time.monotonic() - began, 1)
    return found


def tables(postgres):
    """MiB of the largest tables, with their indexes."""
    sql = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pikerag'::regnamespace ORDER BY 2 DESC LIMIT 10"
    return {name: round(int(size) / 2**20, 1) for name, size in postgres.query(sql, "pikerag")}


@contextlib.contextmanager
def exact(postgres):
    """All searches compare each vector meanwhile."""
    these = "indexrelid IN (SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw')"
    postgres.query(f"UPDATE pg_index SET indisvalid = false WHERE {these}", "pikerag")
    try:
        yield
    finally:
        postgres.query(f"UPDATE pg_index SET indisvalid = true WHERE {these}", "pikerag")


def compared(place, given):
    done = place.folder / "loaded.json"
    report = json.loads(done.read_text()) if done.exists() else {"passages": given.passages, "seed": given.seed}
    # The address of the embedder belongs to the name of its vectors.
    report["port"] = texts.embedder(given.seed, report.get("port", 0))
    program = Program(given.program, place.folder / "program", SETTINGS.format(url=f"http://127.0.0.1:{report['port']}/v1"))
    docs = program.folder / "docs"
    if not docs.exists():
        texts.write(docs, given.passages, min(given.passages, 100), given.seed)
    report["text_mib"] = megabytes(docs)

    def keep(store, figures):
        report[store] = figures
        done.write_text(json.dumps(report))

    base = program.folder / "base"
    if "sqlite" not in report:
        keep("sqlite", loaded(program, base))
    # For the index of the sentences; `SETTINGS` allows less.
    settings = {"maintenance_work_mem": given.memory}
    if (place.folder / "database/PG_VERSION").exists():
        postgres = Server(place, "database", settings).start()
    else:
        postgres = place.server("database", **settings).start()
        postgres.create("pikerag")
    address = postgres.address("main", "pikerag")
    if "postgres" not in report:
        keep("postgres", loaded(program, address, postgres, base if given.migrate else None))
    if "indexes" not in report["postgres"]:
        keep("postgres", report["postgres"] | {"indexes": indexes(postgres, given.rebuild and given.memory)})
    report["sqlite"] |= {"mib": megabytes(base)}
    report["postgres"] |= {"mib": round(postgres.bytes("pikerag") / 2**20, 1), "tables": tables(postgres), "settings": postgres.settings}
    figures, of_sqlite = searched(program, base, given)
    report["sqlite"] |= figures
    figures, of_postgres = searched(program, address, given, postgres)
    report["postgres"] |= figures
    with exact(postgres):
        few = argparse.Namespace(**{**vars(given), "searches": given.exact, "kinds": [kind for kind in given.kinds if kind in ("meaning", "atoms")]})
        figures, of_exact = searched(program, address, few, postgres)
    report["exact"] = figures
    report["recall"] = {name: {"hnsw": recall(right, of_postgres[name]), "sqlite": recall(right, of_sqlite[name])} for name, right in of_exact.items()}
    return report


def markdown(report):
    sqlite, postgres = report["sqlite"], report["postgres"]
    lines = [f"{report['passages']} passages, {report['text_mib']} MiB of text.", "", "| | SQLite | PostgreSQL |", "| --- | ---: | ---: |"]
    lines += [f"| load, s | {sqlite['load_s']} | {postgres['load_s']} |"]
    lines += [f"| processor time of the program, s | {sqlite['program_s']} | {postgres['program_s']} |", f"| processor time of the database, s | | {postgres['database_s']} |"]
    lines += [f"| on disk, MiB | {sqlite['mib']} | {postgres['mib']} |", f"| memory of the server, MiB at most | {sqlite['memory_mib']} | {postgres['memory_mib']} |", ""]
    lines += ["| index | MiB | s to build again |", "| --- | ---: | ---: |"]
    lines += [f"| `{one['name']}` | {one['mib']} | {one['build_s'] or '–'} |" for one in postgres["indexes"]] or ["| none: fewer than 50,000 vectors | | |"]
    lines += ["", "| search | filter admits | p50 ms: SQLite, PostgreSQL, exact | p99 ms | processor ms |", "| --- | --- | ---: | ---: | ---: |"]
    of = lambda store: {(line["by"], line["filter"]): line for line in report[store]["searches"]}
    stores = [of(store) for store in ("sqlite", "postgres", "exact")]
    for by, name in stores[0]:
        cells = [[str(store[by, name][figure]) for store in stores if (by, name) in store] for figure in ("p50_ms", "p99_ms", "processor_ms")]
        lines.append(f"| {by} | {name} | {' | '.join(', '.join(cell) for cell in cells)} |")
    lines += ["", "| hits | recall of PostgreSQL | recall of SQLite |", "| --- | ---: | ---: |"]
    lines += [f"| {name} | {shares['hnsw']} | {shares['sqlite']} |" for name, shares in report["recall"].items()]
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--passages", type=int, default=100_000)
    arguments.add_argument("--searches", type=int, default=200, help="for each line")
    arguments.add_argument("--exact", type=int, default=50, help="searches for each line without an index")
    arguments.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--place", type=pathlib.Path, help="an empty folder for both bases, or that of an earlier run")
    arguments.add_argument("--memory", default="2GB", help="`maintenance_work_mem` of the database")
    arguments.add_argument("--no-rebuild", dest="rebuild", action="store_false", help="do not build the indexes again")
    arguments.add_argument("--migrate", action="store_true", help="copy the base into the database")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with Place(given.place and given.place.resolve()) as place:
        report = compared(place, given)
    print(json.dumps(report, indent=1) if given.json else markdown(report))


if __name__ == "__main__":
    sys.exit(main())
