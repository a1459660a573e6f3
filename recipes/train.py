#!/usr/bin/env python3
"""Fine-tunes a causal language model with TRL and LoRA: `train.py DATA_DIR --model NAME_OR_FOLDER --out OUT`.

Defaults are those of PIKE-RAG §6.4: LoRA r 16 and alpha 64, learning rate 1.5e-5, three seeds, else TRL's defaults.
Each seed gets OUT/seed-N/ with the adapter, the merged weights and log.jsonl; OUT/ gets loss.svg and summary.json.
A run with the same options continues: it keeps the finished seeds in OUT.
"""

import argparse
import gc
import hashlib
import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from curve import draw
from from_gguf import BASE, link_or_copy
from rows import data_file, rows

FIRST_SEED = 42  # TRL's default
RECORD = "run.json"  # of a finished seed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--model", required=True, metavar="NAME_OR_FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kind", choices=("sft", "dpo"), default="sft")
    parser.add_argument("--seeds", type=int, default=3, help="number of runs (3)")
    parser.add_argument("--learning-rate", type=float, default=1.5e-5, help="1.5e-5; RA-ISF's sub-models: 5e-4")
    parser.add_argument("--epochs", type=float, default=3.0, help="3")
    parser.add_argument("--max-steps", type=int, default=-1, help="end after N steps instead of the epochs")
    parser.add_argument("--batch", type=int, default=8, help="rows in a step (8)")
    parser.add_argument("--max-length", type=int, default=1024, help="tokens of a row (1024)")
    parser.add_argument("--validations", type=int, default=5, help="in a run, with its begin and end (5)")
    parser.add_argument("--recompute", action="store_true", help="less memory, more time; always on with a GPU")
    parser.add_argument("--fresh", action="store_true", help="train finished seeds again")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="of the base weights")
    return parser.parse_args()


def check_model(model: str) -> None:
    """Exits if the model is a folder or file that transformers cannot read; any other text is a hub name."""
    path = Path(model)
    if path.is_file():
        raise SystemExit(f"{path}: train.py reads folders; run from_gguf.py for a GGUF file")
    if path.is_dir():
        if not (path / "config.json").exists():
            raise SystemExit(f"{path}: no config.json; give the folder of a transformers model")
        os.environ["HF_HUB_OFFLINE"] = "1"
    elif model == "smollm2" or model.startswith((".", "/")):
        raise SystemExit(f"{model}: no such folder; run from_gguf.py first, or run.py, which does it")


def lora() -> Any:
    """The adapter of PIKE-RAG §6.4; TRL adds dropout 0.05 and leaves the modules to PEFT (q and v for Llama)."""
    from trl import ModelConfig, get_peft_config

    return get_peft_config(ModelConfig(use_peft=True, lora_r=16, lora_alpha=64))


def settings(options: argparse.Namespace, folder: Path, seed: int, n_rows: int, is_evaluated: bool) -> Any:
    """TRL's settings; everything that is not named here keeps its default. TRL pads a batch to its longest row."""
    import torch
    from trl import DPOConfig, SFTConfig

    has_gpu = torch.cuda.is_available()
    steps = options.max_steps if options.max_steps > 0 else math.ceil(n_rows / options.batch) * options.epochs
    # Rows of similar length share a batch, so that fewer tokens are padding. DPO's rows have no single length.
    # With this order, `data_seed` draws the batches of the validation alone: all seeds have the same ones.
    grouped = {"train_sampling_strategy": "group_by_length", "data_seed": FIRST_SEED}
    is_sft = options.kind == "sft"
    return (SFTConfig if is_sft else DPOConfig)(
        output_dir=str(folder),
        seed=seed,
        learning_rate=options.learning_rate,
        num_train_epochs=options.epochs,
        max_steps=options.max_steps,
        per_device_train_batch_size=options.batch,
        per_device_eval_batch_size=options.batch,
        max_length=options.max_length,
        model_init_kwargs={"dtype": options.dtype},
        # TRL's default is mixed precision, which most CPUs run more slowly than 32 bits.
        bf16=has_gpu and torch.cuda.is_bf16_supported(),
        # TRL's default runs each layer forward a second time, to save memory.
        activation_checkpointing=has_gpu or options.recompute,
        logging_steps=max(1, min(10, int(steps) // 20)),
        # transformers adds a validation after the last step.
        eval_strategy="steps" if is_evaluated else "no",
        eval_steps=math.ceil(steps / max(1, options.validations - 1)),
        eval_on_start=is_evaluated and 1 < options.validations,
        dataloader_pin_memory=has_gpu,
        save_strategy="no",
        report_to="none",
        **(grouped if is_sft else {}),
    )


def logger(path: Path) -> Any:
    """Appends each loss to a JSON Lines file at once, so that an interrupted run keeps its curve."""
    from transformers import TrainerCallback

    path.unlink(missing_ok=True)

    class Logger(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
            found = {name: logs[name] for name in ("loss", "eval_loss") if logs and name in logs}
            if found:
                with path.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"step": state.global_step, **found}) + "\n")

    return Logger()


def score_replies_alone() -> None:
    """Lets TRL apply the vocabulary to the tokens of replies alone, as on a GPU. Loss and gradients stay the same.

    Elsewhere TRL 1.16 applies it to all tokens of a batch, for devices that compile again for each number of tokens.
    A prompt has about ten times the tokens of its reply, and a small model spends much of a step on the vocabulary.
    """
    from trl.trainer import utils

    if hasattr(utils, "_use_triton"):
        utils._use_triton = lambda _device: True


