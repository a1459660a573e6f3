"""The clients against a server in memory."""

from __future__ import annotations

import asyncio
import gc
import importlib.metadata
import inspect
import pickle
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pikerag_client
import pytest
from fake import ASKED, CHUNK, FOUND, PROBLEM, Fake, job, stream
from pikerag_client import (
    AsyncClient,
    AuthenticationError,
    Client,
    ConnectionFailed,
    JobError,
    Key,
    NotFoundError,
    RateLimitError,
    ReplyError,
    ServerError,
    TimedOut,
    Turn,
)
from pikerag_client.events import Decoder


def test_search_sends_what_is_given_and_reads_hits() -> None:
    fake = Fake(lambda _: FOUND)
    found = fake.client(key="s3cret").search("thin", k=2, filter="folder=docs", base="law/ß")
    assert fake.body() == {"query": "thin", "k": 2, "by": "auto", "filter": ["folder=docs"]}
    assert fake.requests[0].url.raw_path == b"/api/v1/bases/law%2F%C3%9F/search"
    assert fake.requests[0].headers["authorization"] == "Bearer s3cret"
    assert found.hits[0].chunk.text == "Linings: 6\u2028mm." and found.hits[0].chunk.span.end == 15
    assert found.hits[0].raw["parts"] == {"words": 0.25}
    assert (found.hits[0].similarity, found.similarity_by) == (0.5, "words")
    assert found.hits[0].metadata == {"author": "Chen"} and found.hits[0].sent_as == "notes/a.md"


def test_no_key_sends_no_header() -> None:
    fake = Fake(lambda _: FOUND)
    fake.client().search("thin")
    assert "authorization" not in fake.requests[0].headers
    assert fake.body() == {"query": "thin", "by": "auto", "filter": []}


def test_ask_reads_the_answer_and_keeps_unknown_fields() -> None:
    fake = Fake(lambda _: ASKED)
    asked = fake.client().ask("How thin?", earlier=[Turn(by="person", text="Hi")], level="L1", task_class="factual", idempotency_key="one")
    sent = fake.body()
    assert sent == {"question": "How thin?", "filter": [], "earlier": [{"by": "person", "text": "Hi"}], "level": "L1", "class": "factual"}
    assert fake.requests[0].headers["idempotency-key"] == "one"
    assert asked.answer.text == "6 mm" and asked.answer.citations[0].check == "verified"
    assert asked.answer.raw["later_field"] == [1] and asked.notices[0].raw["folder"] == "x"


def test_stream_gives_each_event_and_the_answer_last() -> None:
    begun = {"run": "a", "question": "q", "method": "pike"}
    event = {"run": "a", "seq": 0, "parent": None, "time": 1, "event": "began", "method": "pike"}
    draft = {"begins": True, "part": "answer", "text": "6\u2028\x85mm"}
    body = b":\n\n" + stream(("run", begun), ("event", event), ("calls", []), ("draft", draft), ("later", 1), ("answer", ASKED))
    fake = Fake(lambda _: httpx.Response(200, content=body))
    with fake.client().stream("q") as events:
        kinds = []
        for seen in events:
            kinds.append(seen.kind)
            if seen.kind == "draft":
                assert seen.draft.text == "6\u2028\x85mm"
    assert kinds == ["run", "event", "calls", "draft", "other", "answer"]
    assert fake.requests[0].headers["accept"] == "text/event-stream"


def test_stream_raises_problems_and_early_ends() -> None:
    fake = Fake(lambda _: httpx.Response(200, content=stream(("problem", PROBLEM))))
    with pytest.raises(NotFoundError):
        list(fake.client().stream("q"))
    fake = Fake(lambda _: httpx.Response(200, content=b"event: run\n"))
    with pytest.raises(ConnectionFailed, match="before the answer"):
        list(fake.client().stream("q"))
    fake = Fake(lambda _: httpx.Response(404, json=PROBLEM))
    with pytest.raises(NotFoundError):
        next(fake.client().stream("q"))


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that stays open after its first event."""

    is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield stream(("calls", []))
        yield b":"
        raise AssertionError("the reader goes on")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


class Broken(httpx.SyncByteStream):
    """A body that breaks off."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"ab"
        raise httpx.ReadError("reset")


