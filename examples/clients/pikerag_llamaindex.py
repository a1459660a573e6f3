"""A retriever for LlamaIndex that searches a pikerag server.

    retriever = PikeragRetriever(url="http://localhost:8686", k=4)
    nodes = retriever.retrieve("Who calibrates the sensor?")
"""

import json
import urllib.request

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class PikeragRetriever(BaseRetriever):
    """Passages with their score; source, page and link in `metadata`."""

    def __init__(self, url="http://localhost:8686", base="default", key="", k=8, by="auto", filter=()):
        self._address = f"{url}/api/v1/bases/{base}/search"
        self._key, self._body = key, {"k": k, "by": by, "filter": list(filter)}
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = urllib.request.Request(
            self._address,
            data=json.dumps({"query": query_bundle.query_str, **self._body}).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            hits = json.load(reply)["hits"]
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit["chunk"]["id"],
                    text=hit["chunk"]["text"],
                    metadata={
                        "source": hit["chunk"]["uri"],
                        "title": hit["chunk"]["title"],
                        "page": hit["chunk"].get("page"),
                        "url": hit["url"],
                    },
                ),
                score=hit["score"],
            )
            for hit in hits
        ]
