"""The formats a document can be exported in."""

from collections.abc import Callable

from cli.choices import Format
from cli.export import html, markdown, plain
from cli.output import to_json
from cli.views import DocumentView

RENDERERS: dict[Format, Callable[[DocumentView], str]] = {
    Format.MD: markdown.render,
    Format.HTML: html.render,
    Format.JSON: lambda view: to_json(view) + "\n",
    Format.TXT: plain.render,
}
