#!/usr/bin/env python3
"""Draws where a program spends its time, as a flame graph in SVG.

    RUSTFLAGS="-C force-frame-pointers=yes" CARGO_PROFILE_RELEASE_STRIP=false cargo build --release
    perf record -F 999 -g -p $(pidof pikerag) -- sleep 10
    perf script --no-inline -F comm,ip,sym | python3 bench/flames.py "What is drawn" > flames.svg

A box is as wide as the share of samples in a function and in what it calls; boxes of less than half a percent are left out.
Only functions of the program and the outermost ones of libraries are shown, so that the runtime does not hide them. Needs
nothing but Python.
"""

import html
import re
import sys

WIDTH, ROW, LEAST = 1200, 17, 0.005
COLOURS = {"models": "#d98c5f", "store": "#6f9fd8", "retrieve": "#7fb87a", "language": "#b9a14e", "threads": "#c46f6f", "other": "#a8a8b3"}
# What a function that is not ours belongs to, by the beginning of its name.
LIBRARIES = [("sqlite3|btree|pcache|pager|wal", "store", "SQLite"), ("tantivy", "store", "tantivy"), ("rust_stemmers|jieba", "language", "stems and words"), ("_?blake3", "other", "hashes"), ("malloc|free|_int_|realloc|unlink_chunk|cfree|calloc", "other", "memory"), ("schedule|__schedule|do_futex|futex|finish_task|try_to_wake|eventfd|epoll|do_epoll", "threads", "changes of threads"), ("do_syscall|vfs_|ksys_|filemap", "other", "system calls")]


def shown(name):
    """The name and the colour of a function, or nothing if it is left out."""
    ours = re.search(r"pikerag_(\w+?)::([\w:<>]+)", name)
    if ours and not name.startswith("<tracing"):
        crate = ours.group(1)
        path = re.sub(r"::\{\{closure\}\}|<[^>]*>", "", ours.group(0)).removeprefix("pikerag_")
        return path.strip(":"), crate if crate in COLOURS else "other"
    for pattern, colour, label in LIBRARIES:
        if re.match(pattern, name):
            return label, colour
    return None


class Box:
    def __init__(self, colour):
        self.colour, self.samples, self.inner = colour, 0, {}


def stacks(lines):
    stack = []
    for line in lines:
        if line.startswith(("\t", " ")):
            stack.append(line.split(None, 1)[1].strip() if len(line.split(None, 1)) == 2 else "")
        elif stack:
            yield stack
            stack = []
    if stack:
        yield stack


def gathered(lines):
    whole = Box("other")
    for stack in stacks(lines):
        whole.samples += 1
        box, before = whole, None
        for name in reversed(stack):
            found = shown(name)
            if found is None or found[0] == before:
                continue
            before, colour = found
            box = box.inner.setdefault(before, Box(colour))
            box.samples += 1
    return whole


def depth_of(box, all_samples):
    """The rows of a box and of all that are drawn above it."""
    inner = [depth_of(one, all_samples) for one in box.inner.values() if LEAST * all_samples <= one.samples]
    return 1 + max(inner, default=0)


def drawn(box, name, left, depth, height, all_samples):
    scale = WIDTH / all_samples
    width = box.samples * scale
    share = 100 * box.samples / all_samples
    room = int(width / 6.6)
    text = name if len(name) <= room else name[-room + 1 :] if 6 < room else ""
    label = html.escape(f"{name}: {share:.1f} %")
    yield f'<g><title>{label}</title><rect x="{left:.1f}" y="{height - (depth + 1) * ROW}" width="{max(width - 0.6, 0.4):.1f}" height="{ROW - 1}" fill="{COLOURS[box.colour]}" rx="1"/><text x="{left + 3:.1f}" y="{height - depth * ROW - 5}">{html.escape(text)}</text></g>'
    for inner in sorted(box.inner, key=lambda inner: -box.inner[inner].samples):
        if LEAST * all_samples <= box.inner[inner].samples:
            yield from drawn(box.inner[inner], inner, left, depth + 1, height, all_samples)
            left += box.inner[inner].samples * scale


def main():
    title = sys.argv[1] if 1 < len(sys.argv) else "all"
    whole = gathered(sys.stdin)
    if not whole.samples:
        raise SystemExit("no sample was read: give the output of perf script")
    height = depth_of(whole, whole.samples) * ROW + 4
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11"><rect width="{WIDTH}" height="{height}" fill="#fff"/>')
    for box in drawn(whole, title, 0, 0, height, whole.samples):
        print(box)
    print("</svg>")


if __name__ == "__main__":
    main()
