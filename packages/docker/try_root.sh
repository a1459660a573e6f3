#!/usr/bin/env bash
# Does an image hold all that the program needs? Tried without Docker: in a folder with what the image would hold, as its user,
# with a root that nobody can write to. Wants root, debootstrap for `full`, and curl.
#
#   packages/docker/try_root.sh slim PROGRAM              # the libraries that it links, certificates, nothing else
#   packages/docker/try_root.sh full PROGRAM [FOLDER]     # Debian with the packages of the Dockerfile; FOLDER keeps it
#
# WEIGHTS names a folder with all-MiniLM-L6-v2 for `full`; MORE a folder of further documents that have to be read.
set -euo pipefail
here="$(cd "$(dirname "$0")/../.." && pwd)"
kind="$1" program="$(realpath "$2")" port="${PORT:-18686}" user=65532
work="$(mktemp -d "${TMPDIR:-/tmp}/pikerag-root.XXXXXX")"
root="${3:-$work/root}"
server=
end() {
    [ -z "$server" ] || kill -- -"$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
say() { printf '== %s\n' "$*"; }

mkdir -p "$root" "$work/data"
chown $user:$user "$work/data"
case $kind in
slim)
    # As the base has them: https://github.com/GoogleContainerTools/distroless, cc.
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
        install -D "$(realpath "$library")" "$root/$library"
    done
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    cache=/data/.cache
    ;;
full)
    if [ ! -d "$root/usr/bin" ]; then
        say "Debian"
        debootstrap --variant=minbase bookworm "$root" >"$work/debootstrap.log"
    fi
    # The packages that the Dockerfile names.
    mapfile -t packages < <(sed -n '/apt-get install/,/rm -rf/p' "$here/Dockerfile" | tr -d '\\' | grep -v -e apt-get -e 'rm -rf' | xargs -n1)
    say "${packages[*]}"
    DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c 'apt-get update -qq && apt-get install -qq --yes --no-install-recommends "$@"' sh "${packages[@]}" >"$work/apt.log" 2>&1
    if [ -n "${WEIGHTS:-}" ]; then
        mkdir -p "$root/usr/local/share/pikerag"
        cp -r "$WEIGHTS" "$root/usr/local/share/pikerag/all-MiniLM-L6-v2"
    fi
    cache=/usr/local/share
    ;;
esac
install -D "$program" "$root/usr/local/bin/pikerag"
install -D -m 644 "$here/packages/docker/pikerag.toml" "$root/etc/pikerag/pikerag.toml"
mkdir -p "$root"/{data,docs,more,dev,proc,tmp}
say "$kind: $(($(du -sb "$root" | cut -f1) / 1000000)) MB, the program $(($(stat -c %s "$program") / 1000000)) MB of it"

# Runs the program as a container would: a root that cannot be written, folders that can, its user, its environment.
inside() {
    unshare --mount --pid --fork sh -c '
        root=$1 work=$2 docs=$3 more=$4; shift 4
        mount --bind "$root" "$root"
        mount --bind "$work/data" "$root/data"
        mount --bind -o ro "$docs" "$root/docs"
        mount --bind -o ro "$more" "$root/more"
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount -t tmpfs tmpfs "$root/tmp"
        mount -o remount,bind,ro "$root"
        exec env -i "$@"
    ' sh "$root" "$work" "$here/examples/maintenance/docs" "${MORE:-$here/examples/harbour/docs}" \
        PATH=/usr/local/bin:/usr/bin:/bin HOME=/nowhere PIKERAG_CONFIG=/etc/pikerag/pikerag.toml \
        XDG_CACHE_HOME="$cache" XDG_STATE_HOME=/data/.state \
        "$(command -v unshare)" --root="$root" --wd=/data --setgid $user --setuid $user \
        /usr/local/bin/pikerag "$@"
}
status() { curl --silent --output /dev/null --write-out '%{http_code}' "$@"; }
wants() {
    if [ "$2" = "$3" ]; then printf 'ok: %s: %s\n' "$1" "$3"; else
        printf 'FAULT: %s: %s, not %s\n' "$1" "$3" "$2"
        exit 1
    fi
}

say "a server without a key does not come up, and says what to do"
code=0
inside serve --port "$port" || code=$?
wants "exit code" 1 "$code"
say "a key"
key="$(inside keys make me --scope admin)"
say "documents"
time inside index /docs /more
time inside ask --quiet "How many repairs were there in 2024?" | head -3
inside doctor
say "the server"
set -m
inside serve --port "$port" &
server=$!
set +m
for _ in $(seq 50); do
    inside health --port "$port" 2>/dev/null && break
    sleep 0.2
done
at="http://127.0.0.1:$port"
wants "ready" 200 "$(status "$at/ready")"
wants "the page" 200 "$(status "$at/")"
wants "without a key" 401 "$(status "$at/v1/models")"
wants "as another container calls it" 200 "$(status -H "Host: pikerag:8686" -H "Authorization: Bearer $key" "$at/v1/models")"
wants "by a name that is not its own" 421 "$(status -H "Host: evil.example:8686" -H "Authorization: Bearer $key" "$at/v1/models")"
curl --silent --fail -H "Authorization: Bearer $key" -H 'content-type: application/json' "$at/v1/chat/completions" \
    -d '{"model": "pikerag", "messages": [{"role": "user", "content": "How many repairs were there in 2024?"}]}' | head -c 300
echo
wants "a file that is brought in" 2 "$(status -H "Authorization: Bearer $key" -T "$here/examples/harbour/docs/suppliers.csv" "$at/api/v1/bases/default/files/suppliers.csv" | cut -c1)"
kill -TERM "$(pgrep -P "$server" -f "pikerag serve --port $port" | head -1)" 2>/dev/null || true
say "written outside of /data: nothing could be"
echo "all good"
