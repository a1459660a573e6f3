"""Reads exported rows and replies of a proposer: `rows(DATA_DIR, "train")`, `parse(reply)`."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

COLUMNS = {"sft": ("prompt", "completion"), "dpo": ("prompt", "chosen", "rejected")}


class Reply(NamedTuple):
    """A parsed reply: `sub_question` is empty if `decompose` is false."""

    decompose: bool
    sub_question: str


def data_file(folder: Path, part: str, kind: str = "sft") -> Path:
    """The file of a part: `train.jsonl`, or `dpo-train.jsonl` for preferences."""
    return folder / (f"{part}.jsonl" if kind == "sft" else f"dpo-{part}.jsonl")


def rows(folder: Path, part: str, kind: str = "sft") -> list[dict[str, Any]]:
    """The rows of a part; exits with a message if the file is missing, empty or has another form."""
    path = data_file(folder, part, kind)
    if not path.is_file():
        raise SystemExit(f"{path}: no such file; run `pikerag train export --format trl` into {folder} first")
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                found.append(checked(line, f"{path}:{number}", COLUMNS[kind]))
    if not found:
        raise SystemExit(f"{path}: the file has no rows; export more trajectories")
    return found


def checked(line: str, place: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """The row of a line: each column is a list of messages."""
    try:
        row = json.loads(line)
        for column in columns:
            for message in row[column]:
                if not message["role"] or not isinstance(message["content"], str):
                    raise ValueError(column)
    except (ValueError, KeyError, TypeError) as error:
        wanted = ", ".join(columns)
        raise SystemExit(
            f"{place}: not a row with the message lists {wanted} ({error!r}); export again with `--format trl`"
        ) from error
    return {column: row[column] for column in columns}


def parse(reply: str) -> Reply | None:
    """Reads a reply as pikerag does: a sub-question counts even if the flag is missing. `None`: no such format."""
    flag, asked = tag(reply, "decompose"), tag(reply, "sub-question")
    if flag is not None and flag.lower() == "false":
        return Reply(False, "")
    return Reply(True, asked) if asked else None


def tag(reply: str, name: str) -> str | None:
    """The text between `<name>` and the next `<`."""
    _, opening, after = reply.partition(f"<{name}>")
    return after.split("<", 1)[0].strip() if opening else None


def normalized(text: str) -> str:
    """The words of a text: lower case, without punctuation."""
    return " ".join(re.sub(r"[\W_]+", " ", text.lower()).split())
