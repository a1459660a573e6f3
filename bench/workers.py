#!/usr/bin/env python3
"""Measures how fast 1, 2, 4 and 8 workers index the same documents: documents and passages a second, processor time, calls, efficiency.

    cargo build --release && cargo build --release -p pikerag-test-support --example stub
    python3 bench/workers.py --program target/release/pikerag --stub target/release/examples/stub

The stub of the tests plays the models. Each of its replies takes `--delay` milliseconds. All processes over a database
share `in_flight`, which is `--in-flight` for each worker, as with an endpoint that grows along. So the stub and not the processor is the
limit, as with real models: the table shows how busy the processors were. For each
number of workers there is a new database; a server receives the uploads and queues them, and the clock runs from the request to index
them until all jobs are over. Efficiency is the time of one worker, divided by the time of N workers and by N. Each run must give the
same graph, and the same number of calls.

`--server-settings` adds lines to `[server]`. With 0 workers, the server indexes by itself. Prints Markdown, or JSON. Needs Linux.
"""

import argparse
import json
import subprocess
import sys
import time
import urllib.request

from cluster import models
from cluster.deployment import BASE, Deployment, word
from cluster.postgres import Place

LONGEST = 1800
PASSAGES = 5


def started(stub, folder, delay):
    """The process and the address of the stub."""
    process = subprocess.Popen([stub, str(folder), "0", str(delay)], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split("OPENAI_BASE_URL=")[1].split()[0]


def chats(url):
    """Chat calls so far."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/kinds", timeout=30) as reply:
        return sum(json.load(reply).values())


def document(number):
    """A document of long paragraphs, each of which becomes a passage."""
    lines = [f"# Log of crane {word(number)}"]
    for part in range(PASSAGES):
        sentences = [f"On day {day} of year {part} the crew of crane {word(number)} noted the load of {number + day} tons in the book of the harbour." for day in range(8)]
        lines.append(f"## Year {part}\n\n{' '.join(sentences)}")
    return "\n\n".join(lines).encode()


def measured(given, url, count):
    # Otherwise the server is a further worker.
    server_settings = given.server_settings + ("\nrun_jobs = false" if count else "")
    own = argparse.Namespace(**{**vars(given), "workers": count, "servers": 1, "server_settings": server_settings})
    with Place() as place:
        deployment = Deployment(own, place, f"workers-{count}", url)
        try:
            for number in range(given.documents):
                status, body = deployment.get(f"{BASE}/files/log-{number}.md?hold=true", document(number), "PUT", kind="text/markdown")
                if status not in (200, 202):
                    raise SystemExit(f"upload: {status} {body[:500]}")
            if ended := deployment.ended():
                raise SystemExit(f"a worker or server ended at once:\n{ended[0]}")
            everyone = [*deployment.workers, *deployment.servers]
            spent = lambda: (sum(one.processor_seconds() for one in everyone), deployment.database.processor_seconds())
            program, database, calls, began = *spent(), chats(url), time.monotonic()
            deployment.get(f"{BASE}/index", {}, "POST")
            jobs = deployment.idle(LONGEST)
            seconds = time.monotonic() - began
            if jobs is None or any(job["stand"] != "done" for job in jobs):
                raise SystemExit(f"{count} workers: not all jobs are done: {json.dumps(jobs)[:1000]}")
            program, database = (after - before for after, before in zip(spent(), (program, database)))
            summary = json.loads(deployment.get("/api/v1/bases/default")[1])["summary"]
            lines = deployment.export()
        finally:
            for running in [*deployment.workers, *deployment.servers]:
                running.stop()
    figures = {"workers": count, "seconds": round(seconds, 2), "documents_a_second": round(given.documents / seconds, 1), "passages_a_second": round(summary["chunks"] / seconds, 1)}
    figures |= {"calls": chats(url) - calls, "program_s": round(program, 2), "database_s": round(database, 2), "cores": round((program + database) / seconds, 2)}
    return figures, lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--stub", required=True)
    arguments.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    arguments.add_argument("--documents", type=int, default=200)
    arguments.add_argument("--delay", type=int, default=200, help="milliseconds of each reply")
    arguments.add_argument("--in-flight", type=int, default=4, help="calls at a time, for each worker")
    arguments.add_argument("--worker", default="worker", help="the command of a worker")
    arguments.add_argument("--server-settings", default="", help="lines for `[server]`")
    arguments.add_argument("--one-folder", action="store_true", help="all processes share a folder, as versions before uploads in the database need")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    results, graphs, usual = [], {}, models.SETTINGS
    for count in given.workers:
        models.SETTINGS = usual.replace("in_flight = 8", f"in_flight = {given.in_flight * max(count, 1)}")
        # A stub of its own for each run, because it recognises repeated calls.
        with Place() as place:
            process, url = started(given.stub, place.folder / "world", given.delay)
            try:
                figures, graphs[count] = measured(given, url, count)
            finally:
                process.terminate()
                process.wait()
        results.append(figures)
        first = results[0]
        figures["efficiency"] = round(first["seconds"] * max(first["workers"], 1) / figures["seconds"] / max(count, 1), 2)
        print(figures, file=sys.stderr)
    # The name of an embedder contains the address of its stub.
    plain = lambda lines: [line.split(b',"embedder"')[0] for line in lines]
    differ = [count for count in graphs if plain(graphs[count]) != plain(graphs[given.workers[0]])]
    print(json.dumps({"runs": results, "other_graphs": differ}, indent=1) if given.json else markdown(results))
    if differ:
        print(f"other graphs: {differ}", file=sys.stderr)
    return 1 if differ or len({one["calls"] for one in results}) != 1 else 0


def markdown(results):
    columns = ("workers", "seconds", "documents_a_second", "passages_a_second", "efficiency", "calls", "program_s", "database_s", "cores")
    rows = [f"| {' | '.join(name.replace('_', ' ') for name in columns)} |", "|" + " ---: |" * len(columns)]
    return "\n".join(rows + [f"| {' | '.join(str(one[name]) for name in columns)} |" for one in results])


if __name__ == "__main__":
    sys.exit(main())
