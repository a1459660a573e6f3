"""The streams of a question. A stream that is left early closes its connection, which stops the run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from types import TracebackType
from typing import Optional

import httpx

from .errors import ConnectionFailed, connection_error
from .events import AnswerEvent, AskEvent, Decoder, ask_event

EARLY_END = "the stream ended before the answer; `runs()` lists the run"


class EventStream:
    """The events of a question. The request begins with the first event; `close()` stops the run."""

    def __init__(self, begin: Callable[[], httpx.Response]) -> None:
        self._events = _read(begin)

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, _kind: Optional[type[BaseException]], _error: Optional[BaseException], _trace: Optional[TracebackType]) -> None:
        self.close()

    def __iter__(self) -> Iterator[AskEvent]:
        return self._events

    def __next__(self) -> AskEvent:
        return next(self._events)

    def close(self) -> None:
        self._events.close()


class AsyncEventStream:
    """The events of a question. The request begins with the first event; `aclose()` stops the run."""

    def __init__(self, begin: Callable[[], Awaitable[httpx.Response]]) -> None:
        self._events = _read_async(begin)

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(self, _kind: Optional[type[BaseException]], _error: Optional[BaseException], _trace: Optional[TracebackType]) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncIterator[AskEvent]:
        return self

    async def __anext__(self) -> AskEvent:
        event: AskEvent = await self._events.__anext__()
        return event

    async def aclose(self) -> None:
        await self._events.aclose()


# Functions, not methods: a generator that refers to its stream is closed only when Python collects cycles.
def _read(begin: Callable[[], httpx.Response]) -> Generator[AskEvent, None, None]:
    response = begin()
    decoder = Decoder()
    try:
        for piece in response.iter_bytes():
            for name, data in decoder.feed(piece):
                event = ask_event(name, data)
                yield event
                if isinstance(event, AnswerEvent):
                    return
        raise ConnectionFailed(EARLY_END)
    except httpx.TransportError as error:
        raise connection_error(error, response.request.url) from error
    finally:
        response.close()


async def _read_async(begin: Callable[[], Awaitable[httpx.Response]]) -> AsyncGenerator[AskEvent, None]:
    response = await begin()
    decoder = Decoder()
    try:
        async for piece in response.aiter_bytes():
            for name, data in decoder.feed(piece):
                event = ask_event(name, data)
                yield event
                if isinstance(event, AnswerEvent):
                    return
        raise ConnectionFailed(EARLY_END)
    except httpx.TransportError as error:
        raise connection_error(error, response.request.url) from error
    finally:
        await response.aclose()
