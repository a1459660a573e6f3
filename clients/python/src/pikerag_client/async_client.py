"""The asynchronous client: the methods of `Client` as coroutines."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Optional, TypeVar, Union
from weakref import WeakKeyDictionary

import anyio
import httpx

from . import calls, types
from .calls import Call
from .client import download_paths, upload_name
from .errors import JobError, ReplyError, TimedOut, connection_error, without_user
from .key import Key
from .streams import AsyncEventStream

T = TypeVar("T")


class AsyncClient:
    """A pikerag server. The parameters are those of `Client`.

    Each event loop has connections of its own, so that one client serves several calls of `asyncio.run`. `aclose()` or
    `async with` ends those of the running loop.
    """

    def __init__(
        self,
        url: str = "http://localhost:8686",
        *,
        key: Union[str, Key, None] = None,
        base: str = "default",
        timeout: float = 600.0,
        retries: int = 2,
        transport: Optional[httpx.AsyncBaseTransport] = None,
    ) -> None:
        self._options = calls.options(url, key, base, timeout, retries)
        self._transport = transport
        self._pools: WeakKeyDictionary[object, httpx.AsyncClient] = WeakKeyDictionary()
        # Certificates are read once, not once for each loop.
        self._certificates = httpx.create_ssl_context()

    def __repr__(self) -> str:
        return f"AsyncClient({without_user(self._options.url)!r}, base={self._options.base!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, _kind: Optional[type[BaseException]], _error: Optional[BaseException], _trace: Optional[TracebackType]) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        pool = self._pools.pop(_loop(), None)
        if pool is not None:
            await pool.aclose()

    async def ask(
        self,
        question: str,
        *,
        method: Optional[str] = None,
        filter: Union[str, Iterable[str]] = (),
        earlier: Sequence[types.Turn] = (),
        level: Optional[types.Level] = None,
        task_class: Optional[types.TaskClass] = None,
        idempotency_key: Optional[str] = None,
        base: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.Asked:
        """The checked answer. `level` and `task_class` are for the method `pike` only."""
        call = calls.ask(self._options, base, question, method, filter, earlier, level, task_class, idempotency_key)
        return await self._run(call, timeout=timeout)

    def stream(
        self,
        question: str,
        *,
        method: Optional[str] = None,
        filter: Union[str, Iterable[str]] = (),
        earlier: Sequence[types.Turn] = (),
        level: Optional[types.Level] = None,
        task_class: Optional[types.TaskClass] = None,
        base: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> AsyncEventStream:
        """The events of a question as they happen, the answer last. Use it with `async with`: leaving it stops the run."""
        call = calls.ask(self._options, base, question, method, filter, earlier, level, task_class, None)
        return AsyncEventStream(lambda: self._send(calls.as_stream(call), None, timeout, is_stream=True))

    async def search(
        self,
        query: str,
        *,
        k: Optional[int] = None,
        by: types.By = "auto",
        filter: Union[str, Iterable[str]] = (),
        rerank: Optional[int] = None,
        base: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.SearchFound:
        """The best passages: 8 unless `k` says otherwise, at most 200."""
        return await self._run(calls.search(self._options, base, query, k, by, filter, rerank), timeout=timeout)

    async def upload(
        self,
        file: Union[bytes, str, Path],
        name: Optional[str] = None,
        *,
        hold: bool = False,
        unpack: bool = False,
        base: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.Uploaded:
        """Uploads bytes, or the file at a path; `name` is the path's last part unless given. Replaces an older version.

        `hold` stores the file without indexing it. `unpack` takes a ZIP and stores the files in it.
        """
        call = calls.upload(self._options, base, upload_name(file, name), hold, unpack)
        if isinstance(file, bytes):
            return await self._run(call, content=lambda: file, timeout=timeout)
        path = anyio.Path(file)
        # The length that the path has now: the server then knows when the file is whole.
        call = dataclasses.replace(call, headers={**call.headers, "content-length": str((await path.stat()).st_size)})
        return await self._run(call, content=lambda: pieces(path), timeout=timeout)

    async def upload_and_wait(
        self,
        file: Union[bytes, str, Path],
        name: Optional[str] = None,
        *,
        unpack: bool = False,
        base: Optional[str] = None,
        progress: Optional[Callable[[types.Job], None]] = None,
        timeout: Optional[float] = None,
    ) -> types.Job:
        """Uploads a file and waits until it is searchable. `timeout` is for the indexing, as with `wait`."""
        uploaded = await self.upload(file, name, unpack=unpack, base=base)
        if uploaded.job is None:
            raise ReplyError(f"the server started no job for `{uploaded.file}`")
        return await self.wait(uploaded.job, base=base, progress=progress, timeout=timeout)

    async def insert_text(
        self,
        text: str,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        hold: bool = False,
        base: Optional[str] = None,
    ) -> types.Uploaded:
        """Inserts a text in Markdown as a document; `wait` for its `job`. A text of the same `name` is replaced.

        `metadata` are fields for filters: `{"author": "Chen"}` for `meta:author=Chen`. `hold` stores it without indexing it.
        """
        return await self._run(calls.insert_text(self._options, base, text, name, title, metadata, hold))

    async def index(
        self,
        files: Union[str, Iterable[str]] = (),
        *,
        known: Union[str, Iterable[str]] = (),
        reread: bool = False,
        retry_refused: bool = False,
        base: Optional[str] = None,
    ) -> types.Job:
        """Indexes uploads by name, or all pending ones; `known` names files as the base calls them.

        `reread` reads unchanged files again. `retry_refused` asks models again about passages that they refused before.
        """
        return await self._run(calls.index(self._options, base, files, known, reread, retry_refused))

    async def wait(
        self,
        job: int,
        *,
        base: Optional[str] = None,
        progress: Optional[Callable[[types.Job], None]] = None,
        timeout: Optional[float] = None,
    ) -> types.Job:
        """Waits until a job is `done`; `progress` gets the job after each request.

        Raises `JobError` for every other end, `TimedOut` after `timeout` seconds: the job goes on at the server.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        pause = calls.FIRST_PAUSE
        while True:
            state = await self.job(job, base=base)
            if progress:
                progress(state)
            if state.stand == "done":
                return state
            if state.is_over:
                raise JobError(state)
            if ends is not None and ends < time.monotonic() + pause:
                raise TimedOut(f"job {job} is still `{state.stand}` after {timeout} s; it goes on at the server")
            await anyio.sleep(pause)
            pause = min(2 * pause, calls.LAST_PAUSE)

    async def job(self, job: int, *, base: Optional[str] = None) -> types.Job:
        return await self._run(calls.job(self._options, base, job))

    async def jobs(self, *, base: Optional[str] = None) -> list[types.Job]:
        """The latest 500 jobs and all that are not over, newest first."""
        return await self._run(calls.jobs(self._options, base))

    async def begin_job(self, job: int, *, base: Optional[str] = None) -> types.Job:
        """Accepts the bill of an offered job, or starts one again that did not finish."""
        return await self._run(calls.begin_job(self._options, base, job))

    async def runs(self, *, limit: Optional[int] = None, brief: bool = False, base: Optional[str] = None) -> list[types.Run]:
        """The latest runs, newest first; `brief` omits the evidence of their answers."""
        return await self._run(calls.runs(self._options, base, limit, brief))

    async def run(self, run: str, *, base: Optional[str] = None) -> types.RunDetails:
        return await self._run(calls.run(self._options, base, run))

    async def replay(self, run: str, *, base: Optional[str] = None) -> types.Asked:
        """Repeats a run from recorded replies. No model is called."""
        return await self._run(calls.replay(self._options, base, run))

    async def feedback(
        self,
        run: str,
        verdict: types.Verdict,
        *,
        answer: Optional[str] = None,
        note: str = "",
        by: Optional[str] = None,
        base: Optional[str] = None,
    ) -> types.Feedback:
        """Accepts, corrects (with the right `answer`) or rejects the answer of a run."""
        return await self._run(calls.feedback(self._options, base, run, verdict, answer, note, by))

    async def chunk(self, chunk: str, *, base: Optional[str] = None) -> types.ShownChunk:
        return await self._run(calls.chunk(self._options, base, chunk))

    async def edit_chunk(self, chunk: str, text: str, *, base: Optional[str] = None) -> types.Corrected:
        """Gives a passage another text; `wait` for its `job`. The edited passage has another identifier."""
        return await self._run(calls.edit_chunk(self._options, base, chunk, text))

    async def sources(self, *, base: Optional[str] = None) -> list[types.Source]:
        """The documents of a base, by URI."""
        return await self._run(calls.sources(self._options, base))

    async def source(self, source: str, *, base: Optional[str] = None) -> types.WholeSource:
        """A document with its passages in reading order."""
        return await self._run(calls.source(self._options, base, source))

    async def files(self, *, base: Optional[str] = None) -> list[types.FileLine]:
        return await self._run(calls.files(self._options, base))

    async def sent(self, *, base: Optional[str] = None) -> list[types.SentFile]:
        """The complete uploads, by name."""
        return await self._run(calls.sent(self._options, base))

    async def original(self, file: str, *, base: Optional[str] = None) -> bytes:
        """The bytes of a file as they were when it was indexed, by the name that the base uses or the name of the upload."""
        return await self._run(calls.original(self._options, base, file))

    async def download(self, file: str, to: Union[str, Path], *, base: Optional[str] = None) -> None:
        """Writes the original of a file to a path, piece by piece. A download that breaks off leaves no file."""
        target_path, partial_path = download_paths(to)
        response = await self._send(calls.original(self._options, base, file), None, None, is_stream=True)
        part = anyio.Path(partial_path)
        try:
            async with await part.open("wb") as target:
                async for piece in response.aiter_bytes():
                    await target.write(piece)
            await part.replace(target_path)
        except httpx.TransportError as error:
            raise connection_error(error, self._options.url) from error
        finally:
            # A cancelled task also cleans up.
            with anyio.CancelScope(shield=True):
                await response.aclose()
                await part.unlink(missing_ok=True)

    async def deletion(self, file: str, *, base: Optional[str] = None) -> types.DeletePreview:
        """What `delete` would remove. Nothing is changed."""
        return await self._run(calls.deletion(self._options, base, file))

    async def delete(self, file: str, *, forget: bool = False, base: Optional[str] = None) -> types.Deleted:
        """Deletes a file with everything derived from it. `forget` also removes runs and calls with its text."""
        return await self._run(calls.delete(self._options, base, file, forget))

    async def bases(self) -> list[types.Base]:
        """The bases that this key opens."""
        return await self._run(calls.bases())

    async def create_base(self, name: str) -> types.Base:
        """Makes an empty base in a folder of the server. Needs a key of scope `admin`, if the server has keys."""
        return await self._run(calls.create_base(name))

    async def rename_base(self, base: str, name: str) -> types.Base:
        """Renames a base that was `made` over REST or on the page."""
        return await self._run(calls.rename_base(base, name))

    async def delete_base(self, base: str, *, confirm: str) -> None:
        """Deletes a base that was `made` over REST or on the page, with all that is in it. `confirm` repeats its name."""
        await self._run(calls.delete_base(base, confirm))

    async def methods(self) -> list[types.Method]:
        return await self._run(calls.methods())

    async def status(self, *, base: Optional[str] = None) -> dict[str, Any]:
        """The content of a base, its pending work, and problems of its files."""
        return await self._run(calls.status(self._options, base))

    async def request(self, method: str, path: str, *, json: Any = None, query: Optional[Mapping[str, str]] = None) -> Any:
        """Any other request: `request("POST", "/api/v1/bases/default/sql", json={…})`. Returns the JSON of the reply."""
        return await self._run(calls.other(method, path, json, query or {}))

    async def _run(self, call: Call[T], content: Optional[Callable[[], Any]] = None, timeout: Optional[float] = None) -> T:
        return call.read(await self._send(call, content, timeout))

    async def _send(self, call: Call[Any], content: Optional[Callable[[], Any]], timeout: Optional[float], is_stream: bool = False) -> httpx.Response:
        """A response with status 2xx, read unless `is_stream`. `content` makes the body for each attempt."""
        attempt = 0
        while True:
            try:
                http = self._http()
                request = self._options.request(http, call, content() if content else None, timeout)
                response = await http.send(request, stream=is_stream)
                if response.is_success:
                    return response
                await response.aread()
            except httpx.TransportError as error:
                raise connection_error(error, self._options.url) from error
            await response.aclose()
            pause = self._options.pause_before_retry(response, attempt)
            if pause is None:
                raise calls.failure(response)
            await anyio.sleep(pause)
            attempt += 1

    def _http(self) -> httpx.AsyncClient:
        pool = self._pools.get(_loop())
        if pool is None:
            pool = self._pools[_loop()] = httpx.AsyncClient(transport=self._transport, verify=self._certificates)
        return pool


async def pieces(path: anyio.Path) -> AsyncIterator[bytes]:
    """The bytes of a file. Another thread reads them, so that the loop goes on."""
    async with await path.open("rb") as file:
        while piece := await file.read(calls.PIECE):
            yield piece


class _Everywhere:
    """The key of the pool where asyncio has none, such as under Trio."""


_EVERYWHERE = _Everywhere()


def _loop() -> object:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return _EVERYWHERE
