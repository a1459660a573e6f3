#!/usr/bin/env python3
"""Fine-tunes a causal language model with TRL and LoRA: `train.py DATA_DIR --model NAME_OR_FOLDER --out OUT`.

Defaults are those of PIKE-RAG §6.4: LoRA r 16 and alpha 64, learning rate 1.5e-5, three seeds, else TRL's defaults.
Each seed gets OUT/seed-N/ with the adapter, the merged weights and log.jsonl; OUT/ gets loss.svg and summary.json.
"""

import argparse
import gc
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
    """TRL's settings; everything that is not named here keeps its default."""
    import torch
    from trl import DPOConfig, SFTConfig

    config = SFTConfig if options.kind == "sft" else DPOConfig
    steps = options.max_steps if options.max_steps > 0 else math.ceil(n_rows / options.batch) * options.epochs
    return config(
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
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        logging_steps=max(1, min(10, int(steps) // 20)),
        eval_strategy="steps" if is_evaluated else "no",
        eval_steps=max(1, int(steps) // 10),
        eval_on_start=is_evaluated,
        dataloader_pin_memory=torch.cuda.is_available(),
        save_strategy="no",
        report_to="none",
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

    folder = options.out / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
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
    return {**line, **ends(folder / "log.jsonl"), "merged": str(folder / "merged")}


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
    valid_rows = rows(options.data, "valid", options.kind) if valid.is_file() else []
    options.out.mkdir(parents=True, exist_ok=True)
    runs: list[dict[str, Any]] = []
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        runs.append(train(options, seed, train_rows, valid_rows))
        print(json.dumps(runs[-1]), flush=True)
        summarize(options, runs)


if __name__ == "__main__":
    main()
