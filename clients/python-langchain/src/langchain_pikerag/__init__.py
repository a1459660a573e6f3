"""LangChain components for a pikerag server."""

from .retrievers import PikeragRetriever

__version__ = "0.1.0"

__all__ = ["PikeragRetriever", "__version__"]
