"""Builds each request and reads its reply, for the blocking and the asynchronous client alike."""

from __future__ import annotations

import dataclasses
import email.utils
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Optional, TypeVar, Union
from urllib.parse import quote

import httpx

from . import types
from .errors import PikeragError, ReplyError, error_of
from .key import Key
from .reading import R, read, read_all

T = TypeVar("T")

# Seconds. A longer `Retry-After` is not waited for: the caller gets the error and decides.
LONGEST_RETRY_WAIT = 30.0
# How often `wait` asks for a job, in seconds: at first, and at most.
FIRST_PAUSE, LAST_PAUSE = 0.1, 2.0
# Bytes of a file that are read at a time.
PIECE = 1 << 20


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request below the address of the server, with the reader of its reply."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    query: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """What both clients know about their server."""

    # An address may contain a password.
    url: str = field(repr=False)
    base: str
    key: Key
    timeout: float
    retries: int

    def of_base(self, base: Optional[str], rest: str) -> str:
        return f"/api/v1/bases/{segment(base or self.base)}{rest}"

    def request(self, http: Union[httpx.Client, httpx.AsyncClient], call: Call[Any], content: Any, timeout: Optional[float]) -> httpx.Request:
        headers = dict(call.headers)
        if self.key:
            headers["authorization"] = f"Bearer {self.key.reveal()}"
        # Seconds without a byte; a connection must come about sooner.
        seconds = self.timeout if timeout is None else timeout
        limits = httpx.Timeout(None if math.isinf(seconds) else seconds, connect=min(seconds, 10.0))
        body = {"content": content} if content is not None else {"json": call.json} if call.json is not None else {}
        return http.build_request(call.method, self.url + call.path, params=call.query or None, headers=headers, timeout=limits, **body)

    def pause_before_retry(self, response: httpx.Response, attempt: int) -> Optional[float]:
        """Seconds to wait before the next attempt; `None` if there is none.

        Only refusals before any work are repeated: 429 and 503 with `Retry-After`. A request that was cancelled may have
        called models, so it is not repeated: no question is paid for twice.
        """
        after = retry_after(response)
        if response.status_code not in (429, 503) or after is None or self.retries <= attempt:
            return None
        if _problem(response).get("code") == "cancelled":
            return None
        return after if after <= LONGEST_RETRY_WAIT else None


def options(url: str, key: Union[str, Key, None], base: str, timeout: float, retries: int) -> Options:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url: `{url}` does not begin with http:// or https://")
    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"url: {error}") from error
    segment(base)
    return Options(url.rstrip("/"), base, key if isinstance(key, Key) else Key(key or ""), timeout, retries)


def segment(name: object) -> str:
    """`name` as one part of a path. Raises `ValueError` for names that would lead to another route."""
    text = str(name)
    if text in ("", ".", ".."):
        raise ValueError(f"`{text}` is not a name")
    return quote(text, safe="")


def file_path(name: str) -> str:
    return "/".join(segment(part) for part in name.split("/"))


def retry_after(response: httpx.Response) -> Optional[float]:
    """Seconds from the header `Retry-After`, which holds seconds or a date."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def failure(response: httpx.Response) -> PikeragError:
    """The error of a response, whose body has been read, with another status than 2xx."""
    status = response.status_code
    value = _problem(response)
    if isinstance(value.get("code"), str):
        known = {"type": "about:blank", "status": status, "title": response.reason_phrase, "fault": "server" if 500 <= status else "caller"}
        problem = read(types.Problem, {**known, **value, "status": status})
    else:
        # A proxy before the server, or another server.
        problem = types.Problem(
            type="about:blank",
            status=status,
            title=response.reason_phrase,
            code=f"http-{status}",
            fault="server" if 500 <= status else "caller",
            detail=" ".join(response.text[:300].split()),
            hint="check the address: this reply is not one of pikerag",
        )
    return error_of(problem, retry_after(response))


