#!/usr/bin/env python3
"""Tests that real clients understand the server: their official packages call the real program over `examples/maintenance`, without a model.

    python3 bench/clients.py --program target/release/pikerag [--cache DIR] [--only NAME,…]

Each client has an environment of its own in the cache, which pip and npm make once. Exit code 0: all checks pass; 1: some fail; 77: packages are not available.
"""

import argparse
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent
QUESTION = "How many repairs were due to brake wear?"
FACT = "How thin may a brake lining be before it is replaced?"

# The packages of each check's environment.
PACKAGES = {
    "openai": ["openai==3.54.0"],
    "responses": ["openai==3.54.0"],
    "openai-agents": ["openai-agents==0.24.0"],
    # Its packages are those of npm.
    "ai-sdk": [],
    "instructor": ["instructor==1.17.0"],
    "pydantic-ai": ["pydantic-ai-slim[openai]==2.68.0"],
    "ollama": ["ollama==0.6.3"],
    "litellm": ["litellm==1.110.2"],
    "cohere": ["cohere==7.3.1"],
    "langchain": ["langchain-core==1.7.2", "langchain-openai==1.7.3"],
    "llamaindex": ["llama-index-core==0.14.25"],
    "mcp": ["mcp==2.3.0"],
    "mcp-previous": ["mcp<2"],
    # Its packages are `NODE_PACKAGES`.
    "mcp-typescript": [],
    # Without the packages that its middleware does not use, which are most of them.
    "openwebui": ["--no-deps", "-r", str(ROOT / "bench/openwebui.txt")],
    "schemathesis": ["schemathesis==4.32.5"],
    "openapi": ["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"],
}

