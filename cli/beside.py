"""An installation that runs on the same home: what a command that works by itself says about it."""

from flows.installation import state
from flows.local import has_server
from models.settings import Settings


def beside(settings: Settings) -> str:
    """What it means for a run of this process; empty where none runs, or where its screen shows the run."""
    url = None if has_server() else state.api_url(settings)
    if url is None:
        return ""
    return (
        "pagemill up runs on this home. This command works beside it, in this process, on the same pages and "
        f"with the OCR servers it runs; for its screen to show the run: export PREFECT_API_URL={url}"
    )
