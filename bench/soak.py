#!/usr/bin/env python3
"""Runs a server under load for some minutes and prints its memory, descriptors, threads and the log of its database over
time, as JSON.

    cargo build --release
    python3 bench/soak.py --program target/release/pikerag --minutes 60 > soak.json

The stub of the tests plays the models if `--stub` names it (`cargo build --release -p pikerag-test-support --example stub`,
then `--stub target/release/examples/stub`); otherwise a small server within this script does. Needs nothing but Python, and
Linux for the figures.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORTS = ["Hamburg", "Rotterdam", "Shanghai", "Genoa", "Gdansk"]


class Model(BaseHTTPRequestHandler):
    """Replies as OpenAI's servers do: with vectors that depend on the text, and always the same answer."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/embeddings"):
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            data = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
            reply = {"data": data, "model": "stub", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        else:
            time.sleep(0.02)
            content = json.dumps({"answer": "forty tons", "rationale": "It is said so.", "sub_questions": [], "pick": 1})
            reply = {
                "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }
        sent = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


def vector(text):
    drawn = random.Random(text)
    return [drawn.uniform(-1, 1) for _ in range(64)]


def figures(process, folder):
    """Resident memory in MiB, open descriptors, threads, children, and the log of the database in MiB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    field = lambda name: int(next(line.split()[1] for line in status.splitlines() if line.startswith(name)))
    children = pathlib.Path(f"/proc/{process}/task/{process}/children")
    return {
        "memory_mib": round(field("VmRSS:") / 1024, 1),
        "descriptors": len(os.listdir(f"/proc/{process}/fd")),
        "threads": field("Threads:"),
        "children": len(children.read_text().split()) if children.exists() else None,
        "log_mib": round(pathlib.Path(folder, "base", "base.sqlite-wal").stat().st_size / 2**20, 1),
    }


class Load:
    """Clients that ask, search, export, upload and disconnect, until `stopped` is set."""

    def __init__(self, address, clients):
        self.address, self.stopped = address, threading.Event()
        self.lock, self.statuses, self.seconds = threading.Lock(), {}, []
        self.threads = [threading.Thread(target=self.client, args=(n,), daemon=True) for n in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        drawn = random.Random(number)
        while not self.stopped.is_set():
            began = time.monotonic()
            try:
                status = self.one(drawn)
            except OSError:
                status = 0
            except http.client.HTTPException:
                status = -1
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
                self.seconds.append(time.monotonic() - began)

    def one(self, drawn):
        base, port = "/api/v1/bases/default", drawn.choice(PORTS)
        kind = drawn.random()
        if kind < 0.5:
            return self.send("POST", f"{base}/search", {"query": f"crane of {port} {drawn.randrange(1000)}"})
        if kind < 0.8:
            question = {"question": f"What does crane {drawn.randrange(100)} of {port} lift?", "method": "naive-rag"}
            return self.send("POST", f"{base}/ask", question, leaves=drawn.random() < 0.2)
        if kind < 0.9:
            text = f"# Crane\n\nThe crane of {port} lifts {drawn.randrange(90)} tons.\n".encode()
            return self.send("PUT", f"{base}/files/sent/{drawn.randrange(50)}.md", text)
        if kind < 0.95:
            return self.send("GET", f"{base}/export", None, leaves=drawn.random() < 0.5)
        return self.send(f"M{drawn.randrange(10**9)}", f"{base}/sources", None)

    def send(self, method, path, body, leaves=False):
        connection = http.client.HTTPConnection(self.address, timeout=120)
        sent = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, sent, {"content-type": "application/json"})
        if leaves:
            time.sleep(0.01)
            connection.close()
            return 499
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status

    def took(self):
        """Statuses and times since the last call."""
        with self.lock:
            statuses, seconds = self.statuses, sorted(self.seconds)
            self.statuses, self.seconds = {}, []
        at = lambda share: round(seconds[int(share * (len(seconds) - 1))], 3) if seconds else None
        return {"statuses": statuses, "p50_s": at(0.5), "p99_s": at(0.99)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/pikerag")
    parser.add_argument("--stub", help="target/release/examples/stub")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=10, help="seconds between two measurements")
    parser.add_argument("--clients", type=int, default=16)
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())

    with tempfile.TemporaryDirectory() as folder:
        stub = None
        if arguments.stub:
            stub = subprocess.Popen([arguments.stub, f"{folder}/world"], stdout=subprocess.PIPE, text=True)
            models = stub.stdout.readline().split("OPENAI_BASE_URL=")[1].split()[0]
        else:
            server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            models = f"http://127.0.0.1:{server.server_port}/v1"
        for n in range(200):
            path = pathlib.Path(folder, "docs", f"crane-{n}.md")
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# Crane {n}\n\nCrane {n} of {PORTS[n % 5]} lifts {n} tons. It was built in {1900 + n % 100}.\n")
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": folder,
            "XDG_STATE_HOME": f"{folder}/state",
            "OPENAI_BASE_URL": models,
            "OPENAI_MODEL": "stub",
            "PIKERAG_EMBED_MODEL": "stub-embedding",
        }
        run = dict(cwd=folder, env=environment, stderr=subprocess.DEVNULL)
        subprocess.run([program, "--base", "base", "index", "docs"], stdout=subprocess.DEVNULL, check=True, **run)
        serving = subprocess.Popen(
            [program, "--base", "base", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, **run
        )
        try:
            address = serving.stdout.readline().split()[2].rstrip(";").removeprefix("http://")
            looks = [{"at_s": 0, **figures(serving.pid, folder)}]
            load, began = Load(address, arguments.clients), time.monotonic()
            while time.monotonic() - began < 60 * arguments.minutes:
                time.sleep(arguments.every)
                looks.append({"at_s": round(time.monotonic() - began), **figures(serving.pid, folder), **load.took()})
                print(looks[-1], file=sys.stderr)
            load.stopped.set()
            for thread in load.threads:
                thread.join(10)
            # The server gives back what it took for the load.
            time.sleep(15)
            looks.append({"at_s": round(time.monotonic() - began), "idle": True, **figures(serving.pid, folder), **load.took()})
            json.dump({"clients": arguments.clients, "looks": looks}, sys.stdout, indent=1)
            print()
        finally:
            serving.terminate()
            serving.wait(60)
            if stub:
                stub.terminate()


if __name__ == "__main__":
    main()
