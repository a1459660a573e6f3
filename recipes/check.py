#!/usr/bin/env python3
"""Checks exported files against the format of their reader: `check.py DATA_DIR --format trl|openai|llama-factory`.

The rules need no packages. `--load` reads the files with the package datasets, too. `--tokenize FOLDER` reads them as
the trainer does (TRL or LLaMA-Factory), with the tokenizer in FOLDER. Exit code 1: a file has another format.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMATS = ("trl", "openai", "llama-factory")
PARTS = ("train", "valid", "test")
# OpenAI refuses a smaller file for training.
OPENAI_ROWS = 10
OPENAI_ROLES = ("developer", "system", "user", "assistant", "tool")
# LLaMA-Factory's columns; the second list is for other formats and media.
COLUMNS = ("prompt", "query", "response", "history", "system", "chosen", "rejected", "kto_tag")
OTHER_COLUMNS = ("messages", "tools", "images", "videos", "audios")
DATA_SET_KEYS = ("file_name", "formatting", "ranking", "split", "num_samples", "columns")

Row = dict[str, Any]


class Problem(Exception):
    """A row or a file that its reader refuses or reads wrongly."""


def need(condition: object, problem: str) -> None:
    """Raises the problem unless the condition holds."""
    if not condition:
        raise Problem(problem)


def constant(name: str) -> None:
    """Refuses `NaN` and `Infinity`, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def row_of(text: str) -> Row:
    """The JSON object of a line."""
    try:
        row = json.loads(text, parse_constant=constant)
    except ValueError as error:
        raise Problem(f"not JSON: {error}") from error
    need(isinstance(row, dict), "not an object")
    return row


