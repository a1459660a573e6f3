#!/usr/bin/env python3
"""Draws the loss curves of all seeds: `curve.py OUT PICTURE.svg|.png`."""

import argparse
import json
from pathlib import Path

COLORS = ("#1f77b4", "#d95f02", "#2a9d5c", "#7b5ea7", "#b8860b", "#c2477f")


def points(log: Path, name: str) -> tuple[list[int], list[float]]:
    """The steps and values of a loss."""
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    found = [(entry["step"], entry[name]) for entry in entries if name in entry]
    return [step for step, _ in found], [value for _, value in found]


def draw(logs: list[Path], picture: Path) -> None:
    """Draws the training loss (thin) and the validation loss (thick) of each seed's log.jsonl."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for number, log in enumerate(logs):
        color, seed = COLORS[number % len(COLORS)], log.parent.name.removeprefix("seed-")
        axes.plot(*points(log, "loss"), color=color, linewidth=1, alpha=0.6, label=f"training, seed {seed}")
        axes.plot(*points(log, "eval_loss"), color=color, linewidth=2, marker="o", label=f"validation, seed {seed}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(picture)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("picture", type=Path, metavar="PICTURE")
    options = parser.parse_args()
    logs = sorted(options.out.glob("seed-*/log.jsonl"))
    if not logs:
        raise SystemExit(f"{options.out}: no seed-*/log.jsonl; run train.py with `--out {options.out}` first")
    draw(logs, options.picture)


if __name__ == "__main__":
    main()