# The packages of npm.
NODE_PACKAGES = {
    "ai-sdk": ["ai@6.0.326", "@ai-sdk/openai@3.0.141", "zod@4.6.7"],
    "mcp-typescript": ["@modelcontextprotocol/sdk@1"],
    "openapi": ["@hey-api/openapi-ts@0.95.0", "openapi-typescript@7.13.0", "typescript@5.9.3"],
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
    assert client.models.retrieve("pikerag/kar3").id == "pikerag/kar3"
    text, thoughts, sources, annotations, usage = "", "", 0, [], None
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(model="pikerag", messages=messages, stream=True, stream_options=options):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thoughts += getattr(choice.delta, "reasoning_content", None) or ""
            annotations += getattr(choice.delta, "annotations", None) or []
        sources += "event" in (chunk.model_extra or {})
    assert text == message.content and "quantitative" in thoughts and sources == 20 and usage is not None, (text, thoughts, sources)
    assert [one["url_citation"]["url"] for one in annotations] == [one.url_citation.url for one in message.annotations], annotations
    short = client.chat.completions.create(model="pikerag", messages=messages, max_tokens=20).choices[0]
    assert short.finish_reason == "length" and text.startswith(short.message.content) and len(short.message.annotations) < 20, short
    for refused in ({"n": 2}, {"stop": ["x"]}, {"logprobs": True}, {"tool_choice": "required"}, {"extra_body": {"filtre": ["folder=x"]}}):
        try:
            client.chat.completions.create(model="pikerag", messages=messages, **refused)
            raise AssertionError(f"{refused} was ignored")
        except APIStatusError as error:
            assert error.status_code == 400 and error.param in [*refused, "filtre"], error
    try:
        client.chat.completions.create(model="pikerag/no-such", messages=messages)
        raise AssertionError("a method that does not exist answered")
    except APIStatusError as error:
        assert error.status_code == 404 and error.code == "model_not_found", error
    form = {"type": "object", "properties": {"repairs": {"type": "integer"}}, "required": ["repairs"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "Repairs", "schema": form}}
    filled = client.chat.completions.create(model="pikerag", messages=messages, response_format=wanted).choices[0].message
    assert json.loads(filled.content) == {"repairs": 20}, filled
    return f"{len(names)} models, {len(message.annotations)} citations, {len(thoughts.splitlines())} lines of reasoning"


def count_of_repairs():
    """The schema of an answer to QUESTION."""
    from pydantic import BaseModel

    class Count(BaseModel):
        count: int
        citations: list[str]

    return Count


def responses(url, _program):
    """OpenAI's Responses API: whole, as a stream, in a conversation, refused."""
    from openai import APIStatusError, OpenAI
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter

    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    whole = client.responses.create(model="pikerag", input=QUESTION, instructions="Be short.", metadata={"from": "check"})
    # The client accepts any object; the type checks every field.
    Response.model_validate_json(whole.model_dump_json())
    assert whole.status == "completed" and whole.output_text.startswith("20 [1]") and whole.metadata == {"from": "check"}, whole
    steps, message = whole.output
    assert "quantitative" in steps.summary[0].text, steps
    annotations = message.content[0].annotations
    first = annotations[0]
    assert len(annotations) == 20 and first.url.startswith("http") and whole.output_text[first.start_index : first.end_index] == "[1]", first
    one_event, events = TypeAdapter(ResponseStreamEvent), []
    for event in client.responses.create(model="pikerag", input=QUESTION, stream=True):
        one_event.validate_json(event.model_dump_json())
        events.append(event)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].type == "response.created" and events[-1].type == "response.completed", events[-1]
    assert events[-1].response.output_text == whole.output_text
    added = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert len(added) == 20, added
    with client.responses.stream(model="pikerag", input=[{"role": "user", "content": QUESTION}]) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == whole.output_text
    user = {"role": "user", "content": QUESTION}
    reference = {"type": "item_reference", "id": message.id}
    for more in ({"input": QUESTION, "previous_response_id": whole.id}, {"input": [user, *whole.output, user]}, {"input": [user, reference, user]}):
        assert client.responses.create(model="pikerag", **more).output_text == whole.output_text, more
    parsed = client.responses.parse(model="pikerag", input=QUESTION, text_format=count_of_repairs()).output_parsed
    assert parsed.count == 20, parsed
    part = {"extra_body": {"filter": ["folder=nowhere"]}}
    for refused in ({"background": True}, {"tool_choice": "required"}, {"top_logprobs": 2}, {"previous_response_id": "resp_none"}, {"extra_body": {"surprise": 1}}, part):
        try:
            client.responses.create(model="pikerag", input=QUESTION, **refused)
            raise AssertionError(f"{refused} was ignored")
        except APIStatusError as error:
            assert refused is part or (error.status_code == 400 and error.param in [*refused, "surprise"]), error
    try:
        client.responses.retrieve(whole.id)
        raise AssertionError("a response was stored")
    except APIStatusError as error:
        assert error.status_code == 404 and whole.id.removeprefix("resp_") in error.message, error
    return f"{len(events)} events, {len(added)} citations"


def openai_agents(url, _program):
    """An agent whose model is the server: whole, as a stream, over two turns, with a tool that need not be called."""
    import asyncio

    from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    @function_tool
    def clock() -> str:
        """The time."""
        raise AssertionError("no tool is called")

    async def talk():
        client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
        model = OpenAIResponsesModel(model="pikerag", openai_client=client)
        agent = Agent(name="Documents", instructions="Answer from the documents.", tools=[clock], model=model)
        whole = await Runner.run(agent, QUESTION)
        again = Runner.run_streamed(agent, [*whole.to_input_list(), {"role": "user", "content": QUESTION}])
        kinds = [event.type async for event in again.stream_events()]
        typed = await Runner.run(Agent(name="Typed", model=model, output_type=count_of_repairs()), QUESTION)
        assert typed.final_output.count == 20, typed
        return whole, again, kinds

    set_tracing_disabled(True)
    whole, again, kinds = asyncio.run(talk())
    assert whole.final_output.startswith("20 [1]") and again.final_output == whole.final_output, (whole, again)
    items = [item.type for item in whole.new_items]
    assert items == ["reasoning_item", "message_output_item"], items
    return f"{len(items)} items, {len(kinds)} events"


