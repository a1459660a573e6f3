"""The replies about documents, files and jobs. `types` has those about questions, and all of these, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A part of a reply. `raw` is its JSON, with all fields."""

    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Span(Reply):
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Table(Reply):
    header: list[str]
    rows: list[list[str]]
    lines: list[Span]


@dataclass(frozen=True, kw_only=True)
class Chunk(Reply):
    """A passage. `ordinal` is its position in the document, from 0; `raw` also has its places on the page."""

    id: str
    source: str
    uri: str
    title: str
    headings: list[str]
    ordinal: int
    kind: str
    text: str
    span: Span
    section: Optional[str] = None
    page: Optional[int] = None
    table: Optional[Table] = None
    summary: Optional[str] = None
    hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class Correction(Reply):
    """A changed text of a document: `old` as it was read, `new` as it is now; `fragment` is its place inside the file."""

    old: str
    new: str
    by: str
    at: int
    fragment: str = ""


@dataclass(frozen=True, kw_only=True)
class ShownChunk(Chunk):
    """A passage with the corrections whose new text it contains."""

    corrections: list[Correction] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Corrected(Reply):
    """The corrections of a document. `job` reads its file again with them."""

    corrections: list[Correction]
    job: int


@dataclass(frozen=True, kw_only=True)
class Source(Reply):
    """A document of a base. `language` is an ISO 639-3 code."""

    id: str
    uri: str
    title: str
    media_type: str
    hash: str
    metadata: dict[str, str]
    language: Optional[str] = None
    summary: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class WholeSource(Reply):
    source: Source
    chunks: list[Chunk]


@dataclass(frozen=True, kw_only=True)
class LeftOut(Reply):
    file: str
    reason: str
    code: Optional[str] = None
    reason_zh: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Unpacked(Reply):
    files: list[str]
    left_out: list[LeftOut]


@dataclass(frozen=True, kw_only=True)
class Uploaded(Reply):
    """A file that has arrived. `job` indexes it; `None` if the upload is held."""

    file: str
    held: int
    is_whole: bool
    job: Optional[int] = None
    unpacked: Optional[Unpacked] = None
    upload: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class FailedFile(Reply):
    file: str
    code: str
    reason: str
    reason_zh: str
    sent_as: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Problem(Reply):
    """Why a request failed (RFC 9457). `fault` is `caller`, `model` or `server`; `param` is the field that must change."""

    type: str
    status: int
    title: str
    code: str
    fault: str
    detail: str = ""
    detail_zh: Optional[str] = None
    hint: Optional[str] = None
    id: Optional[str] = None
    param: Optional[str] = None
    seq: Optional[int] = None


@dataclass(frozen=True, kw_only=True)
class Job(Reply):
    """An indexing job. `stand` is its state; `done` of `total` pieces of `stage` are finished."""

    id: int
    base: str
    kind: str
    stand: str
    stage: str
    done: int
    total: int
    failed: list[FailedFile]
    attempts: int
    added: int
    started: Optional[int] = None
    ended: Optional[int] = None
    reason: Optional[str] = None
    reason_code: Optional[str] = None
    reason_zh: Optional[str] = None
    problem: Optional[Problem] = None
    report: Optional[dict[str, Any]] = None
    bill: Optional[dict[str, Any]] = None
    accepted: Optional[dict[str, Any]] = None
    key: Optional[str] = None
    cap_usd: Optional[float] = None

    @property
    def is_over(self) -> bool:
        """False while the server works on it, or will without a further request."""
        return self.stand not in ("waiting", "running")


@dataclass(frozen=True, kw_only=True)
class FileLine(Reply):
    """A file of a base. `sent_as` is its name of the upload; `on_disk` is `there`, `gone` or `unclear`."""

    name: str
    path: str
    on_disk: str
    documents: int
    chunks: int
    hash: str
    same_as: list[str]
    sent_as: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class SentFile(Reply):
    file: str
    bytes: int
    in_base: bool


@dataclass(frozen=True, kw_only=True)
class Remains(Reply):
    calls: int
    runs: int
    verified: int


@dataclass(frozen=True, kw_only=True)
class DeletePreview(Reply):
    files: list[str]
    documents: int
    chunks: int
    remains: Remains


@dataclass(frozen=True, kw_only=True)
class DeleteResponse(Reply):
    """The deleted files; empty if no file of the base has such a name."""

    deleted: list[str]
    remains: Remains
    finished: bool
    overwrites_later: bool
    forgotten: Optional[Remains] = None


@dataclass(frozen=True, kw_only=True)
class Deleted(Reply):
    deleted: DeleteResponse
    was_sent: bool
