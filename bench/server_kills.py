#!/usr/bin/env python3
"""Kills the server at random moments amid uploads, deletes and changes of keys, and checks what it acknowledged.

    cargo build --release && python3 bench/server_kills.py --program target/release/pikerag --kills 1000

After each kill the server is started again, and once it is idle: every acknowledged file is found, no text that was
forgotten is found or lies in any file of the base, no revoked key opens anything, every key that was made does.
Needs no model. Prints one line of JSON; the exit code is 1 where anything was lost.
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

BASE = "/api/v1/bases/default"


class Server:
    def __init__(self, program, place):
        variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
        command = [program, "--offline", "--base", "base", "serve", "--port", "0"]
        self.log = open(place / "server.log", "ab")
        self.process = subprocess.Popen(command, cwd=place, env=variables, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the server did not start: {line!r}, see {place / 'server.log'}")
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


def word(number):
    """Six syllables that no other number has."""
    text = ""
    for _ in range(6):
        text += "bdfgklmnprtvwzjh"[number % 16] + "aiou"[number // 16 % 4]
        number //= 64
    return "Q" + text + "x"


def upload(server, state, admin, number):
    name, text = f"d{number % 40}/f{number}.md", word(number)
    body = f"# Note {number}\n\nThe crane {text} lifts {number} tons.\n".encode()
    status, _ = server.call("PUT", f"{BASE}/files/{name}", admin, body, "text/markdown")
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
    with state.lock:
        if status == 200:
            state.forgotten.add(text)
        elif status != 0:
            # It was not in the base yet.
            state.files[name] = text
        if status:
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


def work(server, state, admin, stop, seed, numbers):
    draw = random.Random(seed)
    while not stop.is_set():
        chance = draw.random()
        if chance < 0.6:
            upload(server, state, admin, next(numbers))
        elif chance < 0.75:
            forget(server, state, admin, draw)
        else:
            change_keys(server, state, admin, draw)


def idle(server, admin):
    for _ in range(600):
        status, body = server.call("GET", f"{BASE}/jobs", admin)
        if status == 404:
            return
        jobs = json.loads(body)
        if status == 200 and not any(job["stand"] in ("waiting", "running") for job in jobs):
            return
        time.sleep(0.1)
    raise SystemExit(f"jobs do not end: {body[:500]}")


def finds(server, admin, text):
    status, body = server.call("POST", f"{BASE}/search", admin, {"query": text, "by": "words", "k": 3})
    return status == 200 and text.encode() in body


def check(server, state, admin, place, faults, draw):
    def some(items):
        return draw.sample(sorted(items), min(15, len(items)))

    idle(server, admin)
    for name, text in some(state.files.items()):
        if not finds(server, admin, text):
            faults.append(f"lost: {name} ({text})")
    for text in some(state.forgotten):
        if finds(server, admin, text):
            faults.append(f"found again: {text}")
    held = b"".join(path.read_bytes() for path in sorted(place.glob("base*/**/*")) if path.is_file())
    faults.extend(f"in a file: {text}" for text in state.forgotten if text.encode() in held)
    for name, key in some(state.revoked.items()):
        # Many wrong keys in a minute get 429 instead of 401.
        if server.call("GET", "/api/v1/bases", key)[0] == 200:
            faults.append(f"revoked and good: {name}")
    for name, key in some(state.keys.items()):
        if server.call("GET", "/api/v1/bases", key)[0] != 200:
            faults.append(f"made and no good: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    draw, state, faults = random.Random(options.seed), State(), []
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        variables = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": str(place / "state")}
        make = [program, "--json", "keys", "make", "admin", "--scope", "admin"]
        made = subprocess.run(make, cwd=place, env=variables, capture_output=True, text=True, check=True)
        admin = json.loads(made.stdout)["key"]
        numbers = iter(range(1, 10**9))
        for kill in range(options.kills):
            server, stop = Server(program, place), threading.Event()
            threads = [
                threading.Thread(target=work, args=(server, state, admin, stop, draw.random(), numbers))
                for _ in range(options.workers)
            ]
            for thread in threads:
                thread.start()
            time.sleep(draw.uniform(0.05, 1.5))
            server.kill()
            stop.set()
            for thread in threads:
                thread.join()
            server = Server(program, place)
            check(server, state, admin, place, faults, draw)
            server.kill()
            if faults:
                break
            if kill % 20 == 19:
                print(f"{kill + 1} kills, {len(state.files)} files, {time.time() - began:.0f} s", file=sys.stderr)
    counts = {
        "kills": kill + 1, "files": len(state.files), "forgotten": len(state.forgotten), "revoked": len(state.revoked),
        "keys": len(state.keys), "seconds": round(time.time() - began), "faults": faults,
    }
    print(json.dumps(counts))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
