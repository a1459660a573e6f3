"""The standard tests of `langchain-tests`, against the server at PIKERAG_URL over `examples/maintenance`."""

from __future__ import annotations

import os
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_pikerag import PikeragRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

URL = os.environ.get("PIKERAG_URL", "")
FACT = "How thin may a brake lining be before it is replaced?"


@pytest.mark.skipif(not URL, reason="LEFT OUT: PIKERAG_URL names no server")
class TestPikeragRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return PikeragRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"url": URL}

    @property
    def retriever_query_example(self) -> str:
        return FACT

    def test_the_fact_is_found_and_filters_hold(self, retriever: BaseRetriever) -> None:
        documents = retriever.invoke(FACT, k=3)
        assert any("6 mm" in document.page_content for document in documents)
        assert documents[0].metadata["score"] == 1 and documents[0].metadata["similarity_by"] == "words"
        filtered = retriever.invoke(FACT, filter=["source=docs/brake-trial.md"])
        assert {document.metadata["source"] for document in filtered} == {"docs/brake-trial.md"}
