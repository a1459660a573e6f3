"""Reads the OpenAPI document: a validator, generators of clients, one generated client, and random requests."""

import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from clients.harness import FACT, HERE, QUESTION

# The generated client has a document of its own, whose text it finds again.
TEXT = b"# Pump Q-77\n\nThe seal of pump Q-77 must be replaced every 4,321 hours.\n"
NAME = "manuals/pump q-77.md"
BASE = "default"


def run(place, *command):
    """What a program prints."""
    ran = subprocess.run([str(part) for part in command], cwd=place, capture_output=True, text=True)
    printed = (ran.stdout + ran.stderr).replace(f"{place}/", "")
    assert ran.returncode == 0, f"{pathlib.Path(str(command[0])).name} ends with {ran.returncode}: {printed[-1200:]}"
    return printed


def openapi(check):
    own = pathlib.Path(sys.executable).parent
    binaries = own.parent / "node_modules/.bin"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        document = place / "openapi.json"
        document.write_bytes(urllib.request.urlopen(f"{check.url}/openapi.json", timeout=60).read())

        @check.operation("openapi-spec-validator: the document is valid")
        def _():
            run(place, own / "openapi-spec-validator", document)

        @check.operation("openapi-python-client: generate", seconds=120)
        def _():
            config = place / "config.json"
            kinds = {"image/png": "application/octet-stream", "application/x-ndjson": "text/plain"}
            config.write_text(json.dumps({"content_type_overrides": kinds, "post_hooks": []}))
            target = place / "generated_client"
            warnings = run(place, own / "openapi-python-client", "generate", "--path", document, "--config", config, "--meta", "none", "--output-path", target)
            sys.path.insert(0, folder)
            check.kept["generated"] = target
            # It has no schemas that combine an object with one of several (`RunEvent`).
            incomplete = set(re.findall(r"parsing (\w+ \S+) within", warnings))
            assert all("/runs/{run}" in route for route in incomplete), warnings

        use_generated(check)

        @check.operation("hey-api: generate", seconds=120)
        def _():
            run(place, "node", binaries / "openapi-ts", "--input", document, "--output", place / "hey", "--silent", "--no-log-file")

        @check.operation("openapi-typescript: generate")
        def _():
            run(place, "node", binaries / "openapi-typescript", document, "--output", place / "schema.d.ts")

        @check.operation("a program over both types is correct", seconds=120)
        def _():
            (place / "use.ts").write_text((HERE / "generated.ts").read_text())
            options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
            run(place, "node", binaries / "tsc", *options, place / "use.ts")


