#!/usr/bin/env python3
"""Puts load on two servers in turn and compares them: searches and questions of 1 to 256 clients, then small searches during all other work.

    cargo build --release
    python3 bench/server_load.py --program target/release/pikerag --before OLD/target/release/pikerag

Each program has a base of its own with the same documents, which it indexes itself. The two programs take turns for each
line of the table, so that other work on the machine affects both. The model is a stub in a process of its own. Processor
time is counted separately for the server and for the clients (this process). Every request must end in 200, or in 429 or
503 with `Retry-After`; anything else counts as wrong. The mixed case measures small searches of 4 clients while 8 exports
are open and unread, 50 files are uploaded, 60 pages are drawn and another process holds the writer's lock for 25 s. Needs
nothing but Python, and Linux for the figures. Prints Markdown, or JSON; the exit code is 1 if a request of `--program`
went wrong.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

BASE = "/api/v1/bases/default"
DIMENSIONS, THOUGHT, TICKS = 64, 0.05, os.sysconf("SC_CLK_TCK")
PORTS = ["Hamburg", "Rotterdam", "Shanghai", "Genoa", "Gdansk"]
QUERIES = [f"crane {n} of {PORTS[n % 5]}" for n in range(1000)]
VECTORS = [json.dumps([round(random.Random(f"{seed}.{at}").gauss(0, 1), 4) for at in range(DIMENSIONS)]) for seed in range(64)]
SAID = json.dumps({"answer": "forty tons", "rationale": "It says so.", "quotes": []})
CHAT = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}})


async def model(reader, writer):
    """An embedder that replies at once, and a chat model that gives one answer after 50 ms."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body, reply = json.loads(await reader.readexactly(length)), CHAT
            if "input" in body:
                texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                data = ",".join(f'{{"index": {at}, "embedding": {VECTORS[hash(text) % 64]}}}' for at, text in enumerate(texts))
                reply = f'{{"data": [{data}], "usage": {{"prompt_tokens": {len(texts)}}}}}'
            else:
                await asyncio.sleep(THOUGHT)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply.encode()))
            await writer.drain()


