"""A LangChain retriever that searches a pikerag server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Optional, Union

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pikerag_client import AsyncClient, Client, Found
from pikerag_client.types import By, SimilarityBy
from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr


def _conditions(filter: Any) -> Any:
    """A single condition may come as a string."""
    return [filter] if isinstance(filter, str) else filter


class PikeragRetriever(BaseRetriever):
    """The passages of a pikerag base that fit a query, best first.

    Each call may change `k`, `by`, `filter` and `rerank`: `retriever.invoke("…", k=3, filter=["folder=law"])`. `ainvoke`
    searches without a thread. The metadata of a document are `score` (0 to 1, relative to the best hit of the same search),
    `similarity` (0 to 1, for thresholds) and its measure `similarity_by`, `source` (the file), `sent_as` (its name of the
    upload), `source_id`, `title`, `headings`, `page`, `kind`, `url` (a link to the passage), and `metadata` of the file.
    """

    url: str = "http://localhost:8686"
    """The address of `pikerag serve`."""
    base: str = "default"
    key: Optional[SecretStr] = None
    """A key of `pikerag keys make`, if the server has keys."""
    k: int = Field(default=8, ge=1, le=200)
    """The number of passages."""
    by: By = "auto"
    """The kind of search."""
    filter: Annotated[list[str], BeforeValidator(_conditions)] = Field(default_factory=list)
    """Conditions such as `folder=law` or `date>=2020`. All must hold."""
    rerank: Optional[int] = None
    """The number of hits to rerank. By default as the server's settings say."""
    timeout: float = 60.0
    """Seconds without a byte from the server."""

    _blocking: Optional[Client] = PrivateAttr(default=None)
    _asynchronous: Optional[AsyncClient] = PrivateAttr(default=None)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: Optional[int] = None,
        by: Optional[By] = None,
        filter: Union[str, Sequence[str], None] = None,
        rerank: Optional[int] = None,
    ) -> list[Document]:
        if self._blocking is None:
            self._blocking = Client(**self._of_client())
        found = self._blocking.search(query, **self._of_search(k, by, filter, rerank))
        return [document(hit, found.similarity_by) for hit in found.hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: Optional[int] = None,
        by: Optional[By] = None,
        filter: Union[str, Sequence[str], None] = None,
        rerank: Optional[int] = None,
    ) -> list[Document]:
        if self._asynchronous is None:
            self._asynchronous = AsyncClient(**self._of_client())
        found = await self._asynchronous.search(query, **self._of_search(k, by, filter, rerank))
        return [document(hit, found.similarity_by) for hit in found.hits]

    def _of_client(self) -> dict[str, Any]:
        key = self.key.get_secret_value() if self.key else None
        return {"url": self.url, "base": self.base, "key": key, "timeout": self.timeout}

    def _of_search(self, k: Optional[int], by: Optional[By], filter: Union[str, Sequence[str], None], rerank: Optional[int]) -> dict[str, Any]:
        return {
            "k": self.k if k is None else k,
            "by": by or self.by,
            "filter": self.filter if filter is None else filter,
            "rerank": self.rerank if rerank is None else rerank,
        }


def document(hit: Found, similarity_by: SimilarityBy) -> Document:
    """A hit as a LangChain document. Its id is the passage's, which stays as long as its text does."""
    chunk = hit.chunk
    metadata = {
        "score": hit.score,
        "similarity": hit.similarity,
        "similarity_by": similarity_by,
        "source": chunk.uri,
        "sent_as": hit.sent_as,
        "source_id": chunk.source,
        "title": chunk.title,
        "headings": chunk.headings,
        "page": chunk.page,
        "kind": chunk.kind,
        "url": hit.url,
        "metadata": hit.metadata,
    }
    return Document(id=chunk.id, page_content=chunk.text, metadata=metadata)
