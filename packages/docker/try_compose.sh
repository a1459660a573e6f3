#!/usr/bin/env bash
# Tests that the services of compose.yaml start in order and reach each other. docker-compose drives podman, without a Docker engine.
# A language model with one reply stands in for Ollama. A script that asks with the given key stands in for Open WebUI.
#
#   packages/docker/try_images.sh PROGRAM FOLDER && packages/docker/try_compose.sh FOLDER
#
# Needs the requirements of try_images.sh and Debian's package docker-compose. Ports 8686 and 3000 must be free.
set -euo pipefail
here="$(cd "$(dirname "$0")/../.." && pwd)"
folder="$(realpath "$1")"
work="$(mktemp -d "${TMPDIR:-/tmp}/pikerag-compose.XXXXXX")"
export CONTAINERS_CONF="$work/containers.conf" DOCKER_HOST="unix://$work/socket" PIKERAG_IMAGE=localhost/pikerag:full
printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n[network]\nnetwork_backend = "netavark"\n' \
    "$(ulimit -Hn)" "$(ulimit -Hn)" >"$CONTAINERS_CONF"
store=(--root "$folder/store" --runroot "$folder/run" --storage-driver overlay)
run() { podman "${store[@]}" "$@" 2> >(grep -v 'systemd connection' >&2); }
compose() { docker-compose --project-name tried --project-directory "$work" --file "$work/compose.yaml" "$@"; }
service='' health=''
end() {
    compose down --volumes >"$work/down.log" 2>&1 || true
    [ -z "$health" ] || kill "$health" 2>/dev/null || true
    [ -z "$service" ] || { kill "$service" && wait "$service"; } 2>/dev/null || true
    umount "$folder/store/overlay" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
wants() {
    if [ "$2" = "$3" ]; then printf 'ok: %s: %s\n' "$1" "$3"; else
        printf 'FAULT: %s: %s, not %s\n' "$1" "$3" "$2"
        exit 1
    fi
}

# Debian's docker-compose is older than the specification's name for the project.
grep -v '^name:' "$here/compose.yaml" >"$work/compose.yaml"
install -D -m 644 "$here/packages/docker/compose.toml" "$work/packages/docker/compose.toml"
cp -r "$here/examples/maintenance/docs" "$work/documents"
chmod -R a+rX "$work"

cat >"$work/ollama" <<'PYTHON'
#!/usr/bin/env python3
import http.server, json, os, sys, urllib.request
ANSWER = {"facts": ["The parrot is called Theodora. [1]"], "sufficient": True, "missing": [], "answer": "Theodora", "rationale": "It says so."}
class Model(http.server.BaseHTTPRequestHandler):
    def reply(self, body):
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.reply({})
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": json.dumps(ANSWER)}
        self.reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
if sys.argv[1] == "serve":
    http.server.ThreadingHTTPServer(("", 11434), Model).serve_forever()
urllib.request.urlopen(os.environ.get("OLLAMA_HOST", "http://localhost:11434"))
PYTHON
cat >"$work/start.sh" <<'SHELL'
python3 - <<'PYTHON'
import json, os, urllib.request
asked = {"model": "pikerag", "messages": [{"role": "user", "content": "What is the parrot of the captain called?"}]}
head = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_API_BASE_URL"] + "/chat/completions", json.dumps(asked).encode(), head)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"], flush=True)
PYTHON
exec python3 -m http.server 8080
SHELL
chmod 755 "$work/ollama"
stand_in() { # IMAGE FILE PLACE, then options of `buildah config`
    local container
    container="$(buildah "${store[@]}" from --pull-never docker.io/library/python:3-slim-bookworm)"
    buildah "${store[@]}" copy --quiet "$container" "$work/$2" "$3" >/dev/null
    buildah "${store[@]}" config "${@:4}" "$container"
    buildah "${store[@]}" commit --quiet --rm "$container" "$1" >/dev/null
}
stand_in docker.io/ollama/ollama:latest ollama /bin/ollama --entrypoint '["/bin/ollama"]' --cmd serve
stand_in ghcr.io/open-webui/open-webui:main start.sh /app/backend/start.sh --workingdir /app/backend

podman "${store[@]}" system service --time 0 "$DOCKER_HOST" >"$work/service.log" 2>&1 &
service=$!
# Checks the health of each container, as systemd would do.
while sleep 1; do for container in $(run ps --quiet); do run healthcheck run "$container" >/dev/null 2>&1 || true; done; done &
health=$!
for _ in $(seq 100); do [ -S "$work/socket" ] && break || sleep 0.1; done
[ -S "$work/socket" ] || { cat "$work/service.log" && exit 1; }
echo "The captain of the Orrelvik keeps a parrot by the name of Theodora." >"$work/documents/parrot.md"
compose up --detach --no-build >"$work/up.log" 2>&1 || { cat "$work/up.log" && exit 1; }
run ps --all --format '{{.Names}}: {{.Status}}'
for _ in $(seq 50); do
    [ "$(curl --silent --output /dev/null --write-out '%{http_code}' http://localhost:3000)" = 200 ] && break
    sleep 0.2
done
run logs tried_open-webui_1 2>&1 | awk 'NF && !n++'
wants "the chat page gets its answer" 1 "$(run logs tried_open-webui_1 2>&1 | grep -c Theodora)"
key="$(compose exec -T pikerag pikerag keys make me --scope admin 2>/dev/null)"
listed() {
    curl --silent --fail -H "Authorization: Bearer $key" http://localhost:8686/api/v1/bases/default/sources >"$work/sources" || echo "no answer"
    grep -c cranes.csv "$work/sources" || true
}
wants "files in the folder are indexed" 1 "$(listed)"
rm "$work/documents/cranes.csv"
for _ in $(seq 50); do
    [ "$(listed)" = 0 ] && break
    sleep 0.2
done
wants "a removed file is removed from the base" 0 "$(listed)"
compose stop pikerag >/dev/null 2>&1
wants "pikerag ends by itself" 0 "$(run inspect --format '{{.State.ExitCode}}' tried_pikerag_1)"
echo "all good"