def keys(row: Row, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Exactly the needed keys, and some of the optional ones."""
    absent = [key for key in needed if key not in row]
    need(not absent, f"the key {', '.join(absent)} is missing")
    unknown = sorted(set(row) - set(needed) - set(optional))
    need(not unknown, f"unknown key {', '.join(unknown)}")


def messages(row: Row, key: str, roles: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Row]:
    """The messages of a column: each has a role and a text."""
    found = row[key]
    need(isinstance(found, list) and found, f"{key} is not a list of messages")
    for message in found:
        need(isinstance(message, dict), f"{key}: a message is not an object")
        keys(message, ("role", "content"), optional)
        need(message["role"] in roles, f"{key}: unknown role {message['role']!r}")
        content = message["content"]
        need(isinstance(content, str) and content.strip(), f"{key}: the content of {message['role']} is empty")
    return found


def reply(row: Row, key: str) -> str:
    """The text of a column that holds exactly one message of the assistant."""
    found = messages(row, key, OPENAI_ROLES)
    is_one = len(found) == 1 and found[0]["role"] == "assistant"
    need(is_one, f"{key} is not exactly one message of the assistant")
    return found[0]["content"]


def differ(chosen: str, rejected: str) -> None:
    """A pair of equal replies teaches nothing."""
    need(chosen != rejected, "the better and the worse reply are equal")


def trl_row(row: Row, is_pair: bool) -> None:
    """A conversational prompt and its completion, or two replies."""
    replies = ("chosen", "rejected") if is_pair else ("completion",)
    keys(row, ("prompt", *replies))
    last = messages(row, "prompt", ("system", "user", "assistant"))[-1]
    need(last["role"] == "user", "prompt does not end with the user")
    texts = [reply(row, key) for key in replies]
    if is_pair:
        differ(*texts)


def openai_row(row: Row, is_pair: bool) -> None:
    """A conversation that ends with the assistant, or an input with two outputs."""
    if not is_pair:
        keys(row, ("messages",), ("tools", "parallel_tool_calls"))
        found = messages(row, "messages", OPENAI_ROLES, ("name", "weight"))
        need(found[-1]["role"] == "assistant", "messages do not end with the assistant")
        for message in found:
            is_weighted = message["role"] == "assistant" and message.get("weight") in (0, 1)
            need("weight" not in message or is_weighted, "weight is not 0 or 1 of an assistant")
        return
    keys(row, ("input", "preferred_output", "non_preferred_output"))
    need(isinstance(row["input"], dict), "input is not an object")
    keys(row["input"], ("messages",), ("tools", "parallel_tool_calls"))
    need(isinstance(row["input"].get("tools", []), list), "input: tools is not a list")
    need(isinstance(row["input"].get("parallel_tool_calls", True), bool), "input: parallel_tool_calls is not a flag")
    last = messages(row["input"], "messages", OPENAI_ROLES, ("name",))[-1]
    need(last["role"] == "user", "input: messages do not end with the user")
    differ(reply(row, "preferred_output"), reply(row, "non_preferred_output"))


def alpaca_row(row: Row, columns: dict[str, str], is_pair: bool) -> None:
    """The columns that `dataset_info.json` names, as texts."""
    for column, key in columns.items():
        need(key in row, f"the key {key} of the column {column} is missing")
        need(isinstance(row[key], str), f"{key} is not a text")
    keys(row, tuple(columns.values()))
    asked = [row[columns[column]] for column in ("prompt", "query") if column in columns]
    need(any(text.strip() for text in asked), "the prompt is empty")
    replies = [row[columns[column]] for column in (("chosen", "rejected") if is_pair else ("response",))]
    need(all(text.strip() for text in replies), "the reply is empty")
    if is_pair:
        differ(*replies)


def alpaca_columns(name: str, about: Row) -> dict[str, str]:
    """The columns of a data set in `dataset_info.json`."""
    keys(about, ("file_name", "columns"), DATA_SET_KEYS)
    need(about.get("formatting", "alpaca") == "alpaca", f"{name}: the formatting is not alpaca")
    need(isinstance(about.get("ranking", False), bool), f"{name}: ranking is not a flag")
    columns = about["columns"]
    need(isinstance(columns, dict), f"{name}: columns is not an object")
    for column in columns:
        need(column not in OTHER_COLUMNS, f"{name}: the column {column} belongs to another format")
        need(column in COLUMNS, f"{name}: LLaMA-Factory has no column {column}")
    # A column that is not named here is not read, even if it has the usual name.
    for column in ("prompt", *(("chosen", "rejected") if about.get("ranking") else ("response",))):
        need(isinstance(columns.get(column), str), f"{name}: the column {column} is missing")
    return columns


def exported(folder: Path, ending: str) -> Iterator[tuple[Path, bool]]:
    """The files of an export that exist, and whether each holds pairs."""
    for part in PARTS:
        for name, is_pair in ((part, False), (f"dpo-{part}", True)):
            if (path := folder / f"{name}.{ending}").exists():
                yield path, is_pair


def lines(path: Path) -> list[str]:
    """The lines of a file. Only a line feed ends one: a text may hold Unicode's other separators."""
    text = path.read_bytes().decode("utf-8").removesuffix("\n")
    need(text.strip(), "no rows")
    need(not text.startswith("\ufeff"), "a byte order mark at the beginning")
    return text.split("\n")


def check_lines(folder: Path, format: str) -> Iterator[str]:
    """The problems of JSON Lines."""
    check = trl_row if format == "trl" else openai_row
    for path, is_pair in exported(folder, "jsonl"):
        try:
            found = lines(path)
        except (Problem, UnicodeDecodeError) as error:
            yield f"{path.name}: {error}"
            continue
        for number, line in enumerate(found, 1):
            try:
                check(row_of(line), is_pair)
            except Problem as problem:
                yield f"{path.name}:{number}: {problem}"


def check_alpaca(folder: Path) -> Iterator[str]:
    """The problems of LLaMA-Factory's files."""
    try:
        sets = row_of((folder / "dataset_info.json").read_text(encoding="utf-8"))
    except (Problem, OSError) as error:
        yield f"dataset_info.json: {error}"
        return
    listed = set()
    for name, about in sets.items():
        try:
            need(isinstance(about, dict), f"{name} is not an object")
            columns = alpaca_columns(name, about)
            path = folder / str(about["file_name"])
            listed.add(path.name)
            need(path.is_file(), f"{name}: the file {path.name} does not exist")
            rows = json.loads(path.read_text(encoding="utf-8"), parse_constant=constant)
            need(isinstance(rows, list) and rows, f"{path.name} is not a list of rows")
        except (Problem, ValueError) as error:
            yield f"dataset_info.json: {error}"
            continue
        for number, row in enumerate(rows, 1):
            try:
                need(isinstance(row, dict), "not an object")
                alpaca_row(row, columns, bool(about.get("ranking")))
            except Problem as problem:
                yield f"{path.name}, row {number}: {problem}"
    for path, _ in exported(folder, "json"):
        if path.name not in listed:
            yield f"dataset_info.json: no data set names {path.name}"


def read_rows(path: Path) -> list[Row]:
    """The rows of an exported file of either kind."""
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    return [json.loads(line) for line in lines(path)]


def check_card(folder: Path, ending: str) -> Iterator[str]:
    """The problems of the counts in `card.json`, if the export has it."""
    if not (folder / "card.json").exists():
        return
    parts = json.loads((folder / "card.json").read_text(encoding="utf-8"))["parts"]
    for part, counts in parts.items():
        for name, key in ((part, "examples"), (f"dpo-{part}", "preferences")):
            path = folder / f"{name}.{ending}"
            n_rows = len(read_rows(path)) if path.exists() else 0
            if n_rows != counts[key]:
                yield f"card.json: {counts[key]} {key} of {part}, but {path.name} has {n_rows} rows"


def file_ending(format: str) -> str:
    """The ending of the files of a format."""
    return "json" if format == "llama-factory" else "jsonl"


def problems(folder: Path, format: str) -> list[str]:
    """All problems of an export; empty if its reader takes it."""
    ending = file_ending(format)
    if not (folder / f"train.{ending}").is_file():
        return [f"{folder}: no train.{ending}; run `pikerag train export --format {format}` first"]
    found = list(check_alpaca(folder) if format == "llama-factory" else check_lines(folder, format))
    # The counts of unreadable files would only repeat their problems.
    return found or list(check_card(folder, ending))


def notes(folder: Path, format: str) -> list[str]:
    """Facts that matter before an upload; they are no problems of the format."""
    found = []
    for path, _ in exported(folder, "jsonl") if format == "openai" else ():
        n_rows = len(read_rows(path))
        if path.stem.endswith("train") and n_rows < OPENAI_ROWS:
            found.append(f"{path.name} has {n_rows} rows; OpenAI trains with {OPENAI_ROWS} or more")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--format", choices=FORMATS, default="trl", help="of the export (trl)")
    parser.add_argument("--load", action="store_true", help="read the files with the package datasets, too")
    parser.add_argument("--tokenize", type=Path, metavar="FOLDER", help="read as the trainer, with this tokenizer")
    options = parser.parse_args()
    found = problems(options.data, options.format)
    if not found and (options.load or options.tokenize):
        import readers

        if options.load:
            found += readers.load(options.data, options.format)
        if options.tokenize and not found:
            found += readers.tokenize(options.data, options.format, options.tokenize)
    for problem in found[:20]:
        print(problem)
    if found:
        raise SystemExit(f"{options.data}: {len(found)} problems in the format {options.format}; export again")
    counts = [f"{path.name} {len(read_rows(path))}" for path, _ in exported(options.data, file_ending(options.format))]
    print(f"{options.format}: {', '.join(counts)} rows")
    for note in notes(options.data, options.format):
        print(f"note: {note}")


if __name__ == "__main__":
    main()
