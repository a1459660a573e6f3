#!/usr/bin/env python3
"""Counts a model's correct replies on held-out rows: `evaluate.py DATA_DIR --url URL | --folder MERGED`."""

import argparse
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows import normalized, parse, rows

Ask = Callable[[list[dict[str, str]]], str]
REPLY_TOKENS = 256  # as pikerag asks


def request(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON reply of an endpoint."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=600) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")[:300]
        raise SystemExit(f"{url}: HTTP {error.code}: {text}; check --url and --model") from error
    except (urllib.error.URLError, ValueError) as error:
        raise SystemExit(f"{url}: no reply ({error}); start serve.py first, and end --url with /v1") from error


def of_endpoint(url: str, model: str | None) -> Ask:
    """Asks an OpenAI-compatible endpoint, without sampling."""
    url = url.rstrip("/")
    name = model or request(f"{url}/models")["data"][0]["id"]

    def ask(messages: list[dict[str, str]]) -> str:
        body = {"model": name, "messages": messages, "temperature": 0, "max_tokens": REPLY_TOKENS}
        return request(f"{url}/chat/completions", body)["choices"][0]["message"]["content"] or ""

    return ask


def of_folder(folder: Path) -> Ask:
    """Runs a transformers folder, without sampling."""
    if not (folder / "config.json").exists():
        raise SystemExit(f"{folder}: no config.json; give the merged folder of train.py")
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").to(device).eval()

    def ask(messages: list[dict[str, str]]) -> str:
        shape = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
        prompt = tokenizer.apply_chat_template(messages, **shape).to(device)
        tokens = model.generate(**prompt, max_new_tokens=REPLY_TOKENS, do_sample=False)
        return tokenizer.decode(tokens[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)

    return ask


def judged(row: dict[str, Any], reply: str) -> dict[str, Any]:
    """Compares a reply with the row's completion."""
    expected, found = parse(row["completion"][0]["content"]), parse(reply)
    if expected is None:
        raise SystemExit(f"not a completion of pikerag: {row['completion']}; export the data again")
    same = found is not None and normalized(found.sub_question) == normalized(expected.sub_question)
    return {
        "expected": row["completion"][0]["content"],
        "reply": reply,
        "is_readable": found is not None,
        "is_flag_right": found is not None and found.decompose == expected.decompose,
        "needs_sub_question": expected.decompose,
        "is_sub_question_right": expected.decompose and same,
    }


def counts(results: list[dict[str, Any]]) -> dict[str, int | str]:
    """The figures of a list of judged replies."""
    asked = [result for result in results if result["needs_sub_question"]]

    def right(name: str, among: list[dict[str, Any]]) -> str:
        n_right = sum(result[name] for result in among)
        return f"{n_right} of {len(among)}" + (f" ({100 * n_right / len(among):.0f} %)" if among else "")

    return {
        "rows": len(results),
        "sub-question exact": right("is_sub_question_right", asked),
        "decompose flag": right("is_flag_right", results),
        "decompose flag, False expected": right("is_flag_right", [r for r in results if not r["needs_sub_question"]]),
        "replies without the format": sum(not result["is_readable"] for result in results),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--url", help="an OpenAI-compatible endpoint, with /v1; its key: OPENAI_API_KEY")
    source.add_argument("--folder", type=Path, help="a transformers folder")
    parser.add_argument("--model", help="the endpoint's model (the first one that it lists)")
    parser.add_argument("--part", default="test", help="train, valid or test (test)")
    parser.add_argument("--limit", type=int, help="ask only the first N rows")
    parser.add_argument("--out", type=Path, help="JSON Lines file for the replies")
    options = parser.parse_args()
    held_out = rows(options.data, options.part)[: options.limit]
    ask = of_endpoint(options.url, options.model) if options.url else of_folder(options.folder)
    results = [judged(row, ask(row["prompt"])) for row in held_out]
    if options.out:
        lines = "".join(json.dumps(result, ensure_ascii=False) + "\n" for result in results)
        options.out.write_text(lines, encoding="utf-8")
    for name, value in counts(results).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
