"""A retriever for LangChain that searches a pikerag server.

    retriever = PikeragRetriever(url="http://localhost:8686", k=4)
    documents = retriever.invoke("Who calibrates the sensor?")
"""

import json
import urllib.request

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class PikeragRetriever(BaseRetriever):
    """Passages with their score, source, page and link in `metadata`."""

    url: str = "http://localhost:8686"
    base: str = "default"
    key: str = ""
    k: int = 8
    by: str = "auto"
    filter: list[str] = []

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        body = {"query": query, "k": self.k, "by": self.by, "filter": self.filter}
        request = urllib.request.Request(
            f"{self.url}/api/v1/bases/{self.base}/search",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            hits = json.load(reply)["hits"]
        return [
            Document(
                id=hit["chunk"]["id"],
                page_content=hit["chunk"]["text"],
                metadata={
                    "score": hit["score"],
                    "source": hit["chunk"]["uri"],
                    "title": hit["chunk"]["title"],
                    "page": hit["chunk"].get("page"),
                    "url": hit["url"],
                },
            )
            for hit in hits
        ]
