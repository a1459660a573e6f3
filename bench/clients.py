#!/usr/bin/env python3
"""Tests that real clients understand the server: their official packages call the real program over `examples/maintenance`, without a model.

    python3 bench/clients.py --program target/release/pikerag [--cache DIR] [--only NAME,…]

Each client has an environment of its own in the cache, which pip makes once. Exit code 0: all checks pass; 1: some fail; 77: packages are not available.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent
QUESTION = "How many repairs were due to brake wear?"
FACT = "How thin may a brake lining be before it is replaced?"

# The packages of each check's environment.
PACKAGES = {
    "openai": ["openai==3.54.0"],
    "ollama": ["ollama==0.6.3"],
    "langchain": ["langchain-core==1.7.2", "langchain-openai==1.7.3"],
    "llamaindex": ["llama-index-core==0.14.25"],
    "mcp": ["mcp==2.3.0"],
    "mcp-previous": ["mcp<2"],
    # Without the packages that its middleware does not use, which are most of them.
    "openwebui": ["--no-deps", "-r", str(ROOT / "bench/openwebui.txt")],
    "schemathesis": ["schemathesis==4.32.5"],
}


def openai(url, _program):
    from openai import APIStatusError, OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    names = [model.id for model in client.models.list()]
    assert "pikerag" in names and "pikerag/kar3" in names, names
    messages = [{"role": "user", "content": QUESTION}]
    whole = client.chat.completions.create(model="pikerag", messages=messages)
    message = whole.choices[0].message
    assert message.content.startswith("20 [1]"), message.content
    first = message.annotations[0].url_citation
    assert first.url.startswith("http") and message.content[first.start_index : first.end_index] == "[1]", first
    text, thoughts, sources, usage = "", "", 0, None
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(model="pikerag", messages=messages, stream=True, stream_options=options):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thoughts += getattr(choice.delta, "reasoning_content", None) or ""
        sources += "event" in (chunk.model_extra or {})
    assert text == message.content and "quantitative" in thoughts and sources == 20 and usage is not None, (text, thoughts, sources)
    try:
        client.chat.completions.create(model="pikerag/no-such", messages=messages)
        raise AssertionError("a method that does not exist answered")
    except APIStatusError as error:
        assert error.status_code == 400 and error.code == "no-such-method", error
    return f"{len(names)} models, {len(message.annotations)} citations, {len(thoughts.splitlines())} lines of reasoning"


def ollama(url, _program):
    from ollama import Client

    client = Client(host=url)
    names = [model.model for model in client.list().models]
    reply = client.chat(model="pikerag", messages=[{"role": "user", "content": QUESTION}])
    parts = [part.message.content for part in client.chat(model="pikerag:latest", messages=[{"role": "user", "content": QUESTION}], stream=True)]
    assert reply.message.content.startswith("20 [1]") and "".join(parts) == reply.message.content, (reply, parts)
    assert client.ps().models == []
    return f"{len(names)} models"


def langchain(url, _program):
    from langchain_openai import ChatOpenAI

    sys.path[:0] = [str(ROOT / "clients" / folder / "src") for folder in ("python", "python-langchain")]
    from langchain_pikerag import PikeragRetriever

    model = ChatOpenAI(base_url=f"{url}/v1", api_key="none", model="pikerag")
    whole = model.invoke(QUESTION).content
    streamed = "".join(str(chunk.content) for chunk in model.stream(QUESTION))
    assert whole.startswith("20 [1]") and streamed.startswith("20 [1]"), (whole, streamed)
    documents = PikeragRetriever(url=url, k=3).invoke(FACT)
    assert any("6 mm" in document.page_content for document in documents), documents
    assert all(0 <= document.metadata["score"] <= 1 for document in documents)
    return f"{len(documents)} documents"


def llamaindex(url, _program):
    sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "clients/python-llamaindex")]
    from llama_index.retrievers.pikerag import PikeragRetriever

    nodes = PikeragRetriever(url=url, k=3).retrieve(FACT)
    assert any("6 mm" in node.text for node in nodes) and all(0 <= node.score <= 1 for node in nodes), nodes
    return f"{len(nodes)} nodes"


def mcp(url, program):
    import asyncio

    from mcp import StdioServerParameters

    async def use(session, counts):
        listed = await session.list_tools()
        tools = {tool.name for tool in listed.tools}
        assert tools == {"ask", "search", "get_chunk", "list_sources", "graph_neighbours"}, tools
        answer = await session.call_tool("ask", {"question": QUESTION})
        structured = field(answer, "structured_content", "structuredContent")
        assert structured["answer"] == "20" and len(structured["citations"]) == 20, structured
        texts = [block.text for block in answer.content if block.type == "text"]
        assert json.loads(texts[0]) == structured
        links = [block for block in answer.content if block.type == "resource_link"]
        assert links and str(links[0].uri).startswith("http"), answer.content
        found = field(await session.call_tool("search", {"query": FACT, "k": 3}), "structured_content", "structuredContent")
        chunk = await session.call_tool("get_chunk", {"chunk": found["hits"][0]["chunk"]})
        assert "text" in field(chunk, "structured_content", "structuredContent")
        sources = await session.call_tool("list_sources", {})
        assert field(sources, "structured_content", "structuredContent")["left"] == 0
        around = await session.call_tool("graph_neighbours", {"of": found["hits"][0]["chunk"]})
        assert field(around, "structured_content", "structuredContent")["nodes"]
        wrong = await session.call_tool("ask", {"question": "???"})
        assert field(wrong, "is_error", "isError"), wrong
        counts.append(len(tools))

    def field(value, *names):
        return next(getattr(value, name) for name in names if hasattr(value, name))

    async def everything():
        counts = []
        stdio = StdioServerParameters(command=program, args=["--offline", "--base", os.environ["BASE"], "mcp"], env=dict(os.environ), cwd=os.environ["PLACE"])
        try:
            from mcp import Client
            from mcp.client.stdio import stdio_client

            async with Client(f"{url}/mcp") as client:
                await use(client, counts)
            async with Client(stdio_client(stdio)) as client:
                await use(client, counts)
        except ImportError:
            from mcp import ClientSession
            from mcp.client.stdio import stdio_client
            from mcp.client.streamable_http import streamablehttp_client

            async with streamablehttp_client(f"{url}/mcp") as (read, write, _):
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    await use(session, counts)
            async with stdio_client(stdio) as (read, write):
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    await use(session, counts)
        return counts

    from importlib.metadata import version

    counts = asyncio.run(everything())
    return f"mcp {version('mcp')}: {counts[0]} tools over HTTP, {counts[1]} over standard streams"


def openwebui(_url, program):
    """Runs in a process of its own, because Open WebUI reads its settings and its database from the environment."""
    command = [sys.executable, ROOT / "bench/openwebui.py", "--program", program]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return f"{len(ran.stdout.splitlines())} checks"


def schemathesis(url, _program):
    """Sends requests that the document allows and others: no reply is an error of the server, and each fits the document."""
    import urllib.request

    def get(route, body=None):
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{url}/api/v1/bases/default/{route}", data, {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request))

    hits = get("search", {"query": FACT, "k": 3})["hits"]
    runs = [get("ask", {"question": question})["run"] for question in (QUESTION, FACT)]
    known = {
        "path.base": "default",
        "path.chunk": hits[0]["chunk"]["id"],
        "path.source": hits[0]["chunk"]["source"],
        "path.run": runs[0],
        "path.other": runs[1],
    }
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "schemathesis.toml"
        config.write_text("[parameters]\n" + "".join(f'"{name}" = {json.dumps(values)}\n' for name, values in known.items()))
        command = [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", config, "run", f"{url}/openapi.json", "--url", url]
        command += ["--checks", "not_a_server_error,response_schema_conformance", "--max-examples", os.environ.get("EXAMPLES", "15"), "--workers", "1", "--seed", os.environ.get("SEED", "1"), "--no-color"]
        # After the first key exists, every other request would need one.
        command += ["--exclude-operation-id", "post_api_v1_keys"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-6000:]
    return next(line.strip() for line in ran.stdout.splitlines() if " generated, " in line)


CHECKS = {"openai": openai, "ollama": ollama, "langchain": langchain, "llamaindex": llamaindex, "mcp": mcp, "mcp-previous": mcp, "openwebui": openwebui, "schemathesis": schemathesis}


def environment(cache, name):
    """The Python of an environment with the packages of a check; `None` if they are not available."""
    folder = cache / name
    python = folder / "bin/python"
    done = folder / "done"
    wanted = "\n".join(PACKAGES[name])
    if done.exists() and done.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[name]]).returncode:
        return None
    done.write_text(wanted)
    return python


def serve(program, place):
    """A server over the example, on a free port."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": "pikerag.toml"}
    example = ROOT / "examples/maintenance"
    shutil.copytree(example / "docs", place / "docs")
    shutil.copy(example / "pikerag.toml", place / "pikerag.toml")
    run = [program, "--offline", "--base", "base"]
    subprocess.run([*run, "index", "docs"], cwd=place, env=variables, check=True, capture_output=True)
    server = subprocess.Popen([*run, "serve", "--port", "0"], cwd=place, env=variables, stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split("listening on ")[1].split(";")[0]
    return server, url, variables


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "target/debug/pikerag"))
    arguments.add_argument("--cache", default=os.path.expanduser("~/.cache/pikerag/clients"))
    arguments.add_argument("--only", default=",".join(CHECKS))
    arguments.add_argument("--check", help=argparse.SUPPRESS)
    arguments.add_argument("--url", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    if given.check:
        print(CHECKS[given.check](given.url, program))
        return 0
    cache = pathlib.Path(given.cache)
    cache.mkdir(parents=True, exist_ok=True)
    failed, absent = [], []
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        server, url, variables = serve(program, place)
        variables |= {"BASE": str(place / "base"), "PLACE": str(place)}
        variables |= {name: os.environ[name] for name in ("SEED", "EXAMPLES") if name in os.environ}
        try:
            for name in given.only.split(","):
                python = environment(cache, name)
                if python is None:
                    absent.append(name)
                    print(f"{name}: packages are not available", flush=True)
                    continue
                command = [python, HERE, "--program", program, "--check", name, "--url", url]
                ran = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=180)
                print(f"{name}: {ran.stdout.strip() if ran.returncode == 0 else 'FAILED'}", flush=True)
                if ran.returncode:
                    failed.append(name)
                    print(ran.stderr[-3000:], flush=True)
        finally:
            server.terminate()
            server.wait(timeout=60)
    return 1 if failed else 77 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
