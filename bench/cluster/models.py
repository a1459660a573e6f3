"""Plays the models for many processes: counts each call, and knows which calls were under way at a given moment.

A chat reply takes `delay` seconds and fits the prompts of indexing and of answers. The key that asks is found by the word `asker…x`
of its questions, so what each key owes is known, whether or not anybody read the reply.
"""

import collections
import contextlib
import hashlib
import json
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# US dollars per token, of prompts and replies of all models.
PRICE = 1e-6
PROMPT_TOKENS, REPLY_TOKENS, TEXT_TOKENS = 300, 40, 5
DIMENSIONS = 16
SETTINGS = """[chat]
model = "stub"
base_url = "{url}"
reply_tokens = 1000
in_flight = 8
[embed]
model = "stub-embedding"
base_url = "{url}"
[index]
atoms = ["questions"]
summarize = []
[prices."stub"]
prompt = 1.0
completion = 1.0
[prices."stub-embedding"]
prompt = 1.0
"""


class Models(ThreadingHTTPServer):
    """The server of the models; `counts` are calls by the digest of their request."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, delay=0.02, host="127.0.0.1", unstored=0.1):
        super().__init__((host, 0), Handler)
        # For `unstored` seconds after its reply, a call counts as under way: nobody may have stored the reply yet.
        self.delay, self.unstored, self.lock = delay, unstored, threading.Lock()
        self.chats, self.texts, self.owed = collections.Counter(), collections.Counter(), collections.Counter()
        self.under_way, self.pardoned, self.disturbances = collections.Counter(), collections.Counter(), 0
        self.url = f"http://{host}:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that was killed is no error."""

    @contextlib.contextmanager
    def disturbed(self):
        """A call that is under way meanwhile may be paid once more, because its reply may be lost."""
        with self.lock:
            self.pardoned += self.under_way
            self.disturbances += 1
        try:
            yield
        finally:
            with self.lock:
                self.disturbances -= 1

    def reset(self):
        with self.lock:
            for counts in (self.chats, self.texts, self.owed, self.pardoned):
                counts.clear()

    def paid_twice(self):
        """The calls that were made again although none was under way at a kill, by what they ask."""
        with self.lock:
            counts = self.chats + self.texts
            return {call: count for call, count in counts.items() if 1 + self.pardoned[call] < count}

    def begin(self, calls, counts):
        with self.lock:
            for call in calls:
                counts[call] += 1
                self.under_way[call] += 1
                self.pardoned[call] += 0 < self.disturbances

    def end(self, calls):
        with self.lock:
            self.under_way -= collections.Counter(calls)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        body = json.loads(text)
        if "input" in body:
            calls = body["input"] if isinstance(body["input"], list) else [body["input"]]
            data = [{"index": at, "embedding": vector(one)} for at, one in enumerate(calls)]
            tokens = TEXT_TOKENS * len(calls)
            reply, counts = {"data": data, "model": "stub-embedding", "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}, self.server.texts
        else:
            calls, tokens = [f"{hashlib.sha256(text.encode()).hexdigest()} {text[-200:]}"], PROMPT_TOKENS + REPLY_TOKENS
            # A question of its own for each passage: equal texts are embedded once.
            crane = (re.findall(r"crane \w+", text) or ["crane"])[-1]
            answer = {"answer": "forty tons", "rationale": "It says so.", "quotes": [], "questions": [f"What does {crane} lift?"]}
            message = {"role": "assistant", "content": json.dumps(answer)}
            usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": REPLY_TOKENS, "total_tokens": tokens}
            reply, counts = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}, self.server.chats
        self.server.begin(calls, counts)
        # The call came, so it is owed.
        asker = re.search(r"asker\d+x", text)
        with self.server.lock:
            self.server.owed[asker.group() if asker else ""] += tokens * PRICE
        if counts is self.server.chats:
            time.sleep(self.server.delay)
        sent = json.dumps(reply).encode()
        try:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except OSError:
            pass
        finally:
            threading.Timer(self.server.unstored, self.server.end, [calls]).start()

    def log_message(self, *_):
        pass


def vector(text):
    draw = random.Random(text)
    return [draw.uniform(-1, 1) for _ in range(DIMENSIONS)]