def ai_sdk(url, _program):
    command = ["node", ROOT / "bench/ai_sdk.mjs", os.environ["NODE_FOLDER"], url, QUESTION]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.strip()


def asked(url):
    """The questions of all kept runs."""
    import urllib.request

    runs = json.load(urllib.request.urlopen(f"{url}/api/v1/bases/default/runs"))
    return [run["question"]["text"] for run in runs]


def instructor(url, _program):
    import instructor as package
    from instructor.core import InstructorRetryException
    from openai import OpenAI
    from pydantic import BaseModel, field_validator

    class Repairs(BaseModel):
        repairs: int
        citations: list[str]

    class Refusing(Repairs):
        @field_validator("repairs")
        @classmethod
        def refused(cls, value):
            raise ValueError("never right")

    modes = [package.Mode.TOOLS, package.Mode.JSON, package.Mode.JSON_SCHEMA, package.Mode.MD_JSON]
    for mode in modes:
        client = package.from_openai(OpenAI(base_url=f"{url}/v1", api_key="none"), mode=mode)
        wanted = {"model": "pikerag", "messages": [{"role": "user", "content": QUESTION}]}
        repairs = client.chat.completions.create(response_model=Repairs, **wanted)
        assert repairs.repairs == 20 and len(repairs.citations) == 20, (mode, repairs)
        try:
            client.chat.completions.create(response_model=Refusing, max_retries=2, **wanted)
            raise AssertionError(f"{mode}: refused values were accepted")
        except InstructorRetryException:
            pass
    errors = [text for text in asked(url) if "rror" in text]
    assert not errors, errors
    return f"{len(modes)} modes"


def pydantic_ai(url, _program):
    from pydantic import BaseModel
    from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    class Repairs(BaseModel):
        repairs: int
        citations: list[str]

    model = OpenAIChatModel("pikerag", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))
    outputs = [Repairs, NativeOutput(Repairs), PromptedOutput(Repairs), int]
    for output in outputs:
        repairs = Agent(model, output_type=output).run_sync(QUESTION).output
        assert getattr(repairs, "repairs", repairs) == 20, (output, repairs)
        refusing = Agent(model, output_type=output, retries=2)

        @refusing.output_validator
        def refused(value):
            raise ModelRetry("never right")

        try:
            refusing.run_sync(QUESTION)
            raise AssertionError(f"{output}: refused values were accepted")
        except UnexpectedModelBehavior:
            pass
    others = [text for text in asked(url) if "never right" in text]
    assert not others, others
    return f"{len(outputs)} kinds of output"


