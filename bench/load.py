#!/usr/bin/env python3
"""Measures a server over 100,000 passages: cold start, memory, searches and questions of several clients, the same while files are uploaded, and hundreds of streams.

    cargo bench -p pikerag-store --bench base -- busy      # makes the base: 100,000 chunks, 1,000,000 atoms, all with vectors
    python3 bench/load.py --program target/release/pikerag --large target/tmp/store-bench-v1-100000x10

This script plays the models: an embedder that answers at once, and a chat model that gives everybody the same answer after two seconds.
Questions (`ask`) have no chat model. Every request asks something new. Processor time is that of the server alone; the clients and the
models share the machine with it. Needs Linux and nothing but Python. Prints Markdown, or JSON.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import peers

# The embedder of the base, and the dimensions of its vectors.
EMBEDDER, DIMENSIONS = "synthetic", 384
SECONDS, CLIENTS = 20, (1, 8, 64)
BASE = "/api/v1/bases/default"


def unit(draw):
    vector = [draw.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(x * x for x in vector) ** 0.5
    return [round(x / length, 6) for x in vector]


VECTORS = [json.dumps(unit(random.Random(seed))) for seed in range(64)]


def word(draw):
    """Five syllables. The n-th most frequent word is 1/n times as frequent as the first, as in the texts of the base."""
    rank, text = int(100_000 ** draw.random()) - 1, ""
    for _ in range(4):
        text += "bdfgklmnprtvwzjh"[rank % 16] + "aiou"[rank // 16 % 4]
        rank //= 64
    return text + "ku"


def words(draw, n):
    return " ".join(word(draw) for _ in range(n))


class Server(peers.Server):
    """The program as a server. It answered `began` seconds after its start."""

    def __init__(self, program, place, settings):
        self.name, self.place, self.draw = "pikerag", place, random.Random(7)
        variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": str(place / settings)}
        command = [program, "--base", "base", "serve", "--port", "0"]
        started = time.perf_counter()
        self.process = subprocess.Popen(command, cwd=place, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().split("listening on ")[1].split(";")[0]
        self.address = self.url.removeprefix("http://")
        self.host, self.port = self.address.split(":")
        self.get("/health")
        self.began = time.perf_counter() - started

    def request(self, kind):
        text = words(self.draw, 6)
        if kind == "ask":
            return f"{BASE}/ask", json.dumps({"question": text}).encode()
        return f"{BASE}/search", json.dumps({"query": text, "by": kind, "k": 8}).encode()

    def get(self, path, body=None, method=None, timeout=300):
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        return json.load(urllib.request.urlopen(request, timeout=timeout))

    def peak(self):
        """The most memory so far, in MiB."""
        return self.figures()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=90)


def measured(server, kind, count):
    """A line of the table; `wrong` counts the replies other than 200."""
    line = asyncio.run(peers.measure(server, kind, count, SECONDS))
    line["wrong"] = sum(number for status, number in line["statuses"].items() if status != "200")
    line |= {"kind": kind, "meanwhile": ""}
    print(line, file=sys.stderr)
    return line


def loaded(server, kind):
    asyncio.run(peers.clients(server, kind, 1, time.perf_counter() + 1, []))
    return [measured(server, kind, count) for count in CLIENTS]


def while_indexing(server, kind):
    """Requests of eight clients while files of fifty passages are uploaded one after the other."""
    stop, came, draw = threading.Event(), [], random.Random(8)

    def send():
        while not stop.is_set():
            text = "\n\n".join(words(draw, 100) for _ in range(50)).encode()
            job = server.get(f"{BASE}/files/{kind}-{len(came)}.md", text, "PUT")["job"]
            finished(server, job)
            came.append(job)

    sender = threading.Thread(target=send)
    sender.start()
    line = measured(server, kind, 8)
    stop.set()
    sender.join()
    return line | {"meanwhile": f"{len(came)} files came"}


def embedded(n):
    """A reply with `n` vectors, of a few that were drawn beforehand."""
    data = ",".join(f'{{"index":{at},"embedding":{random.choice(VECTORS)}}}' for at in range(n))
    return f'{{"data":[{data}],"usage":{{"prompt_tokens":{n}}}}}'


async def model(reader, writer):
    """A chat model that gives everybody the same answer after two seconds, and an embedder."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            if "input" in body:
                content = embedded(len(body["input"]))
            else:
                await asyncio.sleep(2)
                answer = json.dumps({"answer": "forty tons", "rationale": "It says so.", "quotes": []})
                content = json.dumps({"choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}})
            reply = content.encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply))
            await writer.drain()


def models():
    """Runs both models on a thread of their own; their address."""
    loop, found = asyncio.new_event_loop(), queue.Queue()

    async def serve():
        server = await asyncio.start_server(model, "127.0.0.1", 0, backlog=1024)
        found.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    threading.Thread(target=loop.run_until_complete, args=[serve()], daemon=True).start()
    return f"http://127.0.0.1:{found.get()}/v1"


