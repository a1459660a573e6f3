"""A LlamaIndex retriever that searches a pikerag server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from pikerag_client import AsyncClient, Client, Found, Key
from pikerag_client.types import By, SimilarityBy


class PikeragRetriever(BaseRetriever):
    """The passages of a pikerag base that fit a query, best first.

    `key` is a key of `pikerag keys make`, if the server has keys; `filter` holds conditions such as `folder=law`, all of
    which must hold. `aretrieve` searches without blocking the event loop. The score of a node is from 0 to 1, relative to
    the best hit of the same search; `similarity` in its metadata, also from 0 to 1, is for thresholds.
    """

    def __init__(
        self,
        url: str = "http://localhost:8686",
        *,
        base: str = "default",
        key: Union[str, Key, None] = None,
        k: int = 8,
        by: By = "auto",
        filter: Union[str, Sequence[str]] = (),
        rerank: Optional[int] = None,
        timeout: float = 60.0,
        callback_manager: Optional[CallbackManager] = None,
        verbose: bool = False,
    ) -> None:
        if k < 1 or 200 < k:
            raise ValueError(f"k: {k} is not from 1 to 200")
        self._blocking = Client(url, key=key, base=base, timeout=timeout)
        self._asynchronous = AsyncClient(url, key=key, base=base, timeout=timeout)
        self._search: dict[str, Any] = {"k": k, "by": by, "filter": filter, "rerank": rerank}
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._blocking.search(query_bundle.query_str, **self._search)
        return [node(hit, found.similarity_by) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await self._asynchronous.search(query_bundle.query_str, **self._search)
        return [node(hit, found.similarity_by) for hit in found.hits]


def node(hit: Found, similarity_by: SimilarityBy) -> NodeWithScore:
    """A hit as a node of its document.

    Metadata are for programs only: neither prompts nor embeddings contain them, so that a prompt has the words of the passage.
    """
    chunk = hit.chunk
    metadata = {
        "source": chunk.uri,
        "sent_as": hit.sent_as,
        "title": chunk.title,
        "headings": chunk.headings,
        "page": chunk.page,
        "kind": chunk.kind,
        "url": hit.url,
        "similarity": hit.similarity,
        "similarity_by": similarity_by,
        "metadata": hit.metadata,
    }
    names = list(metadata)
    document = RelatedNodeInfo(node_id=chunk.source, metadata={"source": chunk.uri, "title": chunk.title})
    text = TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        excluded_embed_metadata_keys=names,
        excluded_llm_metadata_keys=names,
        relationships={NodeRelationship.SOURCE: document},
    )
    return NodeWithScore(node=text, score=hit.score)
