#!/usr/bin/env python3
"""Tests the training recipe from exports to a served model: TRL and LLaMA-Factory read real exports, SmolLM2 trains for a few steps, llama.cpp serves it.

    python3 bench/train_check.py --program target/release/pikerag [--steps 4] [--out DIR]

The first run installs `recipes/requirements.txt` into the cache, about 6 GB. Each step prints its seconds and its peak memory, which is that of its largest process. Exit code 0: all steps succeed; 1: a step fails.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import exports

ROOT = exports.ROOT
RECIPES = exports.RECIPES
LLAMA_FACTORY = ROOT / "bench/llamafactory.txt"
sys.path.insert(0, str(RECIPES))
sys.dont_write_bytecode = True

from from_gguf import cache_folder  # noqa: E402
from run import python_with_packages  # noqa: E402

# Name, seconds and peak memory in MB of each step.
STEPS = []


def ended(name, process, began):
    """Waits for a process, notes its time and memory, and returns its exit code."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    STEPS.append((name, time.monotonic() - began, peak))
    return process.returncode


def step(name, command, wanted=None, code=0, **variables):
    """Runs a command; ends the script unless it has the exit code and its output has the wanted words."""
    print(f"\n== {name}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **variables})
        found = ended(name, process, began)
        output.seek(0)
        text = output.read()
    # Without bars of progress, which end with their speed.
    shown = [line for line in re.split(r"[\r\n]", text) if line.strip() and not re.search(r"(it|examples)/s\b|s/it\b", line)]
    print("\n".join(shown)[-3000:], flush=True)
    if found != code or (wanted and wanted not in text):
        fail(f"{name}: exit code {found}, {code} expected" + (f", with {wanted!r} in the output" if wanted else ""))


def fail(problem):
    report()
    sys.exit(f"error: {problem}")


def report():
    print(f"\n{'step':<28} {'seconds':>8} {'MB':>6}")
    for name, seconds, peak in STEPS:
        print(f"{name:<28} {seconds:>8.1f} {peak:>6.0f}")


def llama_factory():
    """The folder with LLaMA-Factory, without its dependencies: its reader uses the packages of the recipe."""
    folder = cache_folder() / "recipes/llamafactory"
    done = folder / LLAMA_FACTORY.name
    if not done.exists() or done.read_text() != LLAMA_FACTORY.read_text():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps", "--require-hashes"]
        step("install LLaMA-Factory", [*pip, "--target", folder, "-r", LLAMA_FACTORY])
        done.write_text(LLAMA_FACTORY.read_text())
    return folder


def readers(python, place, base):
    """Each trainer reads the export of its format; one broken reply must be reported."""
    variables = {"PYTHONPATH": str(llama_factory()), "DISABLE_VERSION_CHECK": "1"}  # It asks for older packages.
    check = [python, "-B", RECIPES / "check.py"]
    step("read with TRL", [*check, place / "trl", "--load", "--tokenize", base])
    step("read as OpenAI documents", [*check, place / "openai", "--format", "openai", "--load"])
    rest = ["--format", "llama-factory", "--tokenize", base]
    step("read with LLaMA-Factory", [*check, place / "llama-factory", "--load", *rest], **variables)
    # A token of the chat template within a reply passes the rules of the format, and ends the reply too early.
    for format, file, column in (("trl", "train.jsonl", "completion"), ("llama-factory", "train.json", "output")):
        path = place / format / file
        before = path.read_text(encoding="utf-8")
        path.write_text(exports.first_row(lambda row: spoil(row, column), file)(before), encoding="utf-8")
        command = [*check, place / format, "--format", format, "--tokenize", base]
        step(f"report a break: {format}", command, wanted="the trainer learns", code=1, **variables)
        path.write_text(before, encoding="utf-8")


def spoil(row, column):
    if isinstance(row[column], str):
        row[column] = "<|im_end|>" + row[column]
    else:
        row[column][0]["content"] = "<|im_end|>" + row[column][0]["content"]


def train(python, data, out, steps):
    """Trains one seed and converts it; the second run must keep it."""
    options = ["--model", "smollm2", "--out", out, "--type", "q8_0", "--seeds", 1]
    options += ["--max-steps", steps, "--batch", 4, "--validations", 2]
    command = [python, "-B", RECIPES / "run.py", data, *options]
    step("train and convert", command, wanted="Settings for pikerag.toml")
    step("continue the run", command, wanted="finished by an earlier run")
    losses = [json.loads(line) for line in (out / "seed-42/log.jsonl").read_text(encoding="utf-8").splitlines()]
    n_validations = sum("eval_loss" in line for line in losses)
    if n_validations != 2:
        fail(f"train and convert: {n_validations} validations, 2 expected")


def served(python, data, model):
    """llama.cpp serves the model, and its replies to five rows are counted."""
    print("\n== serve and evaluate", flush=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([python, "-B", RECIPES / "serve.py", model, "--port", str(port)], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            if "listening on" not in server.stdout.readline():
                log.seek(0)
                fail(f"serve: the server does not start: {log.read()[-2000:]}")
            command = [python, "-B", RECIPES / "evaluate.py", data, "--url", f"http://127.0.0.1:{port}/v1", "--limit", 5]
            step("evaluate", command, wanted="rows: 5")
        finally:
            # `Popen.send_signal` would take the exit code of a server that has ended before.
            os.kill(server.pid, signal.SIGTERM)
            code = ended("serve", server, began)
    # The signal may reach a thread of the server that does not wait for it.
    if code not in (0, -signal.SIGTERM):
        fail(f"serve: exit code {code}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--steps", type=int, default=4, help="of the training (4)")
    arguments.add_argument("--out", type=pathlib.Path, help="a new folder for exports and models (a temporary one)")
    given = arguments.parse_args()
    began = time.monotonic()
    python = python_with_packages()
    STEPS.append(("install the recipe's packages", time.monotonic() - began, 0))
    with tempfile.TemporaryDirectory() as folder:
        place = (given.out or pathlib.Path(folder)).resolve()
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            sys.exit(f"{place} is not empty; name a new folder")
        began = time.monotonic()
        exports.export(str(pathlib.Path(given.program).resolve()), place)
        STEPS.append(("collect and export", time.monotonic() - began, 0))
        out = place / "out"
        base = out / "base/smollm2"
        step("read the base model", [python, "-B", RECIPES / "from_gguf.py", "smollm2", base])
        readers(python, place, base)
        train(python, place / "trl", out, given.steps)
        served(python, place / "trl", out / "proposer-42.gguf")
    report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
