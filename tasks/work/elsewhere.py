"""Functions that only worker processes run: named by the parent, imported where they are called.

What draws pages loads MuPDF, Pillow and numpy. The parent, who only passes such functions on, does without:
a fifth of a second at every start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A module's function by its name. It can be pickled, and is called as the function itself."""

    module: str
    name: str

    @property
    def function(self) -> Callable[..., Any]:
        """The function. Raises ImportError and AttributeError where there is none."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Import the function and call it."""
        return self.function(*args, **kwargs)
