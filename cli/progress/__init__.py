"""How a run is shown while it goes on: a live table in a terminal, plain lines elsewhere."""

from cli.progress.display import Display, open_display

__all__ = ["Display", "open_display"]
