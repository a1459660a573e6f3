#!/usr/bin/env bash
# Tests that both images of the Dockerfile build, and that the commands of docs/start/install.md work in their containers. buildah builds
# and podman runs, without a Docker engine and a registry: Debian from debootstrap replaces the base images, under their names.
#
#   packages/docker/try_images.sh PROGRAM [FOLDER]     # FOLDER keeps base images, layers and images for later runs and for try_compose.sh
#
# Needs root on Debian 12 and the packages buildah, podman, runc, netavark, iptables, catatonit, debootstrap, curl. MORE names a
# folder of further documents that `full` must read. The build uses the given program and compiles nothing.
set -euo pipefail
here="$(cd "$(dirname "$0")/../.." && pwd)"
program="$(realpath "$1")" port="${PORT:-18686}"
work="$(mktemp -d "${TMPDIR:-/tmp}/pikerag-images.XXXXXX")"
folder="$(realpath -m "${2:-$work}")"
mkdir -p "$folder" "$work/letters" "$work/program"
# Uses runc, because crun of Debian 12 supports only one kind of cgroups. Sets limits that root may set although it may raise none.
export CONTAINERS_CONF="$work/containers.conf"
printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n[network]\nnetwork_backend = "netavark"\n' \
    "$(ulimit -Hn)" "$(ulimit -Hn)" >"$CONTAINERS_CONF"