def ollama(url, program):
    from ollama import Client

    client = Client(host=url)
    names = [model.model for model in client.list().models]
    shown = client.show("pikerag/kar3")
    assert "completion" in shown.capabilities and shown.modelinfo["pikerag.context_length"] > 4096, shown
    assert client.pull("pikerag").status == "success" and [part.status for part in client.pull("pikerag", stream=True)][-1] == "success"
    assert client.ps().models == []
    messages = [{"role": "user", "content": QUESTION}]
    reply = client.chat(model="pikerag", messages=messages)
    text = reply.message.content
    assert text.startswith("20 [1]") and "- [1] [" in text and f"]({url}/passages/default/" in text, text
    assert abs((datetime.now(timezone.utc) - datetime.fromisoformat(reply.created_at[:19] + "+00:00")).total_seconds()) < 60, reply.created_at
    assert reply.done_reason == "stop" and reply.total_duration > 0 and reply.message.thinking is None, reply
    parts = list(client.chat(model="pikerag:latest", messages=messages, stream=True))
    thoughts = "".join(part.message.thinking or "" for part in parts)
    assert "".join(part.message.content or "" for part in parts) == text and "quantitative" in thoughts, parts
    assert not any(part.message.thinking for part in client.chat(model="pikerag", messages=messages, stream=True, think=False))
    assert client.generate(model="pikerag", prompt=QUESTION, system="Be brief.", options={"temperature": 0}).response == text
    assert "".join(part.response or "" for part in client.generate(model="pikerag", prompt=QUESTION, stream=True)) == text
    assert client.generate(model="pikerag").done_reason == "load"
    assert client.generate(model="pikerag", prompt=QUESTION, options={"num_predict": 2}).done_reason == "length"
    refused = [
        (400, lambda: client.chat(model="pikerag", messages=messages, format="json")),
        (400, lambda: client.generate(model="pikerag", prompt=QUESTION, options={"stop": ["x"]})),
        (404, lambda: client.chat(model="llama3", messages=messages)),
        (404, lambda: client.show("llama3")),
        (404, lambda: client.pull("llama3")),
        (400, lambda: client.create(model="mine", from_="pikerag")),
        (400, lambda: client.copy("pikerag", "mine")),
        (400, lambda: client.delete("pikerag")),
    ]
    for status, call in refused:
        try:
            call()
            raise AssertionError("a request that cannot be served was answered")
        except ResponseError as error:
            assert error.status_code == status and error.error and "{" not in error.error, error
    with with_models(program) as other:
        client = Client(host=other)
        vectors = client.embed(model="pikerag", input=["a crane", "a port"]).embeddings
        assert len(vectors) == 2 and len(vectors[0]) == 8, vectors
        assert client.embeddings(model="pikerag", prompt="a crane").embedding == vectors[0]
    return f"{len(names)} models, {len(thoughts.splitlines())} lines of thinking"


def litellm(url, program):
    """Sends JSON without naming its type."""
    # Its list of prices comes from the package, not from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    messages = [{"role": "user", "content": QUESTION}]
    ask = {"model": "ollama_chat/pikerag", "api_base": url, "messages": messages}
    text = litellm.completion(**ask, temperature=0.2).choices[0].message.content
    assert text.startswith("20 [1]"), text
    deltas = [chunk.choices[0].delta for chunk in litellm.completion(**ask, stream=True)]
    assert "".join(delta.content or "" for delta in deltas) == text, deltas
    thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "quantitative" in thoughts, thoughts
    short = litellm.completion(**ask, max_tokens=2)
    assert short.choices[0].finish_reason == "length", short
    refusal = ""
    try:
        litellm.completion(model="ollama_chat/llama3", api_base=url, messages=messages)
    except Exception as error:  # Its class depends on the version.
        refusal = str(error)
    assert "llama3" in refusal, "a model that does not exist answered"
    with with_models(program) as other:
        made = litellm.embedding(model="ollama/pikerag", api_base=other, input=["a crane", "a port"])
        assert len(made.data) == 2 and len(made.data[0]["embedding"]) == 8, made
    return f"{len(thoughts.splitlines())} lines of reasoning"


def cohere(_url, program):
    from cohere import Client, ClientV2

    documents = ["Tea grows on hills, as everybody knows.", "The crane lifts forty tons."]
    with with_models(program) as url:
        second = ClientV2(api_key="none", base_url=url)
        found = second.rerank(model="pikerag", query="What lifts?", documents=documents, max_tokens_per_doc=512)
        assert [result.index for result in found.results] == [1, 0], found
        assert all(0 <= result.relevance_score <= 1 for result in found.results) and found.id, found
        assert found.meta.api_version.version == "2", found
        assert len(second.rerank(model="pikerag", query="What lifts?", documents=documents, top_n=1).results) == 1
        first = Client(api_key="none", base_url=url)
        fields = [{"title": "Tea", "text": documents[0]}, {"title": "Crane", "text": documents[1]}]
        found = first.rerank(model="pikerag", query="What lifts?", documents=fields, rank_fields=["title", "text"], return_documents=True)
        assert found.results[0].document.text == documents[1] and found.meta.api_version.version == "1", found
    return f"{len(found.results)} results"


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


