"""Tries the operations of a client one by one and reports each as passed, refused or failed."""

import asyncio
import contextlib
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import traceback

from clients import servers

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
# Rules answer this question from 20 records, without a model.
QUESTION = "How many repairs were due to brake wear?"
ANSWER = "20 [1]"
# A passage of the example answers this one.
FACT = "How thin may a brake lining be before it is replaced?"


class Refused(str):
    """The server's words for a request that it does not serve."""


class Late(BaseException):
    """An operation takes too long. No client catches it."""


class NotTried(Exception):
    """An operation needs the result of another, which failed."""


class Missing(dict):
    """Results of earlier operations."""

    def __missing__(self, name):
        raise NotTried(f"not tried: the operation that gives `{name}` failed")


class Check:
    """One client against one server. `url` serves the example without a model."""

    def __init__(self, url, program, send):
        self.url, self.program, self.send = url, program, send
        self.kept = Missing()
        self._started, self._stack = {}, contextlib.ExitStack()
        # All operations share a loop, because asynchronous clients stay bound to theirs.
        self._loop = asyncio.new_event_loop()

    def operation(self, name, seconds=60):
        """Runs the decorated function at once. A text that it returns is a remark, a `Refused` a refusal; its exception is a failure. It may be asynchronous."""

        def run(act):
            self.send({"begins": name})
            try:
                with time_limit(seconds):
                    words = self._loop.run_until_complete(act()) if inspect.iscoroutinefunction(act) else act()
                self.report(name, "refused" if isinstance(words, Refused) else "passed", words or "")
            except (Exception, SystemExit, asyncio.CancelledError, Late) as error:
                traceback.print_exc(file=sys.stderr)
                self.report(name, "failed", reason(error))
            return act

        return run

    def report(self, name, result, words):
        self.send({"operation": name, "result": result, "words": " ".join(str(words).split())})

    def relay(self, *command):
        """Runs a program that prints a line of JSON for each operation, as `operations.mjs` does."""
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
        for line in process.stdout:
            self.send(json.loads(line)) if line.startswith("{") else print(line, end="", file=sys.stderr)
        assert process.wait() == 0, f"{pathlib.Path(str(command[1])).name} ended with {process.returncode}"

    def node(self, script, *arguments):
        """Runs a script of this folder with the packages of npm of this client."""
        self.relay("node", HERE / script, os.environ["NODE_FOLDER"], *arguments)

    def models_url(self):
        """A server with an embedder and a reranker."""
        return self._server("models", servers.with_models)

    def keys_url(self):
        """A server that needs a key: its address, a key, and a key that admits one request a minute."""
        return self._server("keys", servers.with_keys)

    def slow_url(self, seconds):
        """A server whose model takes this long and then refuses."""
        return self._server(f"slow{seconds}", lambda program: servers.with_slow_model(program, seconds))

    def _server(self, name, start):
        """Each server is started when it is first needed, and runs to the end of the check."""
        if name not in self._started:
            self._started[name] = self._stack.enter_context(start(self.program))
        return self._started[name]

    def close(self):
        self._stack.close()


@contextlib.contextmanager
def time_limit(seconds):
    def late(_signal, _frame):
        raise Late(f"no end within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    # Again each five seconds, because a client may swallow the first one while it cleans up.
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def reason(error):
    """An exception in one line, with the line of ours that raised it."""
    # Groups of exceptions come from asynchronous clients.
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    if isinstance(error, NotTried):
        return str(error)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if pathlib.Path(frame.filename).parent == HERE]
    # The text of Cohere's errors begins with all headers.
    text = str(error).split("status_code: ")[-1]
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, AssertionError):
        words = str(error) or f"not so: {own[-1].line if own else ''}"
    return f"{words[:1500]} ({pathlib.Path(own[-1].filename).name}:{own[-1].lineno})" if own else words[:1500]


def honoured_or_refused(call, is_honoured, words_of, *errors):
    """Calls the server: `is_honoured` holds for the result, or `words_of` an error of these classes are the refusal. A field without effect is a failure."""
    try:
        result = call()
    except errors as error:
        return Refused(words_of(error))
    if not is_honoured(result):
        print(result, file=sys.stderr)
        raise AssertionError("ignored in silence")
    return "honoured"
