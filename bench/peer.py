#!/usr/bin/env python3
"""Puts the same load as `bench/load.py` on the retrieval endpoint of a peer: Chroma's server, which searches vectors only, over as many made-up passages.

    python3 -m venv peer && peer/bin/pip install chromadb==1.5.9
    peer/bin/python bench/peer.py

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
import peers  # noqa: E402

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


class Chroma(peers.Server):
    """A running server of Chroma, for the clients of this folder."""

    def __init__(self, process, collection):
        self.name, self.process, self.draw = "chroma", process, random.Random(7)
        self.host, self.port, self.address = "127.0.0.1", PORT, f"127.0.0.1:{PORT}"
        self.path = f"/api/v2/tenants/default_tenant/databases/default_database/collections/{collection.id}/query"
        asked = [{"query_embeddings": [load.unit(random.Random(seed))], "n_results": 8, "include": ["documents", "distances"]} for seed in range(500)]
        self.bodies = [json.dumps(body).encode() for body in asked]

    def request(self, kind):
        return self.path, self.draw.choice(self.bodies)


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
    arguments.add_argument("--chunks", type=int, default=100_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, client, started = server(folder)
        try:
            began = time.perf_counter()
            collection = filled(client, given.chunks)
            took, own = time.perf_counter() - began, Chroma(process, collection)
            print(f"first byte after {started * 1000:.0f} ms; {given.chunks} passages came in {took:.0f} s, then {own.resident()} MiB\n\n| clients | a second | p50 ms | p99 ms | processor ms each | not 200 |\n| ---: | ---: | ---: | ---: | ---: | ---: |")
            for count in load.CLIENTS:
                one = load.measured(own, "meaning", count)
                print(f"| {count} | {one['a_second']} | {one['p50_ms']} | {one['p99_ms']} | {one['server_ms']} | {one['wrong']} |", flush=True)
            print(f"\n{own.resident()} MiB then")
        finally:
            process.terminate()
            process.wait(timeout=30)


if __name__ == "__main__":
    main()
