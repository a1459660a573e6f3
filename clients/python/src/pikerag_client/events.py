"""Reads the stream of a question: server-sent events, each as a dataclass with its name in `kind`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

from . import types
from .errors import ReplyError, error_of
from .reading import read, read_all


@dataclass(frozen=True)
class BegunEvent:
    """The run has begun."""

    begun: types.Begun
    kind: Literal["run"] = "run"


@dataclass(frozen=True)
class TraceEvent:
    """The next event of the trace."""

    event: types.RunEvent
    kind: Literal["event"] = "event"


@dataclass(frozen=True)
class CallsEvent:
    """A model call has begun or ended: the calls without a reply, the oldest first."""

    calls: list[types.OpenCall]
    kind: Literal["calls"] = "calls"


@dataclass(frozen=True)
class DraftEvent:
    """A model has written more of the answer. Nothing of it is checked; the answer replaces it."""

    draft: types.DraftPiece
    kind: Literal["draft"] = "draft"


@dataclass(frozen=True)
class AnswerEvent:
    """The checked result, the last event."""

    asked: types.Asked
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True)
class OtherEvent:
    """An event of a later version of the server."""

    name: str
    data: Any
    kind: Literal["other"] = "other"


AskEvent = Union[BegunEvent, TraceEvent, CallsEvent, DraftEvent, AnswerEvent, OtherEvent]


class Decoder:
    """Splits the bytes of a stream into events.

    Lines end with `\\n`, `\\r\\n` or `\\r` only: JSON may contain other characters that `str.splitlines` splits at.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[tuple[str, str]]:
        """The events that `piece` completes: name and data."""
        text = self._rest + piece
        # A final `\r` may be the first half of `\r\n`.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = rest + held
        for line in lines:
            event = self._line(line.decode("utf-8", "replace"))
            if event:
                yield event

    def _line(self, line: str) -> Optional[tuple[str, str]]:
        if line:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
            return None
        event = (self._name or "message", "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return event


def ask_event(name: str, data: str) -> AskEvent:
    """An event of the stream of a question. Raises the error of a `problem`."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise ReplyError(f"the event `{name}` is no JSON") from error
    if name == "run":
        return BegunEvent(read(types.Begun, value))
    if name == "event":
        return TraceEvent(read(types.RunEvent, value))
    if name == "calls":
        return CallsEvent(read_all(types.OpenCall, value))
    if name == "draft":
        return DraftEvent(read(types.DraftPiece, value))
    if name == "answer":
        return AnswerEvent(read(types.Asked, value))
    if name == "problem":
        raise error_of(read(types.Problem, value))
    return OtherEvent(name, value)
