"""Plain text: pages split by form feeds, so that the n-th part is page n."""

from cli.views import DocumentView, excuse
from models.report import PageReport


def render(view: DocumentView) -> str:
    """The whole document; pages without text hold their reason in brackets."""
    return "\f".join([_page(view, page) for page in view.pages] or [f"[{view.excuse}]\n"])


def _page(view: DocumentView, page: PageReport) -> str:
    sorry, picture = excuse(page), view.pictures.get(page.page_no)
    told = f"{sorry} Its picture: {picture}" if picture else sorry
    return f"[{told}]\n" if sorry else page.text.rstrip("\n") + "\n"
