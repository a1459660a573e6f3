"""The retriever against a server in memory."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
from typing import Any

import httpx
import langchain_pikerag
import pytest
from langchain_core.runnables import ConfigurableField
from langchain_pikerag import PikeragRetriever
from pikerag_client import AsyncClient, Client
from pydantic import ValidationError

CHUNK = {
    "id": "085d239ce44b6a2f",
    "source": "42f676f3a31ce312",
    "uri": "docs/a.pdf",
    "title": "A",
    "section": None,
    "headings": ["B"],
    "ordinal": 0,
    "kind": "text",
    "text": "6 mm",
    "span": {"start": 0, "end": 4},
    "page": 3,
    "table": None,
}
HIT = {
    "score": 0.5,
    "similarity": 0.25,
    "parts": {},
    "atom": None,
    "url": "http://s/p",
    "chunk": CHUNK,
    "metadata": {"author": "Chen"},
    "sent_as": "a.pdf",
}
FOUND = {"hits": [HIT], "similarity_by": "words", "notices": []}


def retriever(**options: Any) -> tuple[PikeragRetriever, list[Any]]:
    """A retriever with the bodies of the requests that it sends."""
    sent: list[Any] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append({**json.loads(request.content), "key": request.headers.get("authorization")})
        return httpx.Response(200, json=FOUND)

    made = PikeragRetriever(**options)
    made._blocking = Client(**made._of_client(), transport=httpx.MockTransport(reply))
    made._asynchronous = AsyncClient(**made._of_client(), transport=httpx.MockTransport(reply))
    return made, sent


def test_documents_have_id_text_and_metadata() -> None:
    made, sent = retriever(k=3, filter=["folder=docs"], key="s3cret")
    [document] = made.invoke("thin?")
    assert (document.id, document.page_content) == ("085d239ce44b6a2f", "6 mm")
    metadata = {"score": 0.5, "similarity": 0.25, "similarity_by": "words", "sent_as": "a.pdf", "metadata": {"author": "Chen"}, "source": "docs/a.pdf", "source_id": "42f676f3a31ce312", "title": "A", "headings": ["B"]}
    assert document.metadata == {**metadata, "page": 3, "kind": "text", "url": "http://s/p"}
    assert sent == [{"query": "thin?", "k": 3, "by": "auto", "filter": ["folder=docs"], "key": "Bearer s3cret"}]


def test_a_call_may_change_the_search() -> None:
    made, sent = retriever(filter=["folder=docs"])
    made.invoke("a", k=1, by="words", filter=[], rerank=0)
    asyncio.run(made.ainvoke("b", k=2, filter="date>=2020"))
    assert [(body["k"], body["by"], body["filter"], body.get("rerank")) for body in sent] == [(1, "words", [], 0), (2, "auto", ["date>=2020"], None)]
    with pytest.raises(TypeError):
        made.invoke("a", filters=["folder=law"])


def test_one_condition_may_be_a_string() -> None:
    made, sent = retriever(filter="folder=docs")
    made.invoke("a")
    assert sent[0]["filter"] == ["folder=docs"]


def test_the_version_is_that_of_the_package() -> None:
    assert importlib.metadata.version("langchain-pikerag") == langchain_pikerag.__version__


def test_async_calls_use_no_thread_and_several_loops() -> None:
    made, sent = retriever()

    async def both() -> None:
        made._blocking = None
        await asyncio.gather(made.ainvoke("a"), made.ainvoke("b"))
        assert made._blocking is None

    asyncio.run(both())
    asyncio.run(both())
    assert len(sent) == 4


def test_keys_are_not_printed_and_values_are_checked() -> None:
    made, _ = retriever(key="s3cret")
    assert not any("s3cret" in text for text in (repr(made), str(made), repr(made._blocking), made.model_dump_json()))
    for wrong in ({"k": 0}, {"k": 201}, {"by": "no-such"}):
        with pytest.raises(ValidationError):
            PikeragRetriever(**wrong)


def test_k_is_configurable() -> None:
    made = PikeragRetriever().configurable_fields(k=ConfigurableField(id="k"))
    assert made.prepare({"configurable": {"k": 2}})[0].k == 2
