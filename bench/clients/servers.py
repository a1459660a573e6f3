"""Starts the servers that the clients call, and stand-ins for the models behind them."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


def variables_of(place):
    """An environment with nothing of the machine's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": "pikerag.toml"}


@contextlib.contextmanager
def running(command, place, variables=None):
    """The address of a server on a free port, which ends afterwards."""
    command = [str(part) for part in [*command, "serve", "--port", "0"]]
    server = subprocess.Popen(command, cwd=place, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        first = server.stdout.readline()
        assert "listening on " in first, f"the server does not start: {first!r}"
        yield first.split("listening on ")[1].split(";")[0].strip()
    finally:
        server.terminate()
        server.wait(timeout=60)


@contextlib.contextmanager
def over_example(program):
    """A server over `examples/maintenance`: its address, and the environment in which a client runs."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        example = ROOT / "examples/maintenance"
        shutil.copytree(example / "docs", place / "docs")
        shutil.copy(example / "pikerag.toml", place / "pikerag.toml")
        variables, command = variables_of(place), [program, "--offline", "--base", "base"]
        subprocess.run([*command, "index", "docs"], cwd=place, env=variables, check=True, capture_output=True)
        with running(command, place, variables) as url:
            yield url, variables | {"BASE": str(place / "base"), "PLACE": folder}


@contextlib.contextmanager
def with_keys(program):
    """The address of a server that needs a key, a key, and a key for one request a minute."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "crane.md").write_text("# Crane\n\nThe crane of Hamburg lifts forty tons.\n")
        (place / "pikerag.toml").touch()
        variables, command = variables_of(place), [program, "--offline", "--base", "base"]
        subprocess.run([*command, "index", "crane.md"], cwd=place, env=variables, check=True, capture_output=True)
        keys = []
        for name, more in (("admin", ["--scope", "admin"]), ("rare", ["--per-minute", "1"])):
            subprocess.run([*command, "keys", "make", name, *more, "--into", f"{name}.key"], cwd=place, env=variables, check=True, capture_output=True)
            keys.append((place / f"{name}.key").read_text().strip())
        with running(command, place, variables) as url:
            yield url, *keys


class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, status, held):
        body = json.dumps(held).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Models(Handler):
    """Stands in for an embedder, with vectors of hashed words, and for a reranker: the shorter, the better."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/rerank"):
            scores = [1 / (1 + len(text)) for text in asked["documents"]]
            reply = {"results": [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]}
        else:
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            reply = {"data": [{"index": index, "embedding": self.vector(text)} for index, text in enumerate(texts)]}
        self.reply(200, reply | {"usage": {"prompt_tokens": 1, "total_tokens": 1}})

    def vector(self, text):
        numbers = [0.1] * 8
        for word in text.lower().split():
            numbers[hashlib.sha256(word.encode()).digest()[0] % 8] += 1.0
        return numbers


@contextlib.contextmanager
def stand_in(handler):
    """The address of models that this handler stands in for."""
    models = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    models.daemon_threads = True
    threading.Thread(target=models.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{models.server_port}/v1"
    finally:
        models.shutdown()
        models.server_close()


@contextlib.contextmanager
def with_models(program):
    """The address of a server that has an embedder and a reranker."""
    with tempfile.TemporaryDirectory() as folder, stand_in(Models) as address:
        place = pathlib.Path(folder)
        (place / "crane.md").write_text("# Crane\n\nThe crane of Hamburg lifts forty tons.\n")
        tables = "".join(f'[{name}]\nbase_url = "{address}"\nmodel = "stand-in"\n' for name in ("embed", "rerank"))
        (place / "pikerag.toml").write_text(tables)
        variables, command = variables_of(place), [program, "--base", "base"]
        subprocess.run([*command, "index", "crane.md"], cwd=place, env=variables, check=True, capture_output=True)
        with running(command, place, variables) as url:
            yield url


@contextlib.contextmanager
def with_slow_model(program, seconds):
    """The address of a server over the example whose model refuses each request, and takes this long for it."""

    class Slow(Handler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(seconds)
            self.reply(400, {"error": {"message": "refused"}})

    place = pathlib.Path(os.environ["PLACE"])
    with stand_in(Slow) as address:
        settings = place / "slow.toml"
        chat = f'[chat]\nbase_url = "{address}"\nmodel = "slow"\napi_key = "none"\n'
        settings.write_text((place / "pikerag.toml").read_text() + "\n" + chat)
        with running([program, "--config", settings, "--base", os.environ["BASE"]], place) as url:
            yield url


def asked(url):
    """The kept runs of the base, the newest first."""
    return json.load(urllib.request.urlopen(f"{url}/api/v1/bases/default/runs?limit=1000", timeout=60))


def check_cancelled(url):
    """The latest run was cancelled."""
    for _ in range(100):
        runs = asked(url)
        if runs and runs[0]["state"] != "running":
            break
        time.sleep(0.1)
    assert runs and runs[0]["state"] == "cancelled", runs[:1]