def models(port):
    async def serve():
        server = await asyncio.start_server(model, "127.0.0.1", 0, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def hold_lock(database, seconds, held):
    """Holds the writer's lock of a base, as another program could; `held` receives when it began."""
    connection = sqlite3.connect(database, timeout=60, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    held.send(time.time())
    time.sleep(seconds)
    connection.execute("ROLLBACK")


def pdf(pages):
    """A PDF with a line of text on each of its pages."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    for page in range(pages):
        content = f"BT /F1 12 Tf 50 700 Td (Page {page} of the manual of crane {page}.) Tj ET"
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents {len(objects) + 2} 0 R>>")
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(f'{4 + 2 * page} 0 R' for page in range(pages))}]/Count {pages}>>"
    file, offsets = "%PDF-1.7\n", ""
    for number, text in enumerate(objects, 1):
        offsets += f"{len(file):010} 00000 n \n"
        file += f"{number} 0 obj\n{text}\nendobj\n"
    size = len(objects) + 1
    return f"{file}xref\n0 {size}\n0000000000 65535 f \n{offsets}trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF".encode()


class Server:
    """A program as a server over a base that it indexed itself."""

    def __init__(self, name, program, place, documents, models):
        self.name, self.place = name, place
        settings = f'[chat]\nmodel = "stub"\nbase_url = "{models}"\nin_flight = 64\n[embed]\nmodel = "stub-embedding"\nbase_url = "{models}"\n[index]\natoms = ["sentences"]\n'
        (place / "docs").mkdir(parents=True)
        (place / "pikerag.toml").write_text(settings)
        for n in range(documents):
            lines = [f"# Crane {n}"] + [f"Part {part} of crane {n} of {PORTS[n % 5]} lifts {n + part} tons. It was built in {1900 + (n + part) % 100}." for part in range(12)]
            (place / "docs" / f"crane-{n}.md").write_text("\n\n".join(lines))
        variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": str(place / "pikerag.toml")}
        run = dict(cwd=place, env=variables, stderr=open(place / "log", "ab"))
        subprocess.run([program, "--base", "base", "index", "docs"], stdout=subprocess.DEVNULL, check=True, **run)
        self.process = subprocess.Popen([program, "--base", "base", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, **run)
        self.address = self.process.stdout.readline().split("http://")[1].split(";")[0].split()[0]
        self.host, self.port = self.address.split(":")

    def get(self, path, body=None, method=None):
        request = urllib.request.Request(f"http://{self.address}{path}", body, {"content-type": "application/json"}, method=method)
        return json.load(urllib.request.urlopen(request, timeout=120))

    def figures(self):
        """Seconds of processor time, peak MiB, handles."""
        process = pathlib.Path(f"/proc/{self.process.pid}")
        stat = (process / "stat").read_text().rsplit(")")[1].split()
        peak = int((process / "status").read_text().split("VmHWM:")[1].split()[0])
        return (int(stat[11]) + int(stat[12])) / TICKS, peak >> 10, len(os.listdir(process / "fd"))

    def idle(self):
        """Waits until all jobs are over."""
        while any(job["stand"] in ("waiting", "running") for job in self.get(f"{BASE}/jobs")):
            time.sleep(0.2)


class Client:
    """Sends requests over one connection, and counts how each ended."""

    def __init__(self, server, tally):
        self.server, self.tally, self.reader, self.writer = server, tally, None, None

    async def send(self, method, path, body, patience=120):
        """Sends one request; a refused client pauses as `Retry-After` says, for a second at most."""
        began = time.perf_counter()
        try:
            status, pause = await asyncio.wait_for(self.exchange(method, path, body), patience)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError) as error:
            status, pause = type(error).__name__, None
            self.close()
        is_honest = status in (200, 202) or status in (429, 503) and pause is not None
        self.tally.append((status, time.perf_counter() - began, is_honest))
        if status != 200:
            await asyncio.sleep(min(float(pause or 0.1), 1))

    async def exchange(self, method, path, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.server.host, int(self.server.port))
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.server.address}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        if "content-length" in fields:
            await self.reader.readexactly(int(fields["content-length"]))
        elif fields.get("transfer-encoding") == "chunked":
            while size := int(await self.reader.readline(), 16):
                await self.reader.readexactly(size + 2)
            await self.reader.readline()
        if fields.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), fields.get("retry-after")

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


def summed(tally, seconds):
    """Throughput, percentiles of the answered requests, and the number of each status."""
    took = sorted(spent * 1000 for status, spent, _ in tally if status == 200) or [float("nan")]
    statuses = {}
    for status, _, _ in tally:
        statuses[str(status)] = statuses.get(str(status), 0) + 1
    refused, wrong = sum(status in (429, 503) for status, _, _ in tally), sum(not honest for _, _, honest in tally)
    at = lambda share: round(took[min(int(share * len(took)), len(took) - 1)], 2)
    return {"a_second": round(statuses.get("200", 0) / seconds, 1), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1), "statuses": statuses, "refused": refused, "wrong": wrong}


def body(kind, unique):
    """A new question, one of a thousand queries, or a new query."""
    new = f"crane {random.randrange(10**12)} of {random.choice(PORTS)}"
    sent = {"question": f"What does {new} lift?", "method": "naive-rag"} if kind == "ask" else {"query": new if unique else random.choice(QUERIES)}
    return json.dumps(sent).encode()


async def clients(server, kind, count, until, tally, unique=False):
    async def one():
        client = Client(server, tally)
        while time.perf_counter() < until:
            await client.send("POST", f"{BASE}/{kind}", body(kind, unique))
        client.close()

    await asyncio.gather(*(one() for _ in range(count)))


async def measure(server, kind, count, seconds):
    # Resets VmHWM, so that it counts from here on.
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    spent, own, began, tally, handles = server.figures()[0], time.process_time(), time.perf_counter(), [], 0
    load = asyncio.ensure_future(clients(server, kind, count, began + seconds, tally))
    while not load.done():
        handles = max(handles, server.figures()[2])
        await asyncio.wait([load], timeout=0.5)
    whole, (after, peak, _) = time.perf_counter() - began, server.figures()
    costs = {"server_s": round(after - spent, 2), "client_s": round(time.process_time() - own, 2), "seconds": round(whole, 1), "peak_mib": peak, "handles": handles}
    return {"kind": kind, "clients": count, "program": server.name, **summed(tally, whole), **costs}


async def export_unread(server, seconds):
    """Opens an export and reads its first line only: the status."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, (server.host, int(server.port)))
    reader, writer = await asyncio.open_connection(sock=raw, limit=1024)
    writer.write(f"GET {BASE}/export HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
    began, status = time.perf_counter(), "waiting"
    with contextlib.suppress(asyncio.TimeoutError, OSError):
        line = await asyncio.wait_for(reader.readline(), seconds)
        status = line.decode().split()[1] if line else "closed"
    await asyncio.sleep(max(began + seconds - time.perf_counter(), 0))
    writer.transport.abort()
    return status


async def mixed(server, parts, seconds=30):
    """Small searches of 4 clients during the `parts`, and alone, before and after them."""
    idle, busy, others, tasks, holder = [], [], {"upload": [], "page": []}, [], None
    await clients(server, "search", 4, time.perf_counter() + 10, idle, unique=True)
    source = next(one["id"] for one in server.get(f"{BASE}/sources") if one["uri"].endswith("manual.pdf"))
    began = time.perf_counter()
    exports = [asyncio.ensure_future(export_unread(server, seconds)) for _ in range(8 if "exports" in parts else 0)]
    searching = asyncio.ensure_future(clients(server, "search", 4, began + seconds, busy, unique=True))
    await asyncio.sleep(1)
    if "lock" in parts:
        receiver, sender = multiprocessing.Pipe(False)
        holder = multiprocessing.Process(target=hold_lock, args=(server.place / "base" / "base.sqlite", 25, sender), daemon=True)
        holder.start()
        await asyncio.to_thread(receiver.recv)
    start = lambda kind, *request: tasks.append(asyncio.ensure_future(Client(server, others[kind]).send(*request)))
    for n in range(50 if "uploads" in parts else 0):
        start("upload", "PUT", f"{BASE}/files/new-{n}-{time.time_ns()}.md", f"# New {n}\n\nCrane {n} is new.\n".encode())
    for n in range(60 if "pages" in parts else 0):
        start("page", "GET", f"{BASE}/sources/{source}/pages/{n % 20 + 1}", b"")
    await searching
    whole = time.perf_counter() - began
    await asyncio.gather(*tasks, *exports)
    if holder:
        await asyncio.to_thread(holder.join)
    await asyncio.to_thread(server.idle)
    await clients(server, "search", 4, time.perf_counter() + 10, idle, unique=True)
    sums = {"idle": summed(idle, 20), "busy": summed(busy, whole)} | {name: summed(tally, whole) for name, tally in others.items() if tally}
    ratio, wrong = round(sums["busy"]["p99_ms"] / sums["idle"]["p99_ms"], 2), sum(one["wrong"] for one in sums.values())
    return {"program": server.name, "parts": parts, **sums, "exports": [task.result() for task in exports], "ratio": ratio, "wrong": wrong}


async def run(given, servers):
    lines, mixes = [], []
    for kind in ("search", "ask"):
        for server in servers:
            await clients(server, kind, 8, time.perf_counter() + 2, [])
        for count in given.clients:
            for server in servers:
                lines.append(await measure(server, kind, count, given.seconds))
                print(lines[-1], file=sys.stderr)
    for server in servers if given.mixed_before else servers[:1]:
        server.get(f"{BASE}/files/manual.pdf", pdf(20), "PUT")
        server.idle()
        every = ["exports", "uploads", "pages", "lock"]
        for parts in [[one] for one in every] + [every] if given.apart else [every]:
            mixes.append(await mixed(server, parts))
            print(mixes[-1], file=sys.stderr)
    return {"seconds": given.seconds, "lines": lines, "mixed": mixes}


def markdown(figures):
    rows = ["| what | clients | program | a second | p50 ms | p99 ms | 429/503 | wrong | server s | clients s | peak MiB | handles |", "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    names = ("kind", "clients", "program", "a_second", "p50_ms", "p99_ms", "refused", "wrong", "server_s", "client_s", "peak_mib", "handles")
    rows += ["| " + " | ".join(str(line[name]) for name in names) + " |" for line in figures["lines"]]
    rows += ["", "| mixed: small searches of 4 clients | program | p50 idle | p99 idle | p50 then | p99 then | longest | p99 ratio | uploads | pages | exports | wrong |", "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- | ---: |"]
    for one in figures["mixed"]:
        counted = lambda name: ", ".join(f"{count} × {status}" for status, count in one[name]["statuses"].items()) if name in one else "–"
        exports = ", ".join(f"{one['exports'].count(status)} × {status}" for status in sorted(set(one["exports"]))) or "–"
        columns = (one["idle"]["p50_ms"], one["idle"]["p99_ms"], one["busy"]["p50_ms"], one["busy"]["p99_ms"], one["busy"]["max_ms"], one["ratio"])
        rows.append(f"| {', '.join(one['parts'])} | {one['program']} | " + " | ".join(map(str, columns)) + f" | {counted('upload')} | {counted('page')} | {exports} | {one['wrong']} |")
    return "\n".join(rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--before", help="the program to compare with")
    arguments.add_argument("--seconds", type=float, default=10, help="for each line")
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64, 256])
    arguments.add_argument("--documents", type=int, default=400)
    arguments.add_argument("--apart", action="store_true", help="also run each part of the mixed case alone")
    arguments.add_argument("--mixed-before", action="store_true", help="run the mixed case for both programs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    receiver, sender = multiprocessing.Pipe(False)
    multiprocessing.Process(target=models, args=(sender,), daemon=True).start()
    address = f"http://127.0.0.1:{receiver.recv()}/v1"
    programs = {"new": given.program, **({"before": given.before} if given.before else {})}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        servers = []
        for name, program in programs.items():
            servers.append(Server(name, str(pathlib.Path(program).resolve()), pathlib.Path(folder, name), given.documents, address))
            stack.callback(servers[-1].process.wait, 90)
            stack.callback(servers[-1].process.terminate)
        figures = asyncio.run(run(given, servers))
    print(json.dumps(figures, indent=1) if given.json else markdown(figures))
    wrong = [line for line in figures["lines"] + figures["mixed"] if line["program"] == "new" and line["wrong"]]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