def test_streams_that_are_left_close_their_connection() -> None:
    body = Body()
    gc.disable()
    try:
        for _ in Fake(lambda _: httpx.Response(200, stream=body)).client().stream("q"):
            break
        assert body.is_closed
    finally:
        gc.enable()

    async def leave(body: Body) -> None:
        async with Fake(lambda _: httpx.Response(200, stream=body)).async_client().stream("q") as events:
            async for _ in events:
                break

    body = Body()
    asyncio.run(leave(body))
    assert body.is_closed


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_decoder_joins_pieces_of_any_size(size: int) -> None:
    body = "event: a\r\ndata: 1\r\ndata:2\r\n\r\n: note\n\ndata: é\u2028\n\nid: 3\r\rdata: 4\r\r".encode()
    decoder = Decoder()
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    # The last `\r` may begin a `\r\n`, so the last event needs one more byte.
    events = [event for piece in [*pieces, b"\n"] for event in decoder.feed(piece)]
    assert events == [("a", "1\n2"), ("message", "é\u2028"), ("message", "4")]


def test_problems_have_all_fields() -> None:
    problem = {**PROBLEM, "status": 429, "code": "too-often", "detail": "d", "detail_zh": "中", "hint": "h", "id": "x", "param": "k"}
    fake = Fake(lambda _: httpx.Response(429, json=problem, headers={"retry-after": "90"}))
    with pytest.raises(RateLimitError) as caught:
        fake.client().bases()
    error = caught.value
    assert (error.status, error.code, error.detail_zh, error.hint, error.id) == (429, "too-often", "中", "h", "x")
    assert error.param == "k" and error.retry_after == 90 and str(error) == "429 too-often: d (h)" and len(fake.requests) == 1


def test_busy_servers_are_asked_again_within_limits() -> None:
    replies = iter([503, 429, 200])

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(next(replies), json=[], headers={"retry-after": "0"})

    assert Fake(reply).client().bases() == []
    fake = Fake(lambda _: httpx.Response(503, headers={"retry-after": "0"}))
    with pytest.raises(ServerError):
        fake.client(retries=1).bases()
    assert len(fake.requests) == 2
    # A cancelled question may have been paid for.
    for unrepeated in (httpx.Response(500, json=PROBLEM), httpx.Response(503, json={**PROBLEM, "code": "cancelled"}, headers={"retry-after": "0"})):
        fake = Fake(lambda _, reply=unrepeated: reply)
        with pytest.raises(ServerError):
            fake.client().ask("q")
        assert len(fake.requests) == 1


def test_replies_of_other_servers_are_errors() -> None:
    with pytest.raises(ServerError, match="http-502: Bad gateway") as caught:
        Fake(lambda _: httpx.Response(502, text=" Bad\ngateway ")).client().bases()
    assert caught.value.fault == "server"
    for reply in ({"hits": []}, [1], {"hits": [{}], "similarity_by": "words", "notices": []}):
        with pytest.raises(ReplyError):
            Fake(lambda _, reply=reply: reply).client().search("q")
    with pytest.raises(ReplyError, match="no JSON"):
        Fake(lambda _: httpx.Response(200, text="hello")).client().bases()