store=(--root "$folder/store" --runroot "$folder/run" --storage-driver overlay)
build() { buildah "${store[@]}" "$@"; }
# Without systemd podman warns that nothing checks the health of the container; this script checks it below.
run() { podman "${store[@]}" "$@" 2> >(grep -v 'systemd connection' >&2); }
end() {
    run rm --force --all >/dev/null || true
    run volume rm --force tried-slim tried-full >/dev/null || true
    umount "$folder/store/overlay" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
say() { printf '== %s\n' "$*"; }
milliseconds() { date +%s%3N; }
status() { curl --silent --output /dev/null --write-out '%{http_code}' "$@"; }
wants() {
    if [ "$2" = "$3" ]; then printf 'ok: %s: %s\n' "$1" "$3"; else
        printf 'FAULT: %s: %s, not %s\n' "$1" "$3" "$2"
        exit 1
    fi
}

debian=docker.io/library/debian:bookworm-slim python=docker.io/library/python:3-slim-bookworm cc=gcr.io/distroless/cc-debian12:nonroot
if ! run image exists "$cc"; then
    say "replacements of the base images"
    debootstrap --variant=minbase bookworm "$work/debian" >"$work/debootstrap.log"
    tar -C "$work/debian" -c . | run import --quiet - "$debian"
    container="$(build from --pull-never "$debian")"
    build run --isolation chroot "$container" sh -c 'apt-get update -qq && apt-get install -qq --yes --no-install-recommends python3-pip' >"$work/apt.log" 2>&1
    # The certificate authorities that this machine trusts, in case it has its own.
    build copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
    build config --env PIP_CERT=/etc/ssl/certs/ca-certificates.crt "$container"
    build commit --quiet --rm "$container" "$python"
    # Like cc of https://github.com/GoogleContainerTools/distroless, but with linked libraries only, so that nothing else can be used.
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
        install -D /dev/null "$work/cc$library"
        chroot "$work/debian" cat "$library" >"$work/cc$library"
    done
    chmod -R a+rx "$work/cc"
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$work/cc/etc/ssl/certs/ca-certificates.crt"
    printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n' >"$work/cc/etc/passwd"
    printf 'root:x:0:\nnonroot:x:65532:\n' >"$work/cc/etc/group"
    install -d -m 1777 "$work/cc/tmp"
    tar -C "$work/cc" -c . | run import --quiet --change USER=65532 --change WORKDIR=/tmp - "$cc"
    rm -rf "$work/debian" "$work/cc"
fi

install -D "$program" "$work/program/$(dpkg --print-architecture)/pikerag"
# LibreOffice writes beside this file, as the user of the image.
printf 'The captain of the Orrelvik keeps a parrot by the name of Theodora.\n' >"$work/letters/letter.txt"
chown -R 65532:65532 "$work/letters"
hard=(--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges)

try() {
    local kind="$1" image="$2" data="tried-$1" began code=0 key at="http://127.0.0.1:$port" docs="$here/examples/maintenance/docs"
    say "$kind: the image"
    # Docker's format, because the other one has no HEALTHCHECK.
    build bud --quiet --layers --pull-never --format docker --isolation chroot --build-context "program=$work/program" --target "$kind" --tag "$image" "$here" >"$work/$kind.log" 2>&1 ||
        { tail -20 "$work/$kind.log" && exit 1; }
    run image inspect --format '{{.Size}}' "$image" | awk '{ printf "%d MB\n", $1 / 1000000 }'
    if [ "$kind" = full ]; then
        say "full: its own LibreOffice makes a scan and an old Word document"
        for format in doc png; do
            run run --rm --env HOME=/tmp --volume "$work/letters:/letters" --entrypoint soffice "$image" \
                --headless --convert-to "$format" --outdir /letters /letters/letter.txt >"$work/soffice.log" 2>&1
        done
        rm "$work/letters/letter.txt"
    fi
    run run --rm --volume "$data:/data" "${hard[@]}" "$image" || code=$?
    wants "$kind: does not start without a key" 1 "$code"
    key="$(run run --rm --volume "$data:/data" "${hard[@]}" "$image" keys make me --scope admin)"
    began="$(milliseconds)"
    run run --detach --name "$data" --init --publish "127.0.0.1:$port:8686" "${hard[@]}" --volume "$data:/data" --volume "$docs:/docs:ro" \
        --volume "$work/letters:/letters:ro" --volume "${MORE:-$here/examples/harbour/docs}:/more:ro" "$image" >/dev/null
    until [ "$(status "$at/")" = 200 ]; do
        [ "$(milliseconds)" -lt "$((began + 20000))" ] || { run logs "$data" && exit 1; }
        sleep 0.02
    done
    say "$kind: the page, $(($(milliseconds) - began)) ms after the start of the container"
    run exec "$data" pikerag index /docs 2>"$work/index.log"
    run exec "$data" pikerag ask --quiet "How many repairs were there in 2024?" | awk 'NF && !n++'
    if [ "$kind" = full ]; then
        run exec "$data" pikerag index /letters /more >"$work/index.log" 2>&1
        wants "full: pictures, scans and old formats are read" "0 left out" "$(grep -o '[0-9]* left out' "$work/index.log")"
        run exec "$data" pikerag search --json "parrot Theodora" >"$work/found"
        wants "full: texts from Tesseract and LibreOffice are found" 2 "$(grep -o '/letters/letter\.\(png\|doc\)' "$work/found" | sort -u | wc -l)"
    fi
    wants "$kind: healthy" 0 "$(run healthcheck run "$data" >/dev/null && echo 0 || echo $?)"
    wants "$kind: a request without a key" 401 "$(status "$at/v1/models")"
    wants "$kind: a request from another container" 200 "$(status -H "Host: pikerag:8686" -H "Authorization: Bearer $key" "$at/v1/models")"
    wants "$kind: a request to another host name" 421 "$(status -H "Host: evil.example" -H "Authorization: Bearer $key" "$at/v1/models")"
    curl --silent --fail -H "Authorization: Bearer $key" -H 'content-type: application/json' "$at/v1/chat/completions" \
        -d '{"model": "pikerag", "messages": [{"role": "user", "content": "How many repairs were there in 2024?"}]}' >"$work/reply"
    wants "$kind: links lead to the published address" http://localhost:8686/passages "$(grep -o 'http://[^"]*/passages' "$work/reply" | sort -u)"
    wants "$kind: runs as user" 65532 "$(awk '/^Uid/ { print $2 }' "/proc/$(run inspect --format '{{.State.Pid}}' "$data")/status")"
    run stop --time 40 "$data" >/dev/null
    wants "$kind: it ends by itself" 0 "$(run inspect --format '{{.State.ExitCode}}' "$data")"
}
try slim pikerag:latest
try full pikerag:full
echo "all good"
