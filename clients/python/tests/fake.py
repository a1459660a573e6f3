"""A server in memory: answers each request by a function, and keeps the requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Union

import httpx
from pikerag_client import AsyncClient, Client

CHUNK = {
    "id": "085d239ce44b6a2f",
    "source": "42f676f3a31ce312",
    "uri": "docs/a.md",
    "title": "A",
    "section": None,
    "headings": ["A"],
    "ordinal": 0,
    "kind": "text",
    "text": "Linings: 6\u2028mm.",
    "span": {"start": 0, "end": 15},
    "page": None,
    "table": None,
}
HIT = {
    "score": 1.0,
    "similarity": 0.5,
    "parts": {"words": 0.25},
    "atom": None,
    "url": "http://s/p",
    "chunk": CHUNK,
    "metadata": {"author": "Chen"},
    "sent_as": "notes/a.md",
}
FOUND = {"hits": [HIT], "similarity_by": "words", "notices": []}
CITATION = {"number": 1, "chunk": CHUNK["id"], "uri": "docs/a.md", "title": "A", "page": None, "span": {"start": 0, "end": 2}, "quote": "Li", "check": "verified"}
ANSWER = {
    "text": "6 mm",
    "rationale": "",
    "refused": False,
    "written_by": {"kind": "quotation"},
    "citations": [CITATION],
    "context": {"chunks": [{"chunk": CHUNK, "hop": 1}]},
    "later_field": [1],
}
ASKED = {
    "run": "yhtfg0tw",
    "is_kept": True,
    "question": "How thin?",
    "method": "pike",
    "answer": ANSWER,
    "usd": {"spent": None, "paid": None, "paid_by_role": {}},
    "links": ["http://s/p"],
    "notices": [{"notice": "read-only", "folder": "x"}],
}
PROBLEM = {"type": "urn:pikerag:problem:no-such-run", "status": 404, "title": "no such run", "code": "no-such-run", "fault": "caller"}


def job(stand: str, **others: Any) -> dict[str, Any]:
    state = {"id": 7, "base": "default", "kind": "index", "stand": stand, "stage": "reading", "done": 0, "total": 1, "failed": [], "attempts": 1, "added": 0}
    return {**state, **others}


def stream(*events: tuple[str, Any]) -> bytes:
    blocks = [f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for name, data in events]
    return "".join(blocks).encode()


class Fake:
    """`reply` gets each request: a `Response`, or JSON."""

    def __init__(self, reply: Callable[[httpx.Request], Union[httpx.Response, Any]]) -> None:
        self.requests: list[httpx.Request] = []
        self._reply = reply

    def handle(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._answer(request)

    async def handle_async(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self._answer(request)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self._reply(request)
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    def client(self, **options: Any) -> Client:
        return Client("http://server", transport=httpx.MockTransport(self.handle), **options)

    def async_client(self, **options: Any) -> AsyncClient:
        return AsyncClient("http://server", transport=httpx.MockTransport(self.handle_async), **options)

    def body(self) -> Any:
        return json.loads(self.requests[-1].content)