def test_connection_errors_say_what_to_do() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    def wait(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("")

    with pytest.raises(ConnectionFailed, match="pikerag serve"):
        Fake(refuse).client().bases()
    with pytest.raises(TimedOut):
        Fake(wait).client().bases()


def test_upload_sends_bytes_and_files(tmp_path: Path) -> None:
    fake = Fake(lambda _: {"file": "n/a b.md", "held": 4, "is_whole": True, "job": 7})
    assert fake.client().upload(b"\x00\xffab", "n/a b.md", hold=True).job == 7
    assert fake.requests[0].content == b"\x00\xffab"
    assert fake.requests[0].url.raw_path == b"/api/v1/bases/default/files/n/a%20b.md?hold=true"
    path = tmp_path / "c.bin"
    path.write_bytes(bytes(range(256)) * 5000)
    fake.client().upload(path)
    assert fake.requests[1].content == path.read_bytes() and fake.requests[1].url.path.endswith("/files/c.bin")
    assert fake.requests[1].headers["content-length"] == "1280000"
    asyncio.run(fake.async_client().upload(path))
    assert fake.requests[2].content == path.read_bytes() and fake.requests[2].headers["content-length"] == "1280000"


@pytest.mark.parametrize("name", ["../keys", "a/../../keys", "a//b", "", ".", "/a"])
def test_names_do_not_lead_to_other_routes(name: str) -> None:
    fake = Fake(lambda _: {})
    with pytest.raises(ValueError, match="is not a name"):
        fake.client().upload(b"", name)
    with pytest.raises(ValueError):
        Client("localhost:8686")
    with pytest.raises(ValueError, match="is not a name"):
        fake.client().sources(base="..")
    assert fake.requests == []


def test_wait_polls_until_the_job_is_over() -> None:
    states = iter(["waiting", "running", "done"])
    seen = []
    client = Fake(lambda _: job(next(states))).client()
    assert client.wait(7, progress=lambda state: seen.append(state.stand)).stand == "done"
    assert seen == ["waiting", "running", "done"]
    failed = [{"file": "a", "code": "unreadable-file", "reason": "no text", "reason_zh": "无"}]
    with pytest.raises(JobError, match="job 7 is `incomplete`: no text") as caught:
        Fake(lambda _: job("incomplete", failed=failed)).client().wait(7)
    assert caught.value.job.failed[0].code == "unreadable-file"
    with pytest.raises(JobError, match="costs"):
        Fake(lambda _: job("offered", reason="costs")).client().wait(7)
    with pytest.raises(TimedOut, match="goes on at the server"):
        Fake(lambda _: job("running")).client().wait(7, timeout=0.05)


def test_keys_are_not_printed() -> None:
    key = Key("s3cret")
    client = Fake(lambda _: httpx.Response(401, json={**PROBLEM, "status": 401})).client(key=key)
    with pytest.raises(AuthenticationError) as caught:
        client.bases()
    client.close()
    shown = [repr(key), str(key), f"{key}", f"{key!s:>40}", repr(client), repr(vars(client)), str(caught.value), repr(client._options)]
    assert not any("s3cret" in text for text in shown) and key.reveal() == "s3cret"
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_keys_and_passwords_are_in_no_error() -> None:
    fake = Fake(lambda _: [])
    fake.client(key=" s3cret\n").bases()
    assert fake.requests[0].headers["authorization"] == "Bearer s3cret"
    for wrong in ("s3\ncret", "s3crét", "s3\0cret"):
        with pytest.raises(ValueError, match="key: it contains") as refused:
            fake.client(key=wrong)
        assert "s3" not in str(refused.value)

    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    client = Client("http://me:s3cret@server:1", transport=httpx.MockTransport(refuse))
    with pytest.raises(ConnectionFailed, match="http://server:1") as caught:
        client.bases()
    with pytest.raises(ValueError, match="url: "):
        Client("http://server:port")
    assert not any("s3cret" in text for text in (str(caught.value), repr(client), repr(client._options)))


def test_bases_texts_and_edits() -> None:
    fake = Fake(lambda _: {"name": "law", "made": True})
    client = fake.client()
    assert client.create_base("law").made and fake.body() == {"name": "law"}
    client.rename_base("law", "statutes")
    assert (fake.requests[1].method, fake.requests[1].url.path, fake.body()) == ("PATCH", "/api/v1/bases/law", {"name": "statutes"})
    fake = Fake(lambda _: httpx.Response(204))
    fake.client().delete_base("law", confirm="law")
    assert (fake.requests[0].method, fake.requests[0].url.raw_path) == ("DELETE", b"/api/v1/bases/law?confirm=law")
    fake = Fake(lambda _: {"file": "会议.md", "held": 4, "is_whole": True, "job": 7})
    assert fake.client().insert_text("nine tons", name="会议", metadata={"author": "Chen"}).job == 7
    assert fake.body() == {"text": "nine tons", "name": "会议", "metadata": {"author": "Chen"}}
    change = {"old": "nine", "new": "ten", "by": "Chen", "at": 1}
    fake = Fake(lambda _: {"corrections": [change], "job": 8})
    corrected = fake.client().edit_chunk("085d239ce44b6a2f", "ten tons")
    assert (corrected.corrections[0].new, corrected.job, fake.requests[0].method) == ("ten", 8, "PATCH")
    fake = Fake(lambda _: {**CHUNK, "corrections": [change]})
    assert fake.client().chunk("085d239ce44b6a2f").corrections[0].old == "nine"
    fake = Fake(lambda _: job("waiting"))
    fake.client().index("会议.md", retry_refused=True)
    assert fake.body() == {"files": ["会议.md"], "known": [], "reread": False, "retry_refused": True}


def test_any_name_is_sent_as_it_is() -> None:
    fake = Fake(lambda _: {"file": "n", "held": 0, "is_whole": True, "job": None})
    for name in ("100%25.md", "a?b#c.md", "a\\b.md", "合同/a+b&c.md"):
        fake.client().upload(b"", name)
        assert fake.requests[-1].url.path == f"/api/v1/bases/default/files/{name}" and fake.requests[-1].url.query == b""
    fake = Fake(lambda _: httpx.Response(200, content=b"abc"))
    fake.client().original("合同/a+b&c%25.md")
    assert dict(fake.requests[0].url.params) == {"file": "合同/a+b&c%25.md"}


def test_a_timeout_may_be_without_end() -> None:
    fake = Fake(lambda _: [])
    fake.client(timeout=float("inf")).bases()
    assert fake.requests[0].extensions["timeout"]["read"] is None


def test_the_version_is_that_of_the_package() -> None:
    assert importlib.metadata.version("pikerag-client") == pikerag_client.__version__


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        found = {name: list(inspect.signature(value).parameters) for name, value in vars(kind).items() if inspect.isfunction(value)}
        return {name: parameters for name, parameters in found.items() if not name.startswith("_") and name not in ("close", "aclose")}

    assert methods(Client) == methods(AsyncClient) and len(methods(Client)) > 20


def test_async_client_serves_several_loops_and_streams() -> None:
    body = stream(("answer", ASKED))
    fake = Fake(lambda request: httpx.Response(200, content=body) if request.headers["accept"] == "text/event-stream" else FOUND)
    client = fake.async_client()

    async def search_and_stream() -> list[str]:
        found = await client.search("q")
        async with client.stream("q") as events:
            return [found.hits[0].chunk.id, *[event.kind async for event in events]]

    assert asyncio.run(search_and_stream()) == asyncio.run(search_and_stream()) == ["085d239ce44b6a2f", "answer"]


def test_async_client_downloads_and_raises(tmp_path: Path) -> None:
    async def both() -> None:
        async with Fake(lambda _: httpx.Response(200, content=b"abc")).async_client() as client:
            await client.download("a", tmp_path / "a")
        async with Fake(lambda _: httpx.Response(404, json=PROBLEM)).async_client() as client:
            with pytest.raises(NotFoundError):
                await client.download("a", tmp_path / "b")
            with pytest.raises(NotFoundError):
                await client.run("a")

    asyncio.run(both())
    with Fake(lambda _: httpx.Response(200, stream=Broken())).client() as client, pytest.raises(ConnectionFailed):
        client.download("a", tmp_path / "c")
    with Fake(lambda _: httpx.Response(200, content=b"abc")).client() as client, pytest.raises(FileExistsError):
        client.download("a", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"abc" and not (tmp_path / "b").exists()
