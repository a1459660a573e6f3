#!/usr/bin/env python3
"""Puts the same load as `bench/load.py` on the retrieval endpoint of a peer: Chroma's server, which searches vectors only, over as many made-up passages.

    python3 -m venv peer && peer/bin/pip install chromadb==1.5.9
    peer/bin/python bench/peer.py --oha ~/.cargo/bin/oha

Its index is approximate (HNSW). Queries come as vectors, so nothing is embedded. Prints Markdown.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import chromadb
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import load  # noqa: E402

PORT = 8799
BATCH = 1000


def server(folder):
    """Starts the server and waits until it answers; the process, a client, and the seconds."""
    program = pathlib.Path(sys.executable).with_name("chroma")
    began = time.perf_counter()
    process = subprocess.Popen([program, "run", "--path", folder, "--port", str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            client = chromadb.HttpClient(port=PORT)
            client.heartbeat()
            return process, client, time.perf_counter() - began
        except ValueError:
            time.sleep(0.02)


def memory(process):
    return int(pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) // 1024


def filled(client, n):
    collection = client.create_collection("passages", configuration={"hnsw": {"space": "cosine"}})
    draw, numbers = random.Random(2), numpy.random.default_rng(2)
    for first in range(0, n, BATCH):
        vectors = numbers.standard_normal((BATCH, load.DIMENSIONS), dtype=numpy.float32)
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
        ids = [str(first + at) for at in range(BATCH)]
        collection.add(ids=ids, embeddings=vectors, documents=[load.words(draw, 100) for _ in ids])
    return collection


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--oha", default="oha")
    arguments.add_argument("--chunks", type=int, default=100_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, client, started = server(folder)
        try:
            began = time.perf_counter()
            collection = filled(client, given.chunks)
            took, held = time.perf_counter() - began, memory(process)
            bodies = pathlib.Path(folder) / "bodies.jsonl"
            asked = [{"query_embeddings": [load.unit(random.Random(seed))], "n_results": 8, "include": ["documents", "distances"]} for seed in range(500)]
            bodies.write_text("".join(json.dumps(body) + "\n" for body in asked))
            path = f"/api/v2/tenants/default_tenant/databases/default_database/collections/{collection.id}/query"
            print(f"first byte after {started * 1000:.0f} ms; {given.chunks} passages came in {took:.0f} s, then {held} MiB\n\n| at once | a second | p50 ms | p99 ms | not 200 |\n| ---: | ---: | ---: | ---: | ---: |")
            for concurrency in (1, 16, 64):
                one = load.loaded(given.oha, f"http://127.0.0.1:{PORT}{path}", bodies, concurrency)
                print(f"| {concurrency} | {one['a_second']:.0f} | {one['p50_ms']:.1f} | {one['p99_ms']:.1f} | {one['wrong']} |", flush=True)
            print(f"\n{memory(process)} MiB then")
        finally:
            process.terminate()
            process.wait(timeout=30)


if __name__ == "__main__":
    main()
