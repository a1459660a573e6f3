#!/usr/bin/env python3
"""Kills the server at random moments during uploads, deletes, jobs, questions and changes of keys, and checks what it acknowledged.

    cargo build --release && python3 bench/server_kills.py --program target/release/pikerag --kills 1000

After each kill the server starts again. Once it is idle, the script checks: every acknowledged file is found; no forgotten
text is found or lies in any file of the base; no revoked key works, and every key that was made does; each key was charged
at least the cost of its calls, and no key with a cap paid more. A stub within this script plays the models and counts what
it is owed. `--after-kill COMMAND` runs a shell command between each kill and the next start, for example one that
simulates a loss of power for the file system of `--place FOLDER`. Prints one line of JSON; the exit code is 1 if anything was lost.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE = "/api/v1/bases/default"


# US dollars per token, of prompts and replies of all models, and the cap of a key that asks.
PRICE, CAP = 1e-6, 0.06
SETTINGS = """[chat]
model = "stub"
base_url = "{url}"
reply_tokens = 1000
[embed]
model = "stub-embedding"
base_url = "{url}"
[prices."stub"]
prompt = 1.0
completion = 1.0
[prices."stub-embedding"]
prompt = 1.0
"""


class Models(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that was killed is no error."""


class Model(BaseHTTPRequestHandler):
    """Replies to all calls, and counts what each key owes for them: a question contains the word of its key."""

    protocol_version = "HTTP/1.1"
    lock, owed, embedding_tokens = threading.Lock(), {}, 5

    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        body = json.loads(text)
        if "input" in body:
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            data = [{"index": at, "embedding": [random.Random(one + str(n)).uniform(-1, 1) for n in range(16)]} for at, one in enumerate(texts)]
            usage = {"prompt_tokens": self.embedding_tokens * len(texts), "total_tokens": self.embedding_tokens * len(texts)}
            reply = {"data": data, "model": "stub-embedding", "usage": usage}
        else:
            time.sleep(random.uniform(0, 0.05))
            answer = json.dumps({"answer": "forty tons", "rationale": "It says so.", "quotes": [], "questions": ["What does the crane lift?"]})
            usage = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}
            reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}], "usage": usage}
        sent = json.dumps(reply).encode()
        try:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except OSError:
            pass
        # The call came, so it is owed, whether or not the reply was read.
        asker = re.search(r"asker\d+x", text)
        with self.lock:
            owed, whose = self.owed, asker.group() if asker else "admin"
            owed[whose] = owed.get(whose, 0) + usage["total_tokens"] * PRICE

    def log_message(self, *_):
        pass


def variables(place):
    own = {"HOME": place, "XDG_STATE_HOME": place / "state", "PIKERAG_CONFIG": place / "pikerag.toml"}
    return {"PATH": os.environ["PATH"], **{name: str(path) for name, path in own.items()}}


