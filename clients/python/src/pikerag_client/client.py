"""The blocking client."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Optional, TypeVar, Union

import httpx

from . import calls, types
from .calls import Call
from .errors import JobError, ReplyError, TimedOut, connection_error, without_user
from .key import Key
from .streams import EventStream

T = TypeVar("T")


class Client:
    """A pikerag server. One client serves many threads; `close()` or `with` ends its connections.

    `timeout` counts seconds without a byte from the server, and a question without a stream sends none until its answer.
    `retries` repeats requests that a busy server refused. `transport` is for proxies, certificates and tests.
    """

    def __init__(
        self,
        url: str = "http://localhost:8686",
        *,
        key: Union[str, Key, None] = None,
        base: str = "default",
        timeout: float = 600.0,
        retries: int = 2,
        transport: Optional[httpx.BaseTransport] = None,
    ) -> None:
        self._options = calls.options(url, key, base, timeout, retries)
        self._http = httpx.Client(transport=transport)

    def __repr__(self) -> str:
        return f"Client({without_user(self._options.url)!r}, base={self._options.base!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, _kind: Optional[type[BaseException]], _error: Optional[BaseException], _trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def ask(
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
        return self._run(call, timeout=timeout)

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
    ) -> EventStream:
        """The events of a question as they happen, the answer last. Use it with `with`: leaving it stops the run."""
        call = calls.ask(self._options, base, question, method, filter, earlier, level, task_class, None)
        return EventStream(lambda: self._send(calls.as_stream(call), None, timeout, is_stream=True))

    def search(
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
        return self._run(calls.search(self._options, base, query, k, by, filter, rerank), timeout=timeout)

    def upload(
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
            return self._run(call, content=lambda _: file, timeout=timeout)
        path = Path(file)
        return self._run(call, content=lambda stack: stack.enter_context(path.open("rb")), timeout=timeout)

    def upload_and_wait(
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
        uploaded = self.upload(file, name, unpack=unpack, base=base)
        if uploaded.job is None:
            raise ReplyError(f"the server started no job for `{uploaded.file}`")
        return self.wait(uploaded.job, base=base, progress=progress, timeout=timeout)

    def insert_text(
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
        return self._run(calls.insert_text(self._options, base, text, name, title, metadata, hold))

    def index(
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
        return self._run(calls.index(self._options, base, files, known, reread, retry_refused))

    def wait(
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
            state = self.job(job, base=base)
            if progress:
                progress(state)
            if state.stand == "done":
                return state
            if state.is_over:
                raise JobError(state)
            if ends is not None and ends < time.monotonic() + pause:
                raise TimedOut(f"job {job} is still `{state.stand}` after {timeout} s; it goes on at the server")
            time.sleep(pause)
            pause = min(2 * pause, calls.LAST_PAUSE)

    def job(self, job: int, *, base: Optional[str] = None) -> types.Job:
        return self._run(calls.job(self._options, base, job))

    def jobs(self, *, base: Optional[str] = None) -> list[types.Job]:
        """The latest 500 jobs and all that are not over, newest first."""
        return self._run(calls.jobs(self._options, base))

    def begin_job(self, job: int, *, base: Optional[str] = None) -> types.Job:
        """Accepts the bill of an offered job, or starts one again that did not finish."""
        return self._run(calls.begin_job(self._options, base, job))

    def runs(self, *, limit: Optional[int] = None, brief: bool = False, base: Optional[str] = None) -> list[types.Run]:
        """The latest runs, newest first; `brief` omits the evidence of their answers."""
        return self._run(calls.runs(self._options, base, limit, brief))

    def run(self, run: str, *, base: Optional[str] = None) -> types.RunDetails:
        return self._run(calls.run(self._options, base, run))

    def replay(self, run: str, *, base: Optional[str] = None) -> types.Asked:
        """Repeats a run from recorded replies. No model is called."""
        return self._run(calls.replay(self._options, base, run))

    def feedback(
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
        return self._run(calls.feedback(self._options, base, run, verdict, answer, note, by))

    def chunk(self, chunk: str, *, base: Optional[str] = None) -> types.ShownChunk:
        return self._run(calls.chunk(self._options, base, chunk))

    def edit_chunk(self, chunk: str, text: str, *, base: Optional[str] = None) -> types.Corrected:
        """Gives a passage another text; `wait` for its `job`. The edited passage has another identifier."""
        return self._run(calls.edit_chunk(self._options, base, chunk, text))

    def sources(self, *, base: Optional[str] = None) -> list[types.Source]:
        """The documents of a base, by URI."""
        return self._run(calls.sources(self._options, base))

    def source(self, source: str, *, base: Optional[str] = None) -> types.WholeSource:
        """A document with its passages in reading order."""
        return self._run(calls.source(self._options, base, source))

    def files(self, *, base: Optional[str] = None) -> list[types.FileLine]:
        return self._run(calls.files(self._options, base))

    def sent(self, *, base: Optional[str] = None) -> list[types.SentFile]:
        """The complete uploads, by name."""
        return self._run(calls.sent(self._options, base))

    def original(self, file: str, *, base: Optional[str] = None) -> bytes:
        """The bytes of a file as they were when it was indexed, by the name that the base uses or the name of the upload."""
        return self._run(calls.original(self._options, base, file))

    def download(self, file: str, to: Union[str, Path], *, base: Optional[str] = None) -> None:
        """Writes the original of a file to a path, piece by piece. A download that breaks off leaves no file."""
        target_path, part = download_paths(to)
        response = self._send(calls.original(self._options, base, file), None, None, is_stream=True)
        try:
            with part.open("wb") as target:
                for piece in response.iter_bytes():
                    target.write(piece)
            part.replace(target_path)
        except httpx.TransportError as error:
            raise connection_error(error, self._options.url) from error
        finally:
            response.close()
            part.unlink(missing_ok=True)

    def deletion(self, file: str, *, base: Optional[str] = None) -> types.DeletePreview:
        """What `delete` would remove. Nothing is changed."""
        return self._run(calls.deletion(self._options, base, file))

    def delete(self, file: str, *, forget: bool = False, base: Optional[str] = None) -> types.Deleted:
        """Deletes a file with everything derived from it. `forget` also removes runs and calls with its text."""
        return self._run(calls.delete(self._options, base, file, forget))

    def bases(self) -> list[types.Base]:
        """The bases that this key opens."""
        return self._run(calls.bases())

    def create_base(self, name: str) -> types.Base:
        """Makes an empty base in a folder of the server. Needs a key of scope `admin`, if the server has keys."""
        return self._run(calls.create_base(name))

    def rename_base(self, base: str, name: str) -> types.Base:
        """Renames a base that was `made` over REST or on the page."""
        return self._run(calls.rename_base(base, name))

    def delete_base(self, base: str, *, confirm: str) -> None:
        """Deletes a base that was `made` over REST or on the page, with all that is in it. `confirm` repeats its name."""
        self._run(calls.delete_base(base, confirm))

    def methods(self) -> list[types.Method]:
        return self._run(calls.methods())

    def status(self, *, base: Optional[str] = None) -> dict[str, Any]:
        """The content of a base, its pending work, and problems of its files."""
        return self._run(calls.status(self._options, base))

    def request(self, method: str, path: str, *, json: Any = None, query: Optional[Mapping[str, str]] = None) -> Any:
        """Any other request: `request("POST", "/api/v1/bases/default/sql", json={…})`. Returns the JSON of the reply."""
        return self._run(calls.other(method, path, json, query or {}))

    def _run(self, call: Call[T], content: Optional[Callable[[ExitStack], Any]] = None, timeout: Optional[float] = None) -> T:
        return call.read(self._send(call, content, timeout))

    def _send(self, call: Call[Any], content: Optional[Callable[[ExitStack], Any]], timeout: Optional[float], is_stream: bool = False) -> httpx.Response:
        """A response with status 2xx, read unless `is_stream`. `content` opens the body for each attempt."""
        attempt = 0
        while True:
            try:
                with ExitStack() as stack:
                    body = content(stack) if content else None
                    request = self._options.request(self._http, call, body, timeout)
                    response = self._http.send(request, stream=is_stream)
                    if response.is_success:
                        return response
                    response.read()
            except httpx.TransportError as error:
                raise connection_error(error, self._options.url) from error
            response.close()
            pause = self._options.pause_before_retry(response, attempt)
            if pause is None:
                raise calls.failure(response)
            time.sleep(pause)
            attempt += 1


def upload_name(file: Union[bytes, str, Path], name: Optional[str]) -> str:
    if name is not None:
        return name
    if isinstance(file, bytes):
        raise ValueError("name: give the name of the uploaded bytes, such as `notes/a.md`")
    return Path(file).name


def download_paths(to: Union[str, Path]) -> tuple[Path, Path]:
    """The path of a file, behind links, and the path beside it where it is written until it is complete.

    Raises `FileExistsError` for a folder or a device, which the file would replace.
    """
    path = Path(to).resolve()
    if path.exists() and not path.is_file():
        raise FileExistsError(f"`{to}` is no regular file")
    return path, path.with_name(f".{secrets.token_hex(4)}.part")