async def stream(url, question):
    """Seconds to the end of one stream, and how often the server was too busy; fails unless the stream ends with an answer."""
    host, port = url.split("//")[1].split(":")
    began, refused = time.perf_counter(), 0
    body = json.dumps({"model": "pikerag/naive-rag", "stream": True, "messages": [{"role": "user", "content": question}]}).encode()
    while True:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (host.encode(), len(body), body))
        reply = await asyncio.wait_for(reader.read(), 300)
        writer.close()
        if b" 429 " not in reply[:20]:
            break
        refused += 1
        await asyncio.sleep(int(reply.lower().split(b"retry-after: ")[1].split(b"\r\n")[0]))
    assert b" 200 OK" in reply[:20] and b"forty tons" in reply and b"[DONE]" in reply and b'"error"' not in reply, reply[-2000:]
    return time.perf_counter() - began, refused


async def streams(server, n):
    draw = random.Random(9)
    await stream(server.url, words(draw, 6))
    idle, began = server.resident(), time.perf_counter()
    took = await asyncio.gather(*(stream(server.url, words(draw, 6)) for _ in range(n)))
    whole = time.perf_counter() - began
    return {"streams": n, "seconds": whole, "slowest": max(seconds for seconds, _ in took), "refused": sum(refused for _, refused in took), "idle_mib": idle, "peak_mib": server.peak()}


def caught_up(server):
    """Seconds to index a first file, and whatever the base has left to do. Done once, so that later only new files are left."""
    began = time.perf_counter()
    finished(server, server.get(f"{BASE}/files/first.md", b"# First\n\nThe first.\n", "PUT")["job"])
    return time.perf_counter() - began


def finished(server, job):
    while (stand := server.get(f"{BASE}/jobs/{job}")["stand"]) in ("waiting", "running"):
        time.sleep(0.05)
    assert stand == "done", server.get(f"{BASE}/jobs/{job}")


def prepared(large, place, n):
    shutil.copytree(large, place / "base")
    url = models()
    embedder = f'[embed]\nmodel = "{EMBEDDER}"\nbase_url = "{url}"\n[index]\natoms = ["sentences"]\n'
    (place / "free.toml").write_text(embedder)
    (place / "pikerag.toml").write_text(f'[chat]\nmodel = "same"\nbase_url = "{url}"\nin_flight = {n}\n{embedder}')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--large", required=True, type=pathlib.Path)
    arguments.add_argument("--streams", type=int, default=500)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        prepared(given.large, place, given.streams)
        with Server(program, place, "free.toml") as server:
            figures = {"binary_mib": os.path.getsize(program) >> 20, "start_s": server.began, "idle_mib": server.resident()}
            began = time.perf_counter()
            server.get(f"{BASE}/search", {"query": words(random.Random(1), 6)})
            figures |= {"first_search_s": time.perf_counter() - began, "searched_mib": server.resident()}
            figures["caught_up_s"] = caught_up(server)
            figures["peak_mib"] = server.peak()
        with Server(program, place, "free.toml") as server:
            figures["lines"] = [line for kind in ("words", "meaning", "hybrid", "auto", "ask") for line in loaded(server, kind)]
            figures["loaded_mib"] = server.peak()
            time.sleep(60)
            figures["rested_mib"] = server.resident()
            figures["lines"] += [while_indexing(server, kind) for kind in ("auto", "ask")]
        with Server(program, place, "pikerag.toml") as server:
            figures["streams"] = asyncio.run(streams(server, given.streams))
    print(json.dumps(figures, indent=2) if given.json else markdown(figures))


def markdown(figures):
    lines = [f"binary {figures['binary_mib']} MiB; first byte after {figures['start_s'] * 1000:.0f} ms, with {figures['idle_mib']} MiB; first search {figures['first_search_s']:.1f} s, then {figures['searched_mib']} MiB; indexing a first file, with what the base had left to do, took {figures['caught_up_s']:.0f} s and at most {figures['peak_mib']} MiB; under the load below at most {figures['loaded_mib']} MiB, {figures['rested_mib']} MiB after a minute of rest", ""]
    lines += ["| what | clients | meanwhile | a second | p50 ms | p99 ms | processor ms each | cores used | resident MiB | not 200 |", "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    names = ("kind", "clients", "meanwhile", "a_second", "p50_ms", "p99_ms", "server_ms", "cores", "resident_mib", "wrong")
    lines += ["| " + " | ".join(str(one[name]) for name in names) + " |" for one in figures["lines"]]
    streams = figures["streams"]
    lines += ["", f"{streams['streams']} streams at once: all answered in {streams['seconds']:.1f} s, the slowest in {streams['slowest']:.1f} s, {streams['refused']} requests were refused with a time to come back; {streams['idle_mib']} MiB before, {streams['peak_mib']} MiB at most"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
