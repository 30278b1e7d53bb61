"""Flow ingest: from folders to the knowledge base, all stages overlapping in one run."""

from typing import Annotated

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows.ingesting import Wish, read_in
from flows.naming import run_name

Place = Annotated[str, Field(min_length=1, max_length=4_096)]
Option = Annotated[str, Field(pattern=r"^\w+=", max_length=4_096)]


@flow(name="ingest", flow_run_name=run_name("ingest"), persist_result=False)
def ingest(
    paths: Annotated[list[Place], Field(max_length=1_000)],
    profile: Annotated[str, Field(min_length=1, max_length=100)] = "ppocr",
    options: Annotated[list[Option], Field(max_length=100)] = [],  # noqa: B006 (shown in Prefect's form)
    *,
    jobs: Annotated[int, Field(ge=1, le=256)] | None = None,
    settle_s: Annotated[float, Field(ge=0, le=86_400)] | None = None,
    gone_share: Annotated[float, Field(ge=0, le=1)] | None = None,
    follow_links: bool = False,
) -> State[int]:
    """Scan folders and read what is new; its result is the id of the run. Work that is left is done, too.

    Args:
        paths: Folders and files to read: absolute paths of the worker's machine, or URLs like
            s3://bucket/folder.
        profile: OCR profile, see `pagemill profiles`.
        options: Recipe options, each key=value.
        jobs: Worker processes of each kind; empty for one per core.
        settle_s: Leave files to the next scan that were changed less than so many seconds ago; empty for
            PAGEMILL_SETTLE_S (10), 0 takes all at once.
        gone_share: Stop, and change nothing, where a larger share of a folder's known files is gone, from 0
            to 1; empty for PAGEMILL_GONE_SHARE (0.5), 1 lets all go.
        follow_links: Follow symbolic links below the folders, each folder once.
    """
    given = Wish(settle_s=settle_s, gone_share=gone_share, follows_links=follow_links)
    return read_in(paths, profile, options, jobs, given).state
