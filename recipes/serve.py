#!/usr/bin/env python3
"""Serves a GGUF file with llama.cpp's server, an OpenAI-compatible endpoint: `serve.py MODEL.gguf [--port 28661]`."""

import argparse
import hashlib
import os
import signal
from pathlib import Path


def settings(port: int, model: str) -> str:
    """The lines of pikerag.toml that send the role `propose` to the endpoint."""
    return f'[roles.propose]\nbase_url = "http://127.0.0.1:{port}/v1"\nmodel = "{model}"'


def name_of(model: Path) -> str:
    """A name that other weights do not have: pikerag keeps replies by the name of the model."""
    digest = hashlib.sha256()
    with model.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return f"{model.stem}-{digest.hexdigest()[:8]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--port", type=int, default=28661)
    parser.add_argument("--context", type=int, default=4096, help="tokens of one request (4096)")
    parser.add_argument("--parallel", type=int, default=2, help="requests at a time (2)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if not options.model.is_file():
        raise SystemExit(f"{options.model}: no such file; run to_gguf.py first")
    try:
        import xllamacpp
    except ImportError as error:
        raise SystemExit(f"{error}; run `pip install -r {Path(__file__).parent / 'requirements.txt'}`") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    name = name_of(options.model)
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_parallel = options.parallel
    params.n_ctx = options.parallel * options.context
    params.use_jinja = True
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = options.threads
        cpu.poll = 0  # no busy waiting
    server = xllamacpp.Server(params)
    print(
        f"listening on {server.listening_address}; Ctrl-C ends it\n{settings(options.port, name)}",
        flush=True,
    )
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    # The server's threads would delay a normal exit.
    os._exit(0)


if __name__ == "__main__":
    main()
