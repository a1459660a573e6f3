"""A LlamaIndex retriever for a pikerag server."""

from .base import PikeragRetriever

__all__ = ["PikeragRetriever"]
