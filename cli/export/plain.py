"""Plain text: pages split by form feeds, so that the n-th part is page n."""

from cli.views import DocumentView, PageView


def render(view: DocumentView) -> str:
    """The whole document; pages without text hold their reason in brackets."""
    return "\f".join(_page(page) for page in view.pages)


def _page(page: PageView) -> str:
    return f"[{page.excuse}]\n" if page.excuse else page.text.rstrip("\n") + "\n"
