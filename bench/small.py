#!/usr/bin/env python3
"""Asks the three questions of `demo.sh` with a small model, and prints seconds and tokens of each.

    cargo build --release
    python3 bench/small.py --program target/release/pikerag --settings small.toml

`small.toml` names the model, such as `[chat]` with `model = "local:qwen2.5-coder-1.5b"` (`pikerag models pull`). The script
indexes the harbour documents in a temporary folder, starts one server, and lets `doctor` measure the model first, so that no
question waits for the start. Seconds to the first token are those until the first words of the answer arrive. Prompt tokens
are those of all calls of a question; cached ones were not read again (only endpoints that report them). Each line of the table is one
question, in the order asked. Other work on the machine changes the seconds. Needs nothing but Python. Prints Markdown.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.request

DOCUMENTS = pathlib.Path(__file__).resolve().parent.parent / "examples/harbour/docs"
DRAFTS = ("Reasons so far:", "Draft, not checked yet:", "目前的理由：", "草稿（尚未核对）：")
QUESTIONS = [
    "How is the KX-40 shipped?",
    "In which town is the supplier of the KX-40's slewing bearing?",
    "青砚公司的标定室在哪里办公？",
]
BASE = "/api/v1/bases/default"


def send(url, body=None):
    """Sends a request, with a JSON body if there is one, and returns the open response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=3600)


def ask(url, method, question):
    """The answer, the seconds until its first words, and those until its end."""
    messages = [{"role": "user", "content": question}]
    model = f"pikerag/{method}" if method else "pikerag"
    began, first, answer = time.monotonic(), None, []
    with send(f"{url}/v1/chat/completions", {"model": model, "messages": messages, "stream": True}) as reply:
        for line in reply:
            text = line.decode().strip()
            if not text.startswith("data: ") or text == "data: [DONE]":
                continue
            for choice in json.loads(text[6:]).get("choices", []):
                delta = choice.get("delta", {})
                words = delta.get("content")
                # Drafts come in the lines of reasoning, marked as such.
                if words or any(mark in (delta.get("reasoning_content") or "") for mark in DRAFTS):
                    first = first or time.monotonic() - began
                if words:
                    answer.append(words)
    took = time.monotonic() - began
    return "".join(answer), first or took, took


@contextlib.contextmanager
def serving(program, arguments, environment):
    """The address of a server, which ends afterwards."""
    server = subprocess.Popen(
        [program, *arguments, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield server.stdout.readline().split("listening on ")[1].split(";")[0]
    finally:
        server.terminate()
        server.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="pikerag")
    parser.add_argument("--settings", required=True, type=pathlib.Path, help="a settings file that names the model")
    parser.add_argument("--method", default="", help="a method; default: that of `ask`")
    parser.add_argument("--no-doctor", action="store_true", help="leave out the measurement, and the cut of contexts with it")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own for measured speeds, so that each run of the script begins alike.
        environment = {**os.environ, "PIKERAG_LANG": "en", "XDG_STATE_HOME": folder}
        arguments = ["--base", f"{folder}/base", "--config", str(options.settings.resolve())]
        # Indexed without the model: its questions would take hours.
        index = [program, *arguments, "--offline", "index", str(DOCUMENTS)]
        subprocess.run(index, check=True, stdout=subprocess.DEVNULL, env=environment)
        with serving(program, arguments, environment) as url:
            if not options.no_doctor:
                for found in json.load(send(f"{url}{BASE}/doctor", {})):
                    if found["check"] in ("chat", "speed", "reader"):
                        print(f"{found['check']}: {found['says']}")
                print()
            print("| question | s to first token | s to answer | calls | prompt tokens | of them cached | reply tokens | passages cut | answer |")
            print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")
            for question in QUESTIONS:
                answer, first, took = ask(url, options.method, question)
                run = json.load(send(f"{url}{BASE}/runs?limit=1"))[0]
                paid = run["cost"]["paid"]
                calls = sum(count for count, _ in paid["by_role"].values())
                prompt = sum(used["prompt_tokens"] for _, used in paid["by_role"].values())
                reply = sum(used["completion_tokens"] for _, used in paid["by_role"].values())
                events = json.load(send(f"{url}{BASE}/runs/{run['id']}")).get("events", [])
                cuts = [event["note"] for event in events if isinstance(event.get("note"), dict)]
                cuts = [f"{note['passages']} of {note['of']}" for note in cuts if note.get("note") == "context_cut"]
                answer = " ".join(answer.split()).replace("|", "/")[:80]
                print(
                    f"| {question} | {first:.1f} | {took:.1f} | {calls} | {prompt} | {paid.get('cached_tokens', 0)} | {reply} | "
                    f"{', '.join(cuts) or 'no'} | {answer} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