def note_long_rows(tokenizer: Any, data: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Prints how many rows exceed the limit, because TRL cuts their ends: the replies."""
    replies = "completion" if options.kind == "sft" else "chosen"
    texts = [tokenizer.apply_chat_template(row["prompt"] + row[replies], tokenize=False) for row in data]
    n_long = sum(options.max_length < len(tokenizer(text)["input_ids"]) for text in texts)
    if n_long:
        print(
            f"{n_long} of {len(data)} rows exceed {options.max_length} tokens and lose their ends; raise --max-length"
        )


def peak_gigabytes() -> float:
    """The peak memory: of the GPU if there is one, otherwise of the process since its start."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e9
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e9 if sys.platform == "darwin" else peak * 1024 / 1e9


def train(options: argparse.Namespace, seed: int, train_rows: list[Any], valid_rows: list[Any]) -> dict[str, Any]:
    """Trains and merges one seed; returns its line of the summary."""
    import torch
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import DPOTrainer, SFTTrainer

    score_replies_alone()
    folder = options.out / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    if seed == FIRST_SEED:
        note_long_rows(tokenizer, train_rows, options)
    trainer = (SFTTrainer if options.kind == "sft" else DPOTrainer)(
        model=options.model,
        args=settings(options, folder, seed, len(train_rows), bool(valid_rows)),
        train_dataset=Dataset.from_list(train_rows),
        eval_dataset=Dataset.from_list(valid_rows) if valid_rows else None,
        processing_class=tokenizer,
        peft_config=lora(),
        callbacks=[logger(folder / "log.jsonl")],
    )
    start = time.monotonic()
    trainer.train()
    minutes = (time.monotonic() - start) / 60
    trainer.model.save_pretrained(folder / "adapter")
    merge(trainer.model, tokenizer, options.model, folder / "merged")
    line = {"seed": seed, "minutes": round(minutes, 2), "peak_gb": round(peak_gigabytes(), 2)}
    del trainer
    gc.collect()
    line |= {**ends(folder / "log.jsonl"), "merged": str(folder / "merged")}
    # A seed without this file is trained again.
    record = {"settings": given_settings(options), "line": line}
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return line


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The options and data that the weights of a seed depend on."""
    given = dict(vars(options))
    if (model := Path(options.model)).exists():
        given["model"] = str(model.resolve())
    files = [data_file(options.data, part, options.kind) for part in ("train", "valid")]
    given["data"] = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    return {name: value for name, value in given.items() if name not in ("out", "seeds", "fresh")}


def finished(options: argparse.Namespace, seed: int) -> dict[str, Any] | None:
    """The summary's line of a seed that an earlier run finished; exits if that run had other settings."""
    record = options.out / f"seed-{seed}" / RECORD
    if options.fresh or not record.exists():
        return None
    run = json.loads(record.read_text(encoding="utf-8"))
    given = given_settings(options)
    other = [name for name in given if run["settings"].get(name) != given[name]]
    if other:
        raise SystemExit(
            f"{record.parent}: trained with another {', '.join(other)}; use another --out, or --fresh to train again"
        )
    return run["line"] | {"merged": str(record.parent / "merged")}


def merge(model: Any, tokenizer: Any, base: str, folder: Path) -> None:
    """Adds the adapter to the weights and writes them with the tokenizer and the base GGUF file, if any."""
    merged = model.merge_and_unload()
    merged.config.use_cache = True
    merged.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if (Path(base) / BASE).exists():
        link_or_copy(Path(base) / BASE, folder / BASE)


def ends(log: Path) -> dict[str, float]:
    """The first and the last loss of a run."""
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    found: dict[str, float] = {}
    for name in ("loss", "eval_loss"):
        values = [entry[name] for entry in entries if name in entry]
        if values:
            found |= {f"{name}_first": values[0], f"{name}_last": values[-1]}
    return found


def summarize(options: argparse.Namespace, runs: list[dict[str, Any]]) -> None:
    """Writes summary.json and the picture of all seeds so far."""
    keys = [key for key in runs[0] if key not in ("seed", "merged")]
    mean = {key: round(sum(run[key] for run in runs) / len(runs), 4) for key in keys}
    given = {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()}
    summary = {"settings": given, "runs": runs, "mean": mean}
    (options.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    draw([Path(run["merged"]).parent / "log.jsonl" for run in runs], options.out / "loss.svg")


def main() -> None:
    options = arguments()
    check_model(options.model)
    if options.seeds < 1:
        raise SystemExit("--seeds: at least 1")
    train_rows = rows(options.data, "train", options.kind)
    valid = data_file(options.data, "valid", options.kind)
    if not valid.is_file():
        print(f"{valid}: no such file; training runs without a validation loss")
    is_validated = valid.is_file() and 0 < options.validations
    valid_rows = rows(options.data, "valid", options.kind) if is_validated else []
    options.out.mkdir(parents=True, exist_ok=True)
    runs: list[dict[str, Any]] = []
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        run = finished(options, seed)
        print(f"seed {seed}: {'finished by an earlier run' if run else 'training'}", flush=True)
        runs.append(run or train(options, seed, train_rows, valid_rows))
        print(json.dumps(runs[-1]), flush=True)
        summarize(options, runs)


if __name__ == "__main__":
    main()
