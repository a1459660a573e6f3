#!/usr/bin/env python3
"""Counts how often the passages that a slow model reads still hold the answer, after they were cut to its limit.

    cargo build
    python3 bench/contexts.py --program target/debug/pikerag --method auto-rag --reads 1024 \\
        --questions examples/vellmarsh/questions.jsonl --corpus examples/vellmarsh/docs

No model is needed: a server of this script replies at once, and the prompts are read from the ledger. `--reads` is the limit of a prompt in tokens,
which pikerag otherwise takes from the measured speed (rounded to a quarter of a power of two). An answer is held if the passages have one of its
notations, without white space and commas; questions that yes or no answers are left out. Needs nothing but Python. Prints one line.
"""

import argparse
import contextlib
import http.server
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import threading

# The tokens of the fixed part of a prompt, as pikerag counts them, and the seconds of an answer in the settings below.
FIXED, SECONDS = 329, 100
REPLY = json.dumps({"passage": 1, "answer": "x", "rationale": "", "lacking": None, "citations": []})
CLOSED = {"yes", "no", "是", "否", "less", "more"}


class Model(http.server.BaseHTTPRequestHandler):
    """Replies to every call with the same text."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def model():
    """The address of the model."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()


def plain(text):
    return re.sub(r"[\s,*|]", "", text.lower())


def answers_of(path):
    """The answers of each question that has some other than yes or no."""
    found = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            item = json.loads(line)
            answers = [plain(answer) for answer in item.get("answers") or []]
            found[item["question"].strip()] = [answer for answer in answers if answer not in CLOSED]
    return found


def prompts(ledger):
    """The question and the passages of each prompt."""
    with contextlib.closing(sqlite3.connect(ledger)) as base:
        for (request,) in base.execute("SELECT request FROM calls"):
            messages = json.loads(request)["messages"]
            text = "".join(str(message.get("content") or message.get("text")) for message in messages)
            _, _, rest = text.partition("# Context\n")
            passages, _, question = rest.rpartition("# Question\n")
            if passages:
                yield question.strip(), passages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--questions", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", required=True, type=pathlib.Path)
    parser.add_argument("--method", default="auto-rag")
    parser.add_argument("--reads", type=int, default=1024)
    parser.add_argument("--weights", help="weights of an embedder (default: the one that pikerag finds)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, model() as url:
        speed = {"read_tokens": options.reads - FIXED + 1, "read_micros": SECONDS * 1_000_000}
        speed |= {"written_tokens": 1_000_000, "written_micros": 1_000_000}
        paces = pathlib.Path(place, "state/pikerag/paces.json")
        paces.parent.mkdir(parents=True)
        paces.write_text(json.dumps({"stub": {"speed": speed}}), encoding="utf-8")
        settings = f'[chat]\nbase_url = "{url}"\nmodel = "stub"\nstream = false\nanswer_seconds = {SECONDS}\n'
        settings += '[index]\natoms = ["sentences"]\nsummarize = []\n'
        if options.weights:
            settings += f'[embed]\nkind = "local"\nweights = {json.dumps(os.path.abspath(options.weights))}\n'
        pathlib.Path(place, "pikerag.toml").write_text(settings, encoding="utf-8")
        command = [os.path.abspath(options.program), "--config", "pikerag.toml", "eval", "--out", "out", "--methods", options.method]
        command += ["--questions", str(options.questions.resolve()), "--corpus", str(options.corpus.resolve())]
        environment = {**os.environ, "XDG_STATE_HOME": f"{place}/state"}
        subprocess.run(command, check=True, cwd=place, env=environment, capture_output=True)
        known, held, letters = answers_of(options.questions), [], []
        for question, passages in prompts(f"{place}/out/base/base.sqlite"):
            if known.get(question):
                held.append(any(answer in plain(passages) for answer in known[question]))
                letters.append(len(passages))
    share = 100 * sum(held) / max(1, len(held))
    print(f"{options.method}, {options.reads} tokens: {sum(held)} of {len(held)} ({share:.0f} %), {sum(letters) // max(1, len(letters))} letters")


if __name__ == "__main__":
    main()