class Server:
    def __init__(self, program, place, log):
        command = [program, "--base", "base", "serve", "--port", "0"]
        self.log = open(log, "ab")
        self.process = subprocess.Popen(command, cwd=place, env=variables(place), stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the server did not start: {line!r}, see {log}")
        self.url = re.search(r"http://[^\s;]+:\d+", line).group()

    def call(self, method, path, key, body=None, kind="application/json"):
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        head = {"Authorization": f"Bearer {key}", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=head)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (OSError, ValueError) as error:
            # Killed amid the request: nothing was acknowledged.
            return 0, repr(error).encode()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


class State:
    """What the server acknowledged, by the words that the files hold and the identifiers of keys."""

    def __init__(self):
        self.lock = threading.Lock()
        self.files, self.forgotten, self.forgetting = {}, set(), set()
        self.keys, self.revoked = {}, {}
        # Identifiers of keys for questions, by the words of their questions; the last key is in use.
        self.askers, self.asker, self.questions = {}, None, iter(range(10**9))
        self.statuses = {}

    def count(self, what, status):
        """Counts how a request ended; 0 is a request that the kill cut off."""
        with self.lock:
            counts = self.statuses.setdefault(what, {})
            counts[status] = counts.get(status, 0) + 1


def word(number):
    """A word of six syllables that belongs to this number only."""
    text = ""
    for _ in range(6):
        text += "bdfgklmnprtvwzjh"[number % 16] + "aiou"[number // 16 % 4]
        number //= 64
    return "Q" + text + "x"


def upload(server, state, admin, number):
    name, text = f"d{number % 40}/f{number}.md", word(number)
    body = f"# Note {number}\n\nThe crane {text} lifts {number} tons.\n".encode()
    status, _ = server.call("PUT", f"{BASE}/files/{name}", admin, body, "text/markdown")
    state.count("upload", status)
    if status in (200, 202):
        with state.lock:
            state.files[name] = text


def forget(server, state, admin, draw):
    with state.lock:
        if len(state.files) < 5:
            return
        name = draw.choice(sorted(state.files))
        text = state.files.pop(name)
        state.forgetting.add(text)
    status, _ = server.call("DELETE", f"{BASE}/files?file=base.uploads/{name}&forget=true", admin)
    state.count("forget", status)
    with state.lock:
        if status == 200:
            state.forgotten.add(text)
        elif 0 < status < 500:
            # It was not in the base yet. After an error of the server it is unknown how far the deletion came.
            state.files[name] = text
        if 0 < status < 500:
            state.forgetting.discard(text)


def change_keys(server, state, admin, draw):
    status, body = server.call("POST", "/api/v1/keys", admin, {"name": "k", "scope": "read"})
    if status in (200, 201):
        made = json.loads(body)
        with state.lock:
            state.keys[made["id"]] = made["key"]
    with state.lock:
        if len(state.keys) < 3 or draw.random() < 0.4:
            return
        name = draw.choice(sorted(state.keys))
        key = state.keys.pop(name)
    status, _ = server.call("DELETE", f"/api/v1/keys/{name}", admin)
    if status == 204:
        with state.lock:
            state.revoked[name] = key


def ask(server, state, admin):
    with state.lock:
        asker, number = state.asker, next(state.questions)
    if asker is None:
        status, body = server.call("POST", "/api/v1/keys", admin, {"name": "a", "scope": "read", "cap_usd": CAP})
        if status in (200, 201):
            made = json.loads(body)
            with state.lock:
                state.asker = (f"asker{number}x", made["key"])
                state.askers[state.asker[0]] = made["id"]
        return
    question = {"question": f"What does crane {number} of {asker[0]} lift?", "method": "naive-rag"}
    status, _ = server.call("POST", f"{BASE}/ask", asker[1], question)
    state.count("ask", status)
    with state.lock:
        if status == 402 and state.asker == asker:
            state.asker = None


def work(server, state, admin, stop, seed, numbers, uploads, has_questions, has_forgets):
    draw = random.Random(seed)
    while not stop.is_set():
        chance = draw.random()
        if chance < 0.3:
            if has_questions:
                ask(server, state, admin)
        elif chance < 0.65 and next(uploads) < 30:
            upload(server, state, admin, next(numbers))
        elif chance < 0.8:
            if has_forgets:
                forget(server, state, admin, draw)
        else:
            change_keys(server, state, admin, draw)


def idle(server, admin):
    for _ in range(1800):
        status, body = server.call("GET", f"{BASE}/jobs", admin)
        if status == 404:
            return
        jobs = json.loads(body)
        if status == 200 and not any(job["stand"] in ("waiting", "running") for job in jobs):
            return
        time.sleep(0.1)
    raise SystemExit(f"the jobs do not end: {body[:500]}")


def finds(server, admin, text):
    status, body = server.call("POST", f"{BASE}/search", admin, {"query": text, "by": "words", "k": 3})
    return status == 200 and text.encode() in body


def check(server, state, admin, place, faults, draw):
    def some(items):
        return draw.sample(sorted(items), min(15, len(items)))

    idle(server, admin)
    for name, text in some(state.files.items()):
        if not finds(server, admin, text):
            faults.setdefault(f"lost: {name}", text)
    for text in some(state.forgotten):
        if finds(server, admin, text):
            faults.setdefault("found again", text)
    held = b"".join(path.read_bytes() for path in sorted(place.glob("base*/**/*")) if path.is_file())
    for text in state.forgotten:
        if text.encode() in held:
            faults.setdefault(f"in a file: {text}", "")
    for name, key in some(state.revoked.items()):
        # Many wrong keys in a minute get 429 instead of 401.
        if server.call("GET", "/api/v1/bases", key)[0] == 200:
            faults.setdefault("a revoked key works", name)
    for name, key in some(state.keys.items()):
        if server.call("GET", "/api/v1/bases", key)[0] != 200:
            faults.setdefault("a key does not work", name)
    charges(server, state, admin, faults)


def charges(server, state, admin, faults):
    """Adds keys that were charged less than their calls cost, and those that paid more than their cap."""
    with Model.lock:
        owed = dict(Model.owed)
    status, body = server.call("GET", "/api/v1/keys", admin)
    if status != 200:
        faults.setdefault("keys are not listed", f"{status} {body[:300]}")
        return
    lines = {line["id"]: line for line in json.loads(body)["keys"]}
    charged = {name: line["spent_usd"] + line["reserved_usd"] for name, line in lines.items()}
    of_admin = next(name for name, line in lines.items() if line["name"] == "admin")
    for whose, dollars in owed.items():
        name = state.askers.get(whose, of_admin)
        if charged.get(name, 0) < dollars - 1e-9:
            faults.setdefault(f"unbooked: {whose}", f"owes {dollars:.6f}, charged {charged.get(name, 0):.6f}")
        if whose in state.askers and dollars > CAP + 1e-9:
            faults.setdefault(f"more than the cap: {whose}", f"owes {dollars:.6f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=1.5, help="the longest time until a kill")
    parser.add_argument("--embedding-tokens", type=int, default=5, help="tokens of an embedding")
    parser.add_argument("--place", help="an empty folder for the base and the keys")
    parser.add_argument("--log", help="a file for the output of the servers; by default one in that folder")
    parser.add_argument("--after-kill", help="a shell command to run after each kill")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    Model.embedding_tokens = options.embedding_tokens
    draw, state, faults = random.Random(options.seed), State(), {}
    began = time.time()
    models = Models(("127.0.0.1", 0), Model)
    models.daemon_threads = True
    threading.Thread(target=models.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as other:
        folder = options.place or other
        place, log = pathlib.Path(folder), options.log or pathlib.Path(folder, "server.log")
        with open(place / "pikerag.toml", "w") as file:
            file.write(SETTINGS.format(url=f"http://127.0.0.1:{models.server_port}/v1"))
            file.flush()
            os.fsync(file.fileno())
        make = [program, "--json", "keys", "make", "admin", "--scope", "admin"]
        made = subprocess.run(make, cwd=place, env=variables(place), stdout=subprocess.PIPE, text=True, check=True)
        admin = json.loads(made.stdout)["key"]
        numbers, reported = iter(range(1, 10**9)), set()
        for kill in range(options.kills):
            server, stop = Server(program, place, log), threading.Event()
            # Only questions, only forgetting, or both.
            kinds, uploads = draw.choice([(True, False), (False, True), (True, True)]), iter(range(10**9))
            threads = [
                threading.Thread(target=work, args=(server, state, admin, stop, draw.random(), numbers, uploads, *kinds))
                for _ in range(options.workers)
            ]
            for thread in threads:
                thread.start()
            # Forgetting rewrites the whole base, which takes longer than anything else.
            time.sleep(draw.uniform(0.05, options.seconds * (1 if kinds[0] else 4)))
            # Stops the clients first: files that a dead server is asked to forget would count as neither kept nor forgotten.
            stop.set()
            server.kill()
            for thread in threads:
                thread.join()
            if options.after_kill:
                subprocess.run(options.after_kill, shell=True, check=True)
            server = Server(program, place, log)
            try:
                check(server, state, admin, place, faults, draw)
            finally:
                server.kill()
            for fault in set(faults) - reported:
                print(f"after kill {kill + 1}: {fault}: {faults[fault]}", file=sys.stderr)
            reported |= set(faults)
            if len(faults) >= 20:
                break
            if kill % 20 == 19:
                print(f"{kill + 1} kills, {len(state.files)} files, {time.time() - began:.0f} s", file=sys.stderr)
    counts = {
        "kills": kill + 1, "files": len(state.files), "forgotten": len(state.forgotten), "revoked": len(state.revoked),
        "keys": len(state.keys), "owed_usd": round(sum(Model.owed.values()), 4), "statuses": state.statuses, "seconds": round(time.time() - began), "faults": faults,
    }
    print(json.dumps(counts))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
