#!/usr/bin/env python3
"""Disturbs the server of a model that pikerag runs itself, and prints what people see.

    cargo build
    python3 crates/test-support/local_llm/serve.py prepare FOLDER     # llama.cpp from a package, SmolLM2 (93 MB)
    python3 bench/model_server.py --program target/debug/pikerag --folder FOLDER

Each trial has a base of its own, with one document. The server is killed during a call and between calls, and stopped by
another process; its memory is limited; another program listens at the port that it was given; two processes ask at the same time; the command line asks
a base that a server of pikerag has open. Needs nothing but Python. Prints Markdown.
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

MODEL = "smollm2-135m"
QUESTION = "Who designed the KX-40 crane?"
SETTINGS = "[chat]\nreply_tokens = 128\n[embed]\nkind = 'none'\n[index]\natoms = ['sentences']\n"
# Takes the port that it is given before llama.cpp's server can, the first time.
THIEF = """#!/usr/bin/env python3
import os, pathlib, socket, sys, time
port = int(sys.argv[sys.argv.index("--port") + 1])
mark = pathlib.Path(__file__).with_suffix(".taken")
if not mark.exists():
    mark.touch()
    taken = socket.create_server(("127.0.0.1", port))
    taken.set_inheritable(True)
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    taken.close()
os.execv(os.environ["SERVE_PYTHON"], [os.environ["SERVE_PYTHON"], os.environ["SERVE_SCRIPT"], *sys.argv[1:]])
"""
# llama.cpp's server by its own arguments, from the Python package.
SCRIPT = """
import os, sys, threading, xllamacpp
of = lambda flag: sys.argv[sys.argv.index(flag) + 1]
params = xllamacpp.CommonParams()
params.model.path = of("--model")
params.hostnames = [of("--host")]
params.port = int(of("--port"))
params.api_keys = [os.environ["LLAMA_API_KEY"]]
params.n_ctx = int(of("--ctx-size"))
params.n_parallel = int(of("--parallel"))
params.use_jinja = True
server = xllamacpp.Server(params)
threading.Event().wait()
"""


class Place:
    """A folder with a document, an indexed base, and settings that name the model."""

    def __init__(self, program, folder, prepared):
        self.program, self.folder = program, folder
        models = folder / "data/pikerag/models"
        models.mkdir(parents=True)
        (models / f"{MODEL}.gguf").symlink_to(prepared / "model.gguf")
        self.environment = {
            **os.environ,
            "PIKERAG_LANG": "en",
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "data"),
            "VIRTUAL_ENV": str(prepared / "venv"),
            "OPENAI_MODEL": f"local:{MODEL}",
        }
        (folder / "docs").mkdir()
        (folder / "docs/crane.md").write_text("# KX-40\n\nThe KX-40 crane was designed by Ilse Brandt.\n")
        (folder / "pikerag.toml").write_text(SETTINGS)
        subprocess.run(self.command("--offline", "index", "docs"), cwd=folder, check=True, capture_output=True)

    def command(self, *arguments):
        return [self.program, "--base", "base", "--config", "pikerag.toml", *arguments]

    def start(self, *arguments, **more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment, **pipes, **more)

    def ask(self, **more):
        return self.start("ask", "-m", "naive-rag", "--quiet", QUESTION, **more)


def seen(process):
    """The exit code, the first line of the answer and the messages of a process."""
    answer, messages = process.communicate(timeout=600)
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    said = [line.strip() for line in messages.splitlines() if any(mark in line for mark in ("error", "WARN", "hint"))]
    return f"exit code {process.returncode}; {' / '.join(lines[:1] + said) or 'nothing'}"


def children(pid):
    """The processes below one, the nearest first."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def server_of(pid):
    """The process of the model's server below one, once it has read its weights."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for child in children(pid):
            with contextlib.suppress(OSError):
                if "gguf" in pathlib.Path(f"/proc/{child}/maps").read_text():
                    return child
        time.sleep(0.02)
    raise SystemExit("no server of a model was started")


def killed_during_a_call(place):
    process = place.ask()
    server = server_of(process.pid)
    time.sleep(1.5)
    os.kill(server, signal.SIGKILL)
    return seen(process)


@contextlib.contextmanager
def serving(place):
    server = place.start("serve", "--port", "0")
    try:
        yield server, server.stdout.readline().split("listening on ")[1].split(";")[0]
    finally:
        server.terminate()
        server.wait(timeout=60)


def asked(url):
    body = json.dumps({"question": QUESTION, "method": "naive-rag"}).encode()
    request = urllib.request.Request(f"{url}/api/v1/bases/default/ask", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            answer = json.load(reply)["answer"]
            return f"{reply.status}, {answer['written_by']['kind']}"
    except urllib.error.HTTPError as error:
        return f"{error.code}, {error.read().decode()[:200]}"


def killed_between_calls(place):
    with serving(place) as (server, url):
        first = asked(url)
        os.kill(server_of(server.pid), signal.SIGKILL)
        return f"before: {first}; after: {asked(url)}"


def stopped(place):
    with serving(place) as (server, url):
        first = asked(url)
        child = server_of(server.pid)
        stop = place.start("models", "stop")
        said, _ = stop.communicate(timeout=60)
        maps = pathlib.Path(f"/proc/{child}/maps")
        is_gone = "still there" if maps.exists() and "gguf" in maps.read_text() else "gone"
        return f"before: {first}; `models stop`: {said.strip().replace(str(server.pid), 'N')}, the server is {is_gone}; after: {asked(url)}"


def without_memory(place):
    limit = 200 << 20
    return seen(place.ask(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))))


def port_taken(place):
    thief = place.folder / "llama-server"
    thief.write_text(THIEF)
    thief.chmod(0o755)
    script = place.folder / "serve.py"
    script.write_text(SCRIPT)
    venv = pathlib.Path(place.environment["VIRTUAL_ENV"])
    place.environment |= {
        "SERVE_PYTHON": str(venv / "bin/python"),
        "SERVE_SCRIPT": str(script),
        "PATH": f"{place.folder}:{os.environ['PATH']}",
    }
    return seen(place.ask())


def two_processes(place):
    both = [place.ask(), place.ask()]
    return "; ".join(f"{name}: {seen(process)}" for name, process in zip(("one", "other"), both))


def base_shared(place):
    with serving(place) as (_, url):
        process = place.ask()
        return f"server: {asked(url)}; command line: {seen(process)}"


TRIALS = {
    "killed during a call (`kill -9`, as the kernel does without memory)": killed_during_a_call,
    "killed between two calls of a server": killed_between_calls,
    "`pikerag models stop` between two calls of a server": stopped,
    "memory limited to 200 MiB of data": without_memory,
    "its port is taken by another program": port_taken,
    "two processes ask at the same time": two_processes,
    "command line and server ask one base at the same time": base_shared,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="pikerag")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="what `serve.py prepare` made")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    print("| trial | what is seen | seconds |\n| --- | --- | ---: |")
    for name, trial in TRIALS.items():
        with tempfile.TemporaryDirectory() as folder:
            place = Place(program, pathlib.Path(folder), options.folder.resolve())
            began = time.monotonic()
            said = trial(place).replace(folder, "…").replace("|", "/")
            left = children(os.getpid())
            print(f"| {name} | {said}{'; processes left!' if left else ''} | {time.monotonic() - began:.1f} |", flush=True)


if __name__ == "__main__":
    main()