def use_generated(check):
    """Uses the client that openapi-python-client has generated, from upload to deletion."""
    kept = check.kept

    def operation(name):
        def run_with_client(act):
            @check.operation(f"generated client: {name}")
            def _():
                kept["generated"]
                from generated_client import Client

                return act(Client(base_url=check.url, timeout=120))

        return run_with_client

    def wait(client, job):
        from generated_client.api.files import get_job

        for _ in range(600):
            state = get_job.sync(BASE, job, client=client)
            if state.stand not in ("waiting", "running"):
                return str(state.stand)
            time.sleep(0.1)
        raise AssertionError("the job does not end")

    @operation("upload, and its job")
    def _(client):
        from generated_client.api.files import upload_file
        from generated_client.types import File

        sent = upload_file.sync(BASE, NAME, client=client, body=File(io.BytesIO(TEXT)))
        assert sent.is_whole and sent.held == len(TEXT), sent
        assert wait(client, sent.job) == "done"

    @operation("upload of a form with two files")
    def _(client):
        from generated_client.api.files import upload_files
        from generated_client.models import UploadForm
        from generated_client.types import File

        files = [File(io.BytesIO(f"# {name}\n\nOne.\n".encode()), f"{name}.md", "text/markdown") for name in "ab"]
        both = upload_files.sync(BASE, client=client, body=UploadForm(file=files))
        assert [file.file for file in both.files] == ["a.md", "b.md"], both
        assert wait(client, both.files[0].job) == "done"

    def question():
        from generated_client.models import AskRequest

        return AskRequest(question="How often must the seal of pump Q-77 be replaced?")

    @operation("ask")
    def _(client):
        from generated_client.api.ask import ask
        from generated_client.models import Asked

        kept["asked"] = asked = ask.sync(BASE, client=client, body=question())
        assert isinstance(asked, Asked) and "4,321" in asked.answer.text, asked

    @operation("ask, streamed")
    def _(client):
        from generated_client.api.ask import ask
        from generated_client.models import Asked

        request = ask._get_kwargs(BASE, body=question())
        request["headers"]["Accept"] = "text/event-stream"
        events, data = [], ""
        with client.get_httpx_client().stream(**request) as stream:
            for line in stream.iter_lines():
                field, _, value = line.partition(":")
                if field == "event":
                    events.append(value.strip())
                elif field == "data":
                    data = value.strip()
        assert events[0] == "run" and events[-1] == "answer", events
        assert Asked.from_dict(json.loads(data)).answer.text == kept["asked"].answer.text

    @operation("the passage of a citation")
    def _(client):
        from generated_client.api.look import get_chunk

        citation = kept["asked"].answer.citations[0]
        chunk = get_chunk.sync(BASE, citation.chunk, client=client)
        assert citation.quote in chunk.text and citation.uri.endswith(NAME), (citation, chunk)
        kept["chunk"] = citation.chunk

    @operation("search")
    def _(client):
        from generated_client.api.search import search
        from generated_client.models import SearchRequest

        found = search.sync(BASE, client=client, body=SearchRequest(query="seal of pump Q-77", k=1))
        assert found.hits[0].chunk.id == kept["chunk"], found

    @operation("the original file")
    def _(client):
        from generated_client.api.look import download_original, list_files

        kept["names"] = names = [file.name for file in list_files.sync(BASE, client=client) if file.name.endswith((NAME, "/a.md", "/b.md"))]
        original = download_original.sync(BASE, client=client, file=next(known for known in names if known.endswith(NAME)))
        assert original.payload.read() == TEXT

    @operation("deletion")
    def _(client):
        from generated_client.api.files import delete_file

        for known in kept["names"]:
            assert delete_file.sync(BASE, client=client, file=known).was_sent, known

    @operation("a typed error: the passage is gone")
    def _(client):
        from generated_client.api.look import get_chunk
        from generated_client.models import Problem

        gone = get_chunk.sync(BASE, kept["chunk"], client=client)
        assert isinstance(gone, Problem) and gone.code == "no-such-chunk", gone


def schemathesis(check):
    """Sends requests that the document allows and others: no reply is an error of the server, and each fits the document."""

    def send(route, body):
        request = urllib.request.Request(f"{check.url}/api/v1/bases/{BASE}/{route}", json.dumps(body).encode(), {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=60))

    @check.operation("random requests", seconds=900)
    def _():
        hits = send("search", {"query": FACT, "k": 3})["hits"]
        runs = [send("ask", {"question": question})["run"] for question in (QUESTION, FACT)]
        known = {
            "path.base": BASE,
            "path.chunk": hits[0]["chunk"]["id"],
            "path.source": hits[0]["chunk"]["source"],
            "path.run": runs[0],
            "path.other": runs[1],
        }
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "schemathesis.toml"
            config.write_text("[parameters]\n" + "".join(f'"{name}" = {json.dumps(values)}\n' for name, values in known.items()))
            command = [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", config, "run", f"{check.url}/openapi.json", "--url", check.url]
            command += ["--checks", "not_a_server_error,response_schema_conformance", "--max-examples", os.environ.get("EXAMPLES", "3"), "--workers", "1", "--seed", os.environ.get("SEED", "1"), "--no-color"]
            # After the first key exists, every other request would need one.
            command += ["--exclude-operation-id", "createKey"]
            ran = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
        print(ran.stdout[-6000:], file=sys.stderr)
        faults = [line.strip() for line in ran.stdout.splitlines() if line.startswith("____") or line.lstrip().startswith("- ")]
        assert ran.returncode == 0, " · ".join(faults)[:1500] or ran.stdout[-1500:]
        return next(line.strip() for line in ran.stdout.splitlines() if " generated, " in line)