def _problem(response: httpx.Response) -> dict[str, Any]:
    """The body of a response, if it is an object of JSON."""
    try:
        value = response.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise ReplyError(f"the reply to {response.request.method} {response.request.url.path} is no JSON") from error


def _one(kind: type[R]) -> Callable[[httpx.Response], R]:
    return lambda response: read(kind, _json(response))


def _many(kind: type[R]) -> Callable[[httpx.Response], list[R]]:
    return lambda response: read_all(kind, _json(response))


def _conditions(filter: Union[str, Iterable[str]]) -> list[str]:
    """A single condition may come as a string, whose characters are no conditions."""
    return [filter] if isinstance(filter, str) else list(filter)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def search(
    options: Options,
    base: Optional[str],
    query: str,
    k: Optional[int],
    by: str,
    filter: Union[str, Iterable[str]],
    rerank: Optional[int],
) -> Call[types.SearchFound]:
    body = _given(query=query, k=k, by=by, filter=_conditions(filter), rerank=rerank)
    return Call("POST", options.of_base(base, "/search"), _one(types.SearchFound), json=body)


def ask(
    options: Options,
    base: Optional[str],
    question: str,
    method: Optional[str],
    filter: Union[str, Iterable[str]],
    earlier: Sequence[types.Turn],
    level: Optional[str],
    task_class: Optional[str],
    idempotency_key: Optional[str],
) -> Call[types.Asked]:
    turns = [{"by": turn.by, "text": turn.text} for turn in earlier]
    body = _given(question=question, method=method, filter=_conditions(filter), earlier=turns, level=level)
    if task_class is not None:
        body["class"] = task_class
    headers = {"idempotency-key": idempotency_key} if idempotency_key else {}
    return Call("POST", options.of_base(base, "/ask"), _one(types.Asked), json=body, headers=headers)


def as_stream(call: Call[Any]) -> Call[Any]:
    return dataclasses.replace(call, headers={**call.headers, "accept": "text/event-stream"})


def runs(options: Options, base: Optional[str], limit: Optional[int], brief: bool) -> Call[list[types.Run]]:
    query = _given(limit=None if limit is None else str(limit), brief="true" if brief else None)
    return Call("GET", options.of_base(base, "/runs"), _many(types.Run), query)


def run(options: Options, base: Optional[str], run: str) -> Call[types.RunDetails]:
    return Call("GET", options.of_base(base, f"/runs/{segment(run)}"), _one(types.RunDetails))


def replay(options: Options, base: Optional[str], run: str) -> Call[types.Asked]:
    return Call("POST", options.of_base(base, f"/runs/{segment(run)}/replay"), _one(types.Asked))


def feedback(options: Options, base: Optional[str], run: str, verdict: str, answer: Optional[str], note: str, by: Optional[str]) -> Call[types.Feedback]:
    body = _given(run=run, verdict=verdict, answer=answer, note=note, by=by)
    return Call("POST", options.of_base(base, "/feedback"), _one(types.Feedback), json=body)


def chunk(options: Options, base: Optional[str], chunk: str) -> Call[types.ShownChunk]:
    return Call("GET", options.of_base(base, f"/chunks/{segment(chunk)}"), _one(types.ShownChunk))


def edit_chunk(options: Options, base: Optional[str], chunk: str, text: str) -> Call[types.Corrected]:
    return Call("PATCH", options.of_base(base, f"/chunks/{segment(chunk)}"), _one(types.Corrected), json={"text": text})


def sources(options: Options, base: Optional[str]) -> Call[list[types.Source]]:
    return Call("GET", options.of_base(base, "/sources"), _many(types.Source))


def source(options: Options, base: Optional[str], source: str) -> Call[types.WholeSource]:
    return Call("GET", options.of_base(base, f"/sources/{segment(source)}"), _one(types.WholeSource))


def files(options: Options, base: Optional[str]) -> Call[list[types.FileLine]]:
    return Call("GET", options.of_base(base, "/files"), _many(types.FileLine))