@contextlib.contextmanager
def slow_server(program, seconds):
    """The address of a server over the example whose model refuses each request, and takes this long for it."""
    import http.server

    class Model(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(seconds)
            body = json.dumps({"error": {"message": "refused"}}).encode()
            self.send_response(400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    model.daemon_threads = True
    threading.Thread(target=model.serve_forever, daemon=True).start()
    place = pathlib.Path(os.environ["PLACE"])
    settings = place / "slow.toml"
    chat = f'[chat]\nbase_url = "http://127.0.0.1:{model.server_port}/v1"\nmodel = "slow"\napi_key = "none"\n'
    settings.write_text((place / "pikerag.toml").read_text() + "\n" + chat)
    run = [program, "--config", settings, "--base", os.environ["BASE"], "serve", "--port", "0"]
    server = subprocess.Popen(run, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield server.stdout.readline().split("listening on ")[1].split(";")[0]
    finally:
        server.terminate()
        server.wait(timeout=60)
        model.shutdown()


def check_cancelled(url):
    """The latest run was cancelled."""
    for _ in range(100):
        runs = json.load(urllib.request.urlopen(f"{url}/api/v1/bases/default/runs?limit=1"))
        if runs[0]["state"] != "running":
            break
        time.sleep(0.1)
    assert runs[0]["state"] == "cancelled", runs


def mcp(url, program):
    import asyncio

    from mcp import StdioServerParameters

    def field(value, *names):
        return next(getattr(value, name) for name in names if hasattr(value, name))

    def structured(result):
        return field(result, "structured_content", "structuredContent")

    def is_error(result):
        return field(result, "is_error", "isError")

    async def use(session, counts, scheme):
        listed = await session.list_tools()
        tools = {tool.name for tool in listed.tools}
        assert tools == {"ask", "search", "fetch", "get_chunk", "list_sources", "graph_neighbours"}, tools
        steps = []

        async def progress(number, _total, message):
            steps.append((number, message))

        answer = await session.call_tool("ask", {"question": QUESTION}, progress_callback=progress)
        assert structured(answer)["answer"] == "20" and len(structured(answer)["citations"]) == 20, answer
        numbers = [number for number, _ in steps]
        assert 1 < len(steps) and numbers == sorted(set(numbers)), steps
        assert any("quantitative" in message for _, message in steps), steps
        texts = [block.text for block in answer.content if block.type == "text"]
        assert json.loads(texts[0]) == structured(answer)
        links = [block for block in answer.content if block.type == "resource_link"]
        assert links and str(links[0].uri).startswith(scheme), answer.content
        found = await session.call_tool("search", {"query": FACT, "k": 3})
        # ChatGPT's form of `search` and `fetch`: one block of text.
        assert len(found.content) == 1 and json.loads(found.content[0].text) == structured(found), found
        found = structured(found)
        first = found["results"][0]
        assert set(first) == {"id", "title", "url"} and first["url"].startswith(scheme), found
        fetched = await session.call_tool("fetch", {"id": first["id"]})
        assert len(fetched.content) == 1 and json.loads(fetched.content[0].text) == structured(fetched), fetched
        assert {"id", "title", "text", "url", "metadata"} == set(structured(fetched)), fetched
        assert found["hits"][0]["text"] in structured(fetched)["text"], fetched
        chunk = await session.call_tool("get_chunk", {"chunk": found["hits"][0]["chunk"]})
        assert "text" in structured(chunk)
        sources = await session.call_tool("list_sources", {})
        assert structured(sources)["left"] == 0
        around = await session.call_tool("graph_neighbours", {"of": found["hits"][0]["chunk"]})
        assert structured(around)["nodes"]
        wrong = await session.call_tool("ask", {"question": "???"})
        assert is_error(wrong), wrong
        misspelt = await session.call_tool("search", {"query": FACT, "filters": ["folder=none"]})
        assert is_error(misspelt) and "unknown argument `filters`" in misspelt.content[0].text, misspelt
        counts.append(len(tools))

    async def wait(session, url):
        """A call is reported while its model works, and stops when it is cancelled."""
        steps = []
        reported = asyncio.Event()

        async def progress(number, _total, message):
            steps.append(message)
            if message.startswith("Still working"):
                reported.set()

        slow = {"question": FACT, "method": "naive-rag"}
        refused = await session.call_tool("ask", slow, progress_callback=progress)
        assert is_error(refused) and reported.is_set(), (refused, steps)
        reported.clear()
        # The previous version sends no notification by itself.
        number = getattr(session, "_request_id", None)
        call = asyncio.create_task(session.call_tool("ask", slow, progress_callback=progress))
        await asyncio.wait_for(reported.wait(), 60)
        if number is not None:
            from mcp import types

            cancelled = types.CancelledNotification(params=types.CancelledNotificationParams(requestId=number))
            await session.send_notification(types.ClientNotification(cancelled))
        call.cancel()
        await asyncio.wait([call])
        await asyncio.to_thread(check_cancelled, url)
        return len(steps)

    async def everything(slow_url):
        counts = []
        stdio = StdioServerParameters(command=program, args=["--offline", "--base", os.environ["BASE"], "mcp"], env=dict(os.environ), cwd=os.environ["PLACE"])
        try:
            from mcp import Client
            from mcp.client.stdio import stdio_client

            async with Client(f"{url}/mcp") as client:
                await use(client, counts, "http")
            async with Client(stdio_client(stdio)) as client:
                await use(client, counts, "file:")
            # The version with sessions cancels by a notification, the next one by closing the stream.
            for mode in ("legacy", "auto"):
                async with Client(f"{slow_url}/mcp", mode=mode) as client:
                    steps = await wait(client, slow_url)
        except ImportError:
            from mcp import ClientSession
            from mcp.client.stdio import stdio_client
            from mcp.client.streamable_http import streamablehttp_client

            async with streamablehttp_client(f"{url}/mcp") as (read, write, _):
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    await use(session, counts, "http")
            async with stdio_client(stdio) as (read, write):
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    await use(session, counts, "file:")
            async with streamablehttp_client(f"{slow_url}/mcp") as (read, write, _):
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    steps = await wait(session, slow_url)
        return counts, steps

    from importlib.metadata import version

    with slow_server(program, 15) as slow_url:
        counts, steps = asyncio.run(everything(slow_url))
    return f"mcp {version('mcp')}: {counts[0]} tools over HTTP, {counts[1]} over standard streams; {steps} reports while the model works"


def mcp_typescript(url, program):
    """The client of many assistants: it waits for 60 seconds, or as long as reports come."""
    with slow_server(program, 25) as slow_url:
        command = ["node", ROOT / "bench/mcp_client.mjs", os.environ["NODE_FOLDER"], url, slow_url, QUESTION, FACT]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        check_cancelled(slow_url)
    return ran.stdout.strip()


def openwebui(_url, program):
    """Runs in a process of its own, because Open WebUI reads its settings and its database from the environment."""
    command = [sys.executable, ROOT / "bench/openwebui.py", "--program", program]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return f"{len(ran.stdout.splitlines())} checks"


def schemathesis(url, _program):
    """Sends requests that the document allows and others: no reply is an error of the server, and each fits the document."""
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
        command += ["--exclude-operation-id", "createKey"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-6000:]
    return next(line.strip() for line in ran.stdout.splitlines() if " generated, " in line)


# A program in TypeScript over what hey-api and openapi-typescript generate.
TYPESCRIPT = """
import { ask, deleteFile, getJob, search, uploadFile, type AskRequest, type Problem } from "./hey";
import type { components, operations } from "./schema";

type Found = operations["search"]["responses"][200]["content"]["application/json"];

export async function answer(question: string): Promise<string> {
  const base = "default";
  const path = { base, file: "seal.md" };
  const sent = await uploadFile({ path, body: new Blob(["# Seal"]), query: { hold: false } });
  await getJob({ path: { base, job: sent.data?.job ?? 0 } });
  const body: AskRequest = { question };
  const asked = await ask({ path: { base }, body });
  const found = await search({ path: { base }, body: { query: question } });
  const hits: Found["hits"] = found.data?.hits ?? [];
  const problem: Problem | components["schemas"]["Problem"] | undefined = asked.error;
  await deleteFile({ path: { base }, query: { file: "seal.md" } });
  return problem?.code ?? asked.data?.answer.text ?? String(hits.length);
}
"""


def openapi(url, program):
    """Validates the document, generates clients from it, and uses one: upload, job, question, stream, citation, original, deletion."""
    import re
    import urllib.request

    def run(*command):
        ran = subprocess.run([str(part) for part in command], cwd=place, capture_output=True, text=True)
        assert ran.returncode == 0, (command[:2], (ran.stdout + ran.stderr)[-4000:])
        return ran.stdout + ran.stderr

    own = pathlib.Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        document = place / "openapi.json"
        document.write_bytes(urllib.request.urlopen(f"{url}/openapi.json").read())
        run(own / "openapi-spec-validator", document)
        config = place / "config.json"
        kinds = {"image/png": "application/octet-stream", "application/x-ndjson": "text/plain"}
        config.write_text(json.dumps({"content_type_overrides": kinds, "post_hooks": []}))
        target = place / "generated_client"
        warnings = run(own / "openapi-python-client", "generate", "--path", document, "--config", config, "--meta", "none", "--output-path", target)
        # It has no schemas that combine an object with one of several (`RunEvent`).
        incomplete = set(re.findall(r"parsing (\w+ \S+) within", warnings))
        assert all("/runs/{run}" in route for route in incomplete), warnings
        sys.path.insert(0, folder)
        steps = use_generated(url)
        binaries = own.parent / "node_modules/.bin"
        run("node", binaries / "openapi-ts", "--input", document, "--output", place / "hey", "--silent", "--no-log-file")
        run("node", binaries / "openapi-typescript", document, "--output", place / "schema.d.ts")
        (place / "use.ts").write_text(TYPESCRIPT)
        options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
        run("node", binaries / "tsc", *options, place / "use.ts")
    return f"valid; {steps} steps with the generated client; TypeScript type-checks"


def use_generated(url):
    """Uses the client that openapi-python-client has generated; returns the number of steps."""
    import io
    import time

    from generated_client import Client
    from generated_client.api.ask import ask
    from generated_client.api.files import delete_file, get_job, upload_file, upload_files
    from generated_client.api.look import download_original, get_chunk, list_files
    from generated_client.api.search import search
    from generated_client.models import AskRequest, Asked, Problem, SearchRequest, UploadForm
    from generated_client.types import File

    client = Client(base_url=url, timeout=120)
    text = b"# Pump Q-77\n\nThe seal of pump Q-77 must be replaced every 4,321 hours.\n"
    base, name = "default", "manuals/pump q-77.md"

    def wait(job):
        for _ in range(600):
            state = get_job.sync(base, job, client=client)
            if state.stand not in ("waiting", "running"):
                return str(state.stand)
            time.sleep(0.1)
        raise AssertionError("the job does not end")

    sent = upload_file.sync(base, name, client=client, body=File(io.BytesIO(text)))
    assert sent.is_whole and sent.held == len(text), sent
    assert wait(sent.job) == "done"
    form = UploadForm(file=[File(io.BytesIO(b"# A\n\nOne.\n"), "a.md", "text/markdown"), File(io.BytesIO(b"# B\n\nTwo.\n"), "b.md", "text/markdown")])
    both = upload_files.sync(base, client=client, body=form)
    assert [file.file for file in both.files] == ["a.md", "b.md"], both
    assert wait(both.files[0].job) == "done"
    question = AskRequest(question="How often must the seal of pump Q-77 be replaced?")
    asked = ask.sync(base, client=client, body=question)
    assert isinstance(asked, Asked) and "4,321" in asked.answer.text, asked
    citation = asked.answer.citations[0]
    chunk = get_chunk.sync(base, citation.chunk, client=client)
    assert citation.quote in chunk.text and citation.uri.endswith(name), (citation, chunk)
    request = ask._get_kwargs(base, body=question)
    request["headers"]["Accept"] = "text/event-stream"
    events = []
    with client.get_httpx_client().stream(**request) as stream:
        for line in stream.iter_lines():
            field, _, value = line.partition(":")
            if field == "event":
                events.append(value.strip())
            elif field == "data":
                data = value.strip()
    assert events[0] == "run" and events[-1] == "answer", events
    assert Asked.from_dict(json.loads(data)).answer.text == asked.answer.text
    found = search.sync(base, client=client, body=SearchRequest(query="seal of pump Q-77", k=1))
    assert found.hits[0].chunk.id == citation.chunk, found
    names = [file.name for file in list_files.sync(base, client=client) if file.name.endswith((name, "/a.md", "/b.md"))]
    original = download_original.sync(base, client=client, file=next(known for known in names if known.endswith(name)))
    assert original.payload.read() == text
    for known in names:
        assert delete_file.sync(base, client=client, file=known).was_sent, known
    gone = get_chunk.sync(base, citation.chunk, client=client)
    assert isinstance(gone, Problem) and gone.code == "no-such-chunk", gone
    return 11


CHECKS = {"openai": openai, "responses": responses, "openai-agents": openai_agents, "ai-sdk": ai_sdk, "instructor": instructor, "pydantic-ai": pydantic_ai, "ollama": ollama, "litellm": litellm, "cohere": cohere, "langchain": langchain, "llamaindex": llamaindex, "mcp": mcp, "mcp-previous": mcp, "mcp-typescript": mcp_typescript, "openwebui": openwebui, "openapi": openapi, "schemathesis": schemathesis}


def environment(cache, name):
    """The Python of an environment with the packages of a check; `None` if they are not available."""
    folder = cache / name
    python = folder / "bin/python"
    done = folder / "done"
    wanted = "\n".join(PACKAGES[name] + NODE_PACKAGES.get(name, []))
    if done.exists() and done.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    if PACKAGES[name] and subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[name]]).returncode:
        return None
    if node := NODE_PACKAGES.get(name):
        npm = shutil.which("npm")
        if npm is None or subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, *node]).returncode:
            return None
    done.write_text(wanted)
    return python


