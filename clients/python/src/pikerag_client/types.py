"""The replies of the server as dataclasses, with the names of its OpenAPI document.

Fields that this version does not know stay in `raw`, the JSON of the reply. Times are milliseconds since 1970, spans are
half-open ranges of bytes of a document's UTF-8 text, pages count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from .documents import (
    Chunk as Chunk,
    Corrected as Corrected,
    Correction as Correction,
    DeletePreview as DeletePreview,
    DeleteResponse as DeleteResponse,
    Deleted as Deleted,
    FailedFile as FailedFile,
    FileLine as FileLine,
    Job as Job,
    LeftOut as LeftOut,
    Problem as Problem,
    Remains as Remains,
    Reply as Reply,
    SentFile as SentFile,
    ShownChunk as ShownChunk,
    Source as Source,
    Span as Span,
    Table as Table,
    Unpacked as Unpacked,
    Uploaded as Uploaded,
    WholeSource as WholeSource,
)

By = Literal["auto", "words", "meaning", "atoms", "hybrid", "hops", "layers", "joined", "fused"]
Level = Literal["L0", "L1", "L2", "L3", "L4"]
SimilarityBy = Literal["meaning", "words"]
TaskClass = Literal["factual", "bridging", "comparative", "quantitative", "summarizing", "predictive", "creative"]
Verdict = Literal["accept", "correct", "reject"]


@dataclass(frozen=True, kw_only=True)
class Notice(Reply):
    """A notice about a run or a search by its kind; its values are in `raw`."""

    notice: str


@dataclass(frozen=True, kw_only=True)
class Found(Reply):
    """A hit of a search.

    `score` is relative to the best hit of the same search, which has 1. `similarity`, from 0 to 1, compares between searches
    of one base with the same `similarity_by`: use it for a threshold. `metadata` are those of the document, and `sent_as` is
    the name of its upload.
    """

    score: float
    similarity: float
    chunk: Chunk
    url: str
    metadata: dict[str, str]
    sent_as: Optional[str] = None
    parts: dict[str, float] = field(default_factory=dict)
    atom: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class SearchFound(Reply):
    """The hits, best first. `similarity_by` is the measure of their `similarity`."""

    hits: list[Found]
    similarity_by: SimilarityBy
    notices: list[Notice]


@dataclass(frozen=True, kw_only=True)
class ReplacedBy(Reply):
    uri: str
    title: str
    date: Optional[str] = None
    version: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Citation(Reply):
    """A numbered citation. `check` is `verified`, `not_found` or `described`."""

    number: int
    chunk: str
    uri: str
    title: str
    span: Span
    quote: str
    check: str
    page: Optional[int] = None
    columns: list[str] = field(default_factory=list)
    best: Optional[Span] = None
    replaced_by: Optional[ReplacedBy] = None
    corrected: bool = False  # Whether people corrected words of the passage.


@dataclass(frozen=True, kw_only=True)
class ContextChunk(Reply):
    """A passage that a method chose in `hop`, from 1; 0 for one that was added afterwards."""

    chunk: Chunk
    hop: int


@dataclass(frozen=True, kw_only=True)
class Context(Reply):
    chunks: list[ContextChunk]


@dataclass(frozen=True, kw_only=True)
class WrittenBy(Reply):
    """The author: `kind` is `language_model` (then `model`), `quotation`, `reckoning` or `person` (then `name`)."""

    kind: str
    model: Optional[str] = None
    name: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Answer(Reply):
    """`refused` answers name the missing information in `text`. `missing` lists facts that no passage contains."""

    text: str
    rationale: str
    refused: bool
    written_by: WrittenBy
    citations: list[Citation]
    context: Context
    missing: list[str] = field(default_factory=list)
    quotes: Optional[dict[str, Any]] = None
    worked: Optional[dict[str, Any]] = None


@dataclass(frozen=True, kw_only=True)
class RunUsd(Reply):
    """US dollars: `spent` counts all calls, `paid` those not read from the ledger. `None` if a price is unknown."""

    spent: Optional[float] = None
    paid: Optional[float] = None
    paid_by_role: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Asked(Reply):
    """The result of a question. `links` has a link to the passage of each citation, in their order."""

    run: str
    is_kept: bool
    question: str
    method: str
    answer: Answer
    usd: RunUsd
    links: list[str]
    notices: list[Notice]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """An earlier message of the conversation."""

    by: Literal["person", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Begun(Reply):
    run: str
    question: str
    method: str


@dataclass(frozen=True, kw_only=True)
class RunEvent(Reply):
    """An event of a run by its kind (`event`); its values are in `raw`."""

    run: str
    seq: int
    time: int
    event: str
    parent: Optional[int] = None
    decision: bool = False


@dataclass(frozen=True, kw_only=True)
class OpenCall(Reply):
    """A model call that has no reply yet."""

    role: str
    model: str
    passages: int
    prompt_tokens: int
    waited_ms: int
    expected_ms: Optional[int] = None


@dataclass(frozen=True, kw_only=True)
class DraftPiece(Reply):
    """More text of the unchecked answer. With `begins`, earlier text of the draft is void."""

    begins: bool
    part: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Question(Reply):
    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Run(Reply):
    """A kept run. `state` is `running`, `answered`, `failed` or `cancelled`."""

    id: str
    method: str
    question: Question
    state: str
    started: int
    interrupted: bool
    usd: RunUsd
    parameters: dict[str, Any] = field(default_factory=dict)
    filter: list[str] = field(default_factory=list)
    ended: Optional[int] = None
    answer: Optional[Answer] = None
    error: Optional[str] = None
    error_zh: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class RunDetails(Run):
    events: list[RunEvent]


@dataclass(frozen=True, kw_only=True)
class Base(Reply):
    """A base. One that was `made` over REST or on the page can be renamed and deleted there."""

    name: str
    made: bool = False


@dataclass(frozen=True, kw_only=True)
class Method(Reply):
    name: str
    family: str
    summary: str
    source: str
    roles: list[str]
    needs: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Verified(Reply):
    id: str
    question: str
    given: str
    judgement: Any
    by: str
    at: int
    correction: Optional[str] = None
    note: Optional[str] = None
    run: Optional[str] = None


@dataclass(frozen=True, kw_only=True)
class Feedback(Reply):
    """The stored feedback. `is_bare`: no passage supports the right answer."""

    verified: Verified
    is_bare: bool