def sent(options: Options, base: Optional[str]) -> Call[list[types.SentFile]]:
    return Call("GET", options.of_base(base, "/sent"), _many(types.SentFile))


def original(options: Options, base: Optional[str], file: str) -> Call[bytes]:
    return Call("GET", options.of_base(base, "/original"), lambda response: response.content, {"file": file})


def upload(options: Options, base: Optional[str], name: str, hold: bool, unpack: bool) -> Call[types.Uploaded]:
    query = _given(hold="true" if hold else None, unpack="true" if unpack else None)
    headers = {"content-type": "application/octet-stream"}
    return Call("PUT", options.of_base(base, f"/files/{file_path(name)}"), _one(types.Uploaded), query, headers=headers)


def insert_text(
    options: Options,
    base: Optional[str],
    text: str,
    name: Optional[str],
    title: Optional[str],
    metadata: Optional[Mapping[str, str]],
    hold: bool,
) -> Call[types.Uploaded]:
    body = _given(text=text, name=name, title=title, metadata=dict(metadata) if metadata else None, hold=hold or None)
    return Call("POST", options.of_base(base, "/texts"), _one(types.Uploaded), json=body)


def index(options: Options, base: Optional[str], files: Union[str, Iterable[str]], known: Union[str, Iterable[str]], reread: bool, retry_refused: bool) -> Call[types.Job]:
    # One name is no list of its letters.
    files, known = _conditions(files), _conditions(known)
    body = {"files": files, "known": known, "reread": reread, "retry_refused": retry_refused}
    return Call("POST", options.of_base(base, "/index"), _one(types.Job), json=body)


def jobs(options: Options, base: Optional[str]) -> Call[list[types.Job]]:
    return Call("GET", options.of_base(base, "/jobs"), _many(types.Job))


def job(options: Options, base: Optional[str], job: int) -> Call[types.Job]:
    return Call("GET", options.of_base(base, f"/jobs/{segment(job)}"), _one(types.Job))


def begin_job(options: Options, base: Optional[str], job: int) -> Call[types.Job]:
    return Call("POST", options.of_base(base, f"/jobs/{segment(job)}/begin"), _one(types.Job))


def deletion(options: Options, base: Optional[str], file: str) -> Call[types.DeletePreview]:
    return Call("GET", options.of_base(base, "/deletion"), _one(types.DeletePreview), {"file": file})


def delete(options: Options, base: Optional[str], file: str, forget: bool) -> Call[types.Deleted]:
    query = {"file": file, "forget": "true"} if forget else {"file": file}
    return Call("DELETE", options.of_base(base, "/files"), _one(types.Deleted), query)


def bases() -> Call[list[types.Base]]:
    return Call("GET", "/api/v1/bases", _many(types.Base))


def create_base(name: str) -> Call[types.Base]:
    return Call("POST", "/api/v1/bases", _one(types.Base), json={"name": name})


def rename_base(base: str, name: str) -> Call[types.Base]:
    return Call("PATCH", f"/api/v1/bases/{segment(base)}", _one(types.Base), json={"name": name})


def delete_base(base: str, confirm: str) -> Call[None]:
    return Call("DELETE", f"/api/v1/bases/{segment(base)}", lambda _: None, {"confirm": confirm})


def methods() -> Call[list[types.Method]]:
    return Call("GET", "/api/v1/methods", _many(types.Method))


def status(options: Options, base: Optional[str]) -> Call[dict[str, Any]]:
    return Call("GET", options.of_base(base, ""), _json)


def other(method: str, path: str, json: Any, query: Mapping[str, str]) -> Call[Any]:
    """A request without a method of its own; its reply as JSON, `None` if it is empty."""
    if not path.startswith("/"):
        raise ValueError(f"path: `{path}` does not begin with `/`")
    return Call(method, path, lambda response: _json(response) if response.content else None, query, json)
