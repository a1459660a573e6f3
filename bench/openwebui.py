#!/usr/bin/env python3
"""Tests that Open WebUI understands the server: its own middleware and database call the real program over a small base, without a model. A list of events stands in for the browser.

    pip install --no-deps -r bench/openwebui.txt
    python3 bench/openwebui.py --program target/release/pikerag

Exit code 0: all checks pass; 1: some fail; 77: Open WebUI is not available here.
"""

import argparse
import asyncio
import contextlib
import importlib.abc
import importlib.machinery
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request
from unittest.mock import MagicMock

# Its modules import these packages, but nothing that runs here uses them.
STUBS = "boto3 botocore httpx2 jsonschema langchain_classic langchain_text_splitters mcp numpy pycrdt re2 referencing tiktoken".split()
ROWS = "order,date,fault\nMR-1,2024-01-05,brake wear\nMR-2,2024-02-03,hoist rope\nMR-3,2024-02-18,brake wear\nMR-4,2024-03-12,brake wear\n"
SETTINGS = 'records = [{ name = "repair", description = "a repair", key = ["order"], fields = [{ name = "order" }, { name = "fault" }], model = false }]'
PAGES = ["This manual names its authors.", "The counterweight of the Ostermoor crane weighs forty two tonnes."]
# The pages of the citations of each question, counted from zero.
QUESTIONS = {"How many repairs were due to brake wear?": [None] * 3, "How heavy is the counterweight of the Ostermoor crane?": [1]}


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, _path=None, _target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in STUBS else None

    create_module = staticmethod(lambda spec: MagicMock(name=spec.name))
    exec_module = staticmethod(lambda _module: None)


