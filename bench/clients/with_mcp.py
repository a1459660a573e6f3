"""Calls the Model Context Protocol with its official packages, over HTTP and over standard streams."""

import asyncio
import contextlib
import json
import os

from clients import servers
from clients.harness import FACT, QUESTION, Missing, reason

TOOLS = {"ask", "search", "fetch", "get_chunk", "list_sources", "graph_neighbours"}
# The model of the slow server needs longer than the time between two reports of progress.
SLOW = 15
SLOW_QUESTION = {"question": FACT, "method": "naive-rag"}


def field(value, *names):
    """A field, whose name differs between the two major versions."""
    return next(getattr(value, name) for name in names if hasattr(value, name))


def structured(result):
    return field(result, "structured_content", "structuredContent")


def is_error(result):
    return field(result, "is_error", "isError")


@contextlib.asynccontextmanager
async def connected(address, **more):
    """A session at an address, or with a process over standard streams."""
    try:
        from mcp import Client
    except ImportError:
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamablehttp_client

        streams = streamablehttp_client(address) if isinstance(address, str) else stdio_client(address)
        async with streams as ends, ClientSession(*ends[:2]) as session:
            await session.initialize()
            yield session
    else:
        from mcp.client.stdio import stdio_client

        async with Client(address if isinstance(address, str) else stdio_client(address), **more) as session:
            yield session


def mcp(check):
    from mcp import StdioServerParameters

    arguments = ["--offline", "--base", os.environ["BASE"], "mcp"]
    process = StdioServerParameters(command=check.program, args=arguments, env=dict(os.environ), cwd=os.environ["PLACE"])
    tools(check, "HTTP", f"{check.url}/mcp", "http")
    tools(check, "standard streams", process, "file:")
    try:
        from mcp import Client  # noqa: F401
    except ImportError:
        long_calls(check, "")
    else:
        # The version with sessions cancels by a notification, the next one by closing the stream.
        long_calls(check, ", mode legacy", mode="legacy")
        long_calls(check, ", mode auto", mode="auto")


def tools(check, name, address, scheme):
    """The operations over one kind of connection, whose links begin with this scheme. Each has a session of its own."""
    kept = Missing()

    def operation(title):
        return check.operation(f"{title} ({name})")

    async def call(tool, arguments, **more):
        async with connected(address) as session:
            return await session.call_tool(tool, arguments, **more)

    async def hits():
        if "hits" not in kept:
            kept["hits"] = structured(await call("search", {"query": FACT, "k": 3}))["hits"]
        return kept["hits"]

    @operation("list tools")
    async def _():
        async with connected(address) as session:
            found = {tool.name for tool in (await session.list_tools()).tools}
        assert TOOLS <= found, found
        return f"{len(found)} tools"

    @operation("ask: structured content and the same as text")
    async def _():
        answer = await call("ask", {"question": QUESTION})
        assert structured(answer)["answer"] == "20" and len(structured(answer)["citations"]) == 20, answer
        texts = [block.text for block in answer.content if block.type == "text"]
        assert json.loads(texts[0]) == structured(answer)
        links = [block for block in answer.content if block.type == "resource_link"]
        assert links and str(links[0].uri).startswith(scheme), answer.content

    @operation("ask: progress")
    async def _():
        steps = []

        async def progress(number, _total, message):
            steps.append((number, message))

        await call("ask", {"question": QUESTION}, progress_callback=progress)
        numbers = [number for number, _ in steps]
        assert 1 < len(steps) and numbers == sorted(set(numbers)), steps
        assert any("quantitative" in message for _, message in steps), steps
        return f"{len(steps)} steps"

    @operation("search, as ChatGPT expects it")
    async def _():
        found = await call("search", {"query": FACT, "k": 3})
        assert len(found.content) == 1 and json.loads(found.content[0].text) == structured(found), found
        first = structured(found)["results"][0]
        assert set(first) == {"id", "title", "url"} and first["url"].startswith(scheme), found
        kept["first"], kept["hits"] = first, structured(found)["hits"]

    @operation("fetch, as ChatGPT expects it")
    async def _():
        fetched = await call("fetch", {"id": kept["first"]["id"]})
        assert len(fetched.content) == 1 and json.loads(fetched.content[0].text) == structured(fetched), fetched
        assert {"id", "title", "text", "url", "metadata"} == set(structured(fetched)), fetched
        assert kept["hits"][0]["text"] in structured(fetched)["text"], fetched

    @operation("get_chunk")
    async def _():
        assert "text" in structured(await call("get_chunk", {"chunk": (await hits())[0]["chunk"]}))

    @operation("list_sources")
    async def _():
        assert structured(await call("list_sources", {}))["left"] == 0

    @operation("graph_neighbours")
    async def _():
        assert structured(await call("graph_neighbours", {"of": (await hits())[0]["chunk"]}))["nodes"]

    async def refused(tool, arguments, words):
        wrong = await call(tool, arguments)
        assert is_error(wrong) and words in wrong.content[0].text, wrong
        return wrong.content[0].text

    @operation("a question without words: an error")
    async def _():
        return await refused("ask", {"question": "???"}, "")

    @operation("an unknown argument: an error")
    async def _():
        return await refused("search", {"query": FACT, "filters": ["folder=none"]}, "unknown argument `filters`")

    @operation("an unknown tool: an error")
    async def _():
        try:
            wrong = await call("no_such", {})
        except Exception as error:  # Its class differs between the versions.
            assert "no_such" in reason(error), error
            return reason(error)
        assert is_error(wrong) and "no_such" in wrong.content[0].text, wrong
        return wrong.content[0].text


def long_calls(check, name, **mode):
    """A call is reported while its model works, and stops when it is cancelled."""

    def progress_of(steps, reported):
        async def progress(_number, _total, message):
            steps.append(message)
            if message.startswith("Still working"):
                reported.set()

        return progress

    @check.operation(f"ask: progress while the model works{name}", seconds=90)
    async def _():
        steps, reported = [], asyncio.Event()
        async with connected(f"{check.slow_url(SLOW)}/mcp", **mode) as session:
            answer = await session.call_tool("ask", SLOW_QUESTION, progress_callback=progress_of(steps, reported))
        assert is_error(answer) and reported.is_set(), (answer, steps)
        return f"{len(steps)} reports"

    @check.operation(f"ask: cancellation stops the run{name}", seconds=90)
    async def _():
        reported = asyncio.Event()
        url = check.slow_url(SLOW)
        async with connected(f"{url}/mcp", **mode) as session:
            # The previous version sends no notification by itself.
            number = getattr(session, "_request_id", None)
            call = asyncio.create_task(session.call_tool("ask", SLOW_QUESTION, progress_callback=progress_of([], reported)))
            await asyncio.wait_for(reported.wait(), 60)
            if number is not None:
                from mcp import types

                cancelled = types.CancelledNotification(params=types.CancelledNotificationParams(requestId=number))
                await session.send_notification(types.ClientNotification(cancelled))
            call.cancel()
            await asyncio.wait([call])
            await asyncio.to_thread(servers.check_cancelled, url)


def mcp_typescript(check):
    """The client of many assistants: it waits for 60 seconds, or as long as reports come."""
    slow_url = check.slow_url(25)
    check.node("mcp.mjs", check.url, slow_url, QUESTION, FACT)

    @check.operation("ask: an aborted call stops its run")
    def _():
        servers.check_cancelled(slow_url)
