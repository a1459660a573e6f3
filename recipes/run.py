#!/usr/bin/env python3
"""Trains a proposer from exported rows to a served model: `run.py DATA_DIR --model smollm2 --out OUT`.

MODEL is smollm2, a GGUF file, a transformers folder or a hub name. Other options go to train.py, such as `--seeds 1`.
The packages of requirements.txt come from this Python, or from an environment that the first run makes in the cache.
"""

import argparse
import importlib.util
import json
import shlex
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from from_gguf import BASE, PACKAGES, cache_folder
from serve import name_of, settings

HERE = Path(__file__).resolve().parent
MODULES = ("torch", "transformers", "trl", "peft", "datasets", "gguf", "matplotlib", "xllamacpp")


def python_with_packages() -> str:
    """This Python if it has all packages, otherwise that of the cache's environment."""
    if all(importlib.util.find_spec(module) for module in MODULES):
        return sys.executable
    folder = cache_folder() / "recipes" / "venv"
    python, done = folder / "bin" / "python", folder / "requirements.txt"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        print(f"installing requirements.txt into {folder}, once, about 6 GB with PyTorch for GPUs", flush=True)
        if not python.exists():
            venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "-r", str(HERE / "requirements.txt")]
        if subprocess.run(pip, check=False).returncode:
            raise SystemExit(f"{HERE / 'requirements.txt'}: pip cannot install it; check the network and the disk")
        done.write_text(wanted, encoding="utf-8")
    return str(python)


def step(python: str, script: str, *arguments: str) -> None:
    """Runs a script beside this one; exits with its code if it fails."""
    command = [python, str(HERE / script), *arguments]
    print("$", shlex.join(command), flush=True)
    if code := subprocess.run(command, check=False).returncode:
        raise SystemExit(code)


def base_folder(python: str, model: str, out: Path) -> str:
    """The transformers folder of the model; converts a GGUF file unless an earlier run has done so."""
    if model not in PACKAGES and not model.endswith(".gguf"):
        return model
    folder = out / "base" / Path(model).stem
    # from_gguf.py writes this file last.
    if not (folder / BASE).exists():
        step(python, "from_gguf.py", model, str(folder))
    return str(folder)


def best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The seed with the lowest validation loss, or training loss if there is none."""
    return min(runs, key=lambda run: run.get("eval_loss_last", run.get("loss_last", 0.0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--model", required=True, metavar="NAME_OR_FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--type", default="f16", help="of the GGUF file: f16, q8_0 or f32 (f16)")
    parser.add_argument("--port", type=int, default=28661, help="of the printed command (28661)")
    options, for_train = parser.parse_known_args()
    if not options.data.is_dir():
        raise SystemExit(f"{options.data}: no such folder; run `pikerag train export --format trl` first")
    options.out.mkdir(parents=True, exist_ok=True)
    python = python_with_packages()
    base = base_folder(python, options.model, options.out)
    step(python, "train.py", str(options.data), "--model", base, "--out", str(options.out), *for_train)
    runs = json.loads((options.out / "summary.json").read_text(encoding="utf-8"))["runs"]
    for run in runs:
        step(python, "to_gguf.py", run["merged"], str(gguf_file(options.out, run)), "--type", options.type)
    chosen = gguf_file(options.out, best(runs))
    serve = shlex.join([python, str(HERE / "serve.py"), str(chosen), "--port", str(options.port)])
    evaluate = shlex.join([python, str(HERE / "evaluate.py"), str(options.data)])
    print(f"\nServe the seed with the lowest loss:\n  {serve}")
    print(f"Count its correct replies:\n  {evaluate} --url http://127.0.0.1:{options.port}/v1")
    print(f"Settings for pikerag.toml:\n{settings(options.port, name_of(chosen))}")


def gguf_file(out: Path, run: dict[str, Any]) -> Path:
    """The GGUF file of a seed."""
    return out / f"proposer-{run['seed']}.gguf"


if __name__ == "__main__":
    main()
