#!/usr/bin/env python3
"""Measures the time and the peak memory of reading each hostile file of a folder.

    cargo run -p pikerag-test-support --example hostile -- /tmp/bad && python3 bench/hostile.py BINARY /tmp/bad

BINARY is pikerag. Figures for each file: wall seconds, the largest resident set of any of its processes (the kernel's
count, `wait4`), and the result. The exit code is 1 if a file was neither read nor refused for a reason, took 60 s or
more, or 512 MiB or more. Standard library only.
"""
import os, subprocess, sys, tempfile, time

MOST_SECONDS, MOST_MIB = 60, 512
# A parser that ends like this is our fault.
FAULTS = ["crashed", "the parser failed", "was killed", "cut off"]


def read(binary, path, folder):
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen([binary, "--json", "parse", path], stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - began
        # Reads only the start, because the memory of this process would count as its children's.
        out.seek(0)
        output = out.read(2000).decode("utf-8", "replace")
    if '"refused"' in output[:40]:
        return took, usage.ru_maxrss / 1024, "refused: " + output.split('"refused": "', 1)[1].rsplit('"', 1)[0].replace(path, "FILE")
    if child.returncode == 0 and '"documents"' in output[:40]:
        return took, usage.ru_maxrss / 1024, "read"
    return took, usage.ru_maxrss / 1024, f"the parser failed: exit code {child.returncode}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binary, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    bad, slowest, largest = 0, (0, ""), (0, "")
    files = sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
    with tempfile.TemporaryDirectory() as empty:
        for name in files:
            took, mib, output = read(binary, os.path.join(folder, name), empty)
            fault = any(word in output for word in FAULTS) or took >= MOST_SECONDS or mib >= MOST_MIB
            bad += fault
            slowest, largest = max(slowest, (took, name)), max(largest, (mib, name))
            print(f"{'✗' if fault else '✓'} {took:6.2f} s {mib:6.0f} MiB  {name}: {output[:200]}", flush=True)
    print(f"{len(files)} files, {bad} faults; slowest {slowest[1]} ({slowest[0]:.1f} s), largest {largest[1]} ({largest[0]:.0f} MiB)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