def pdf(pages):
    """A PDF with a line on each page."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    bodies = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for at, page in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET"
        bodies += [f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R >> >> >>", f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream"]
    parts = ["%PDF-1.4\n"] + [f"{number} 0 obj\n{body}\nendobj\n" for number, body in enumerate(bodies, 1)]
    table = "".join(f"{sum(map(len, parts[:at])):010d} 00000 n \n" for at in range(1, len(parts)))
    return "".join(parts) + f"xref\n0 {len(parts)}\n0000000000 65535 f \n{table}trailer << /Size {len(parts)} /Root 1 0 R >>\nstartxref\n{sum(map(len, parts))}\n%%EOF\n"


def serve(program, place):
    """A server over a small base, on a free port."""
    (place / "docs").mkdir()
    for name, held in {"docs/repairs.csv": ROWS, "docs/manual.pdf": pdf(PAGES), "pikerag.toml": SETTINGS}.items():
        (place / name).write_text(held)
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": "pikerag.toml"}
    subprocess.run([program, "--offline", "--base", "base", "index", "docs"], cwd=place, env=variables, check=True, capture_output=True, timeout=120)
    server = subprocess.Popen([program, "--offline", "--base", "base", "serve", "--port", "0"], cwd=place, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return server, server.stdout.readline().split("listening on ")[1].split(";")[0]


def fetched(url, body=None):
    return json.load(urllib.request.urlopen(urllib.request.Request(url, body and json.dumps(body).encode(), {"content-type": "application/json"}), timeout=60))


async def checks(url):
    """The name of each check, and its fault."""

    async def emit(_name, sent, room, **_):
        events.extend([sent["data"]] if room == "user:u" else [])

    from fastapi import FastAPI, Request
    from open_webui.constants import TASKS
    from open_webui.models.chats import ChatForm, Chats
    from open_webui.models.config import Config
    from open_webui.models.users import Users
    from open_webui.routers import tasks
    from open_webui.socket.main import sio
    from open_webui.utils import chat, middleware, models, session_pool

    events, found, sio.emit = [], [], emit

    def of(kind):
        return [event["data"] for event in events if event["type"] == kind]

    def runs():
        return len(fetched(f"{url}/api/v1/bases/default/runs?limit=1000"))

    def fits(data):
        return data["source"]["url"].startswith(url) and data["document"][0] and data["metadata"][0]["name"] and 0 <= data["distances"][0] <= 1

    await Config.upsert({"openai.api_base_urls": [f"{url}/v1"], "openai.api_keys": ["none"], "ollama.enable": False, "task.autocomplete.enable": True})
    app, user = FastAPI(), await Users.insert_new_user("u", "U", "u@example.org", role="admin")
    vars(app.state)["_state"] |= {"redis": None, "BASE_MODELS": [], "MODELS": {}, "OPENAI_MODELS": {}, "OLLAMA_MODELS": {}}
    request = Request({"type": "http", "app": app, "method": "POST", "path": "/", "query_string": b"", "headers": [], "state": {}})
    await models.get_all_models(request, user=user)
    beside = dict.fromkeys([TASKS.TITLE_GENERATION, TASKS.TAGS_GENERATION, TASKS.FOLLOW_UP_GENERATION], True)
    for question, pages in QUESTIONS.items():
        # Each question has a chat of its own, as in `process_chat` of Open WebUI's `main.py`.
        asked = {"id": "q", "parentId": None, "role": "user", "content": question}
        history = {"messages": {"q": asked, "a": {"id": "a", "parentId": "q", "role": "assistant", "content": "", "model": "pikerag"}}, "currentId": "a"}
        await Chats.insert_new_chat(question, "u", ChatForm(chat={"title": "New Chat", "history": history}))
        metadata = {"user_id": "u", "chat_id": question, "message_id": "a", "session_id": "s", "filter_ids": [], "params": {}, "features": {}}
        request.state.metadata, events[:], before = metadata, [], runs()
        form = {"model": "pikerag", "messages": [asked], "stream": True, "stream_options": {"include_usage": True}, "metadata": metadata}
        form, metadata, first, _ = await middleware.process_chat_payload(request, form, user, metadata, app.state.MODELS["pikerag"])
        context = await middleware.build_chat_response_context(request, form, user, app.state.MODELS["pikerag"], metadata, beside, first)
        await middleware.process_chat_response(await chat.generate_chat_completion(request, form, user), context)
        ran, kept = runs() - before, await Chats.get_message_by_id_and_message_id(question, "a")
        whole = fetched(f"{url}/v1/chat/completions", {"model": "pikerag", "messages": [{"role": "user", "content": question}]})
        thoughts, answer, sources, text = kept["output"][0], kept["output"][-1], of("source"), whole["choices"][0]["message"]["content"]
        found.append(("answer", {answer["content"][0]["text"], kept["content"]} != {text} and kept))
        found.append(("reasoning", (thoughts["type"], thoughts["status"]) != ("reasoning", "completed") or not thoughts["content"][0]["text"].count("\n") > 1))
        found.append(("usage", (kept.get("usage") or {}).get("total_tokens") != whole["usage"]["total_tokens"]))
        found.append(("sources", (sources != kept.get("sources") or not all(map(fits, sources)) or len(sources) != text.count("[")) and repr(sources)))
        found.append(("pages", [data["metadata"][0].get("page") for data in sources] != pages and repr(sources)))
        # Citations.svelte makes one entry of sources with the same `metadata.source`: [n] opens the n-th. If it is an address, it replaces the title, and google.com is asked for its icon.
        entries = list(dict.fromkeys(names := [data["metadata"][0]["source"] for data in sources]))
        found.append(("numbers", [f"[{at}] opens another passage or none" for at, name in enumerate(names, 1) if entries[at - 1 : at] != [name]]))
        found.append(("titles", [name for name, data in zip(names, sources) if name.startswith("http") and not data["metadata"][0].get("external")]))
        found.append(("title, tags, follow-ups", (ran, of("chat:tags"), of("chat:message:follow_ups"), bool(of("chat:title"))) != (1, [[]], [{"follow_ups": []}], True) and f"{ran} runs"))
    form = {"model": "pikerag", "chat_id": "c", "prompt": question, "type": "search query", "messages": [{"role": "user", "content": question}]}
    for generate in (tasks.generate_queries, tasks.generate_image_prompt, tasks.generate_autocompletion, tasks.generate_emoji):
        before, reply = runs(), await generate(request, dict(form), user)
        found.append((generate.__name__, (runs() > before or "choices" not in reply) and "a method runs"))
    await session_pool.close_session()
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default="target/debug/pikerag")
    program = pathlib.Path(arguments.parse_args().program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        # As in its slim image, which needs no vector store, and as its own command line starts it.
        os.environ |= {"DATA_DIR": folder, "USE_SLIM_DOCKER": "true", "FROM_INIT_PY": "true", "WEBUI_SECRET_KEY": "check"}
        logging.disable(logging.CRITICAL)
        sys.meta_path.insert(0, Stubs())
        try:
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                import open_webui.utils.middleware  # noqa: F401
        except ImportError as error:
            return print(f"Open WebUI is not available: {error}") or 77
        server, url = serve(program, pathlib.Path(folder))
        try:
            found = asyncio.run(asyncio.wait_for(checks(url), 300))
        finally:
            server.terminate()
            server.wait(timeout=60)
    print("\n".join(f"{name}: {f'FAILED: {str(wrong)[:400]}' if wrong else 'ok'}" for name, wrong in found))
    return int(any(wrong for _, wrong in found))


if __name__ == "__main__":
    sys.exit(main())