class Models(http.server.BaseHTTPRequestHandler):
    """Stands in for an embedder, with vectors of hashed words, and for a reranker: the shorter, the better."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/rerank"):
            scores = [1 / (1 + len(text)) for text in asked["documents"]]
            reply = {"results": [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]}
        else:
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            reply = {"data": [{"index": index, "embedding": self.vector(text)} for index, text in enumerate(texts)]}
        body = json.dumps(reply | {"usage": {"prompt_tokens": 1, "total_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def vector(self, text):
        numbers = [0.1] * 8
        for word in text.lower().split():
            numbers[hashlib.sha256(word.encode()).digest()[0] % 8] += 1.0
        return numbers

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def with_models(program):
    """The address of a server that has an embedder and a reranker."""
    models = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models)
    threading.Thread(target=models.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{models.server_address[1]}/v1"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "crane.md").write_text("# Crane\n\nThe crane of Hamburg lifts forty tons.\n")
        tables = "".join(f'[{name}]\nbase_url = "{address}"\nmodel = "stand-in"\n' for name in ("embed", "rerank"))
        (place / "pikerag.toml").write_text(tables)
        variables = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": str(place / "state"), "PIKERAG_CONFIG": "pikerag.toml"}
        run = [program, "--base", "base"]
        subprocess.run([*run, "index", "crane.md"], cwd=place, env=variables, check=True, capture_output=True)
        server = subprocess.Popen([*run, "serve", "--port", "0"], cwd=place, env=variables, stdout=subprocess.PIPE, text=True)
        try:
            yield server.stdout.readline().split("listening on ")[1].split(";")[0]
        finally:
            server.terminate()
            server.wait(timeout=60)
            models.shutdown()


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
                variables["NODE_FOLDER"] = str(cache / name)
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
