"""Reads exported files as the trainers do, for check.py: with the package datasets, with TRL, with LLaMA-Factory."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from check import Row, exported, file_ending, read_rows

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "TQDM_DISABLE": "1"}


def loaded(path: Path, cache: str) -> list[Row]:
    """The rows of a file as the package datasets reads it: all rows get the same columns and types."""
    from datasets import load_dataset

    return load_dataset("json", data_files=str(path), split="train", cache_dir=cache).to_list()


def load(folder: Path, format: str) -> list[str]:
    """The files whose rows the package datasets changes or refuses."""
    found = []
    with tempfile.TemporaryDirectory() as cache:
        for path, _ in exported(folder, file_ending(format)):
            try:
                is_same = loaded(path, cache) == read_rows(path)
            except Exception as error:  # The package has no common class of errors.
                found.append(f"{path.name}: the package datasets cannot read it: {error!r}")
                continue
            if not is_same:
                found.append(f"{path.name}: the package datasets reads other rows than the file has")
    return found


def tokenize(folder: Path, format: str, tokenizer: Path) -> list[str]:
    """The rows from which a trainer would learn another text than their replies."""
    if format == "openai":
        return ["--tokenize: OpenAI's reader is not public; check this format without it"]
    if not (tokenizer / "tokenizer_config.json").exists():
        return [f"{tokenizer}: no tokenizer_config.json; give the folder of a model, such as that of from_gguf.py"]
    from transformers import AutoTokenizer

    learned = with_trl if format == "trl" else with_llama_factory
    found = []
    for path, is_pair in exported(folder, file_ending(format)):
        loaded_tokenizer = AutoTokenizer.from_pretrained(tokenizer)
        try:
            texts = learned(path, is_pair, loaded_tokenizer)
        except Exception as error:  # The trainers raise errors of many classes.
            found.append(f"{path.name}: {format} cannot read it: {error!r}")
            continue
        found += differences(path, is_pair, format, texts)
    return found


def differences(path: Path, is_pair: bool, format: str, learned: list[tuple[str, list[str]]]) -> list[str]:
    """Compares the prompts and replies that a trainer sees with the rows of the file."""
    rows = read_rows(path)
    if len(learned) != len(rows):
        return [f"{path.name}: the trainer keeps {len(learned)} of {len(rows)} rows"]
    found = []
    for number, (row, (prompt, replies)) in enumerate(zip(rows, learned), 1):
        asked, wanted = texts(row, is_pair, format)
        if asked not in prompt:
            found.append(f"{path.name}, row {number}: the trainer does not see the prompt but {prompt[:200]!r}")
        if replies != wanted:
            found.append(f"{path.name}, row {number}: the trainer learns {replies!r} and not {wanted!r}")
    return found


def texts(row: Row, is_pair: bool, format: str) -> tuple[str, list[str]]:
    """The prompt and the replies of a row."""
    if format == "trl":
        columns = ("chosen", "rejected") if is_pair else ("completion",)
        return row["prompt"][-1]["content"].strip(), [row[column][0]["content"].strip() for column in columns]
    columns = ("chosen", "rejected") if is_pair else ("output",)
    return row["instruction"].strip(), [row[column].strip() for column in columns]


def decoder(tokenizer: Any) -> Callable[[list[int]], str]:
    """Turns tokens into text, without those of the template. -100 marks a token that is not learned."""

    def decode(tokens: list[int]) -> str:
        return tokenizer.decode([token for token in tokens if token != -100], skip_special_tokens=True).strip()

    return decode


def with_trl(path: Path, is_pair: bool, tokenizer: Any) -> list[tuple[str, list[str]]]:
    """The prompts and replies that TRL's trainers prepare. The model has one layer, because it does not train."""
    from datasets import load_dataset
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(tokenizer), num_key_value_heads=2, **sizes)
    decode = decoder(tokenizer)
    with tempfile.TemporaryDirectory() as cache:
        rows = load_dataset("json", data_files=str(path), split="train", cache_dir=cache)
        settings = {"output_dir": cache, "max_length": None, "bf16": False, "use_cpu": True, "report_to": "none"}
        settings["activation_checkpointing"] = False  # TRL's default of this setting prints a warning.
        given = {"model": LlamaForCausalLM(config), "train_dataset": rows, "processing_class": tokenizer}
        if is_pair:
            trainer = DPOTrainer(args=DPOConfig(**settings), ref_model=LlamaForCausalLM(config), **given)
        else:
            trainer = SFTTrainer(args=SFTConfig(**settings), **given)
        prepared = trainer.train_dataset
        if is_pair:
            columns = zip(prepared["prompt_ids"], prepared["chosen_ids"], prepared["rejected_ids"])
            return [(decode(prompt), [decode(chosen), decode(rejected)]) for prompt, chosen, rejected in columns]
        return [(decode(row["input_ids"]), [decode(row["labels"])]) for row in prepared]


def empty_module(name: str) -> types.ModuleType:
    """A module with the name that LLaMA-Factory imports from it."""
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.OmegaConf = None
    return module


def with_llama_factory(path: Path, is_pair: bool, tokenizer: Any) -> list[tuple[str, list[str]]]:
    """The prompts and replies that LLaMA-Factory's loader, converter and processors prepare."""
    # LLaMA-Factory imports them for rows with sound and for files of settings.
    for name in ("torchaudio", "omegaconf"):
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = empty_module(name)
    from llamafactory.data.loader import get_dataset
    from llamafactory.data.template import get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    name = f"pikerag_{path.stem.replace('-', '_')}"
    decode = decoder(tokenizer)
    with tempfile.TemporaryDirectory() as cache:
        data = DataArguments(dataset=name, dataset_dir=str(path.parent), cutoff_len=1 << 20, overwrite_cache=True)
        model = ModelArguments(model_name_or_path=cache, cache_dir=cache)
        training = Seq2SeqTrainingArguments(output_dir=cache, use_cpu=True, report_to="none", log_level="error")
        template = get_template_and_fix_tokenizer(tokenizer, data)
        stage = "rm" if is_pair else "sft"
        # It prints the first row.
        with contextlib.redirect_stdout(io.StringIO()):
            prepared = get_dataset(template, model, data, training, stage, tokenizer)["train_dataset"]
        if is_pair:
            columns = zip(prepared["chosen_input_ids"], prepared["chosen_labels"], prepared["rejected_labels"])
            return [(decode(whole), [decode(chosen), decode(rejected)]) for whole, chosen, rejected in columns]
        return [(decode(row["input_ids"]), [decode(row["labels"])]) for row in prepared]
