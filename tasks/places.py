"""From a document to a file of this machine that still holds its bytes, read in a child."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from models.document import SourceFile
from models.errors import Code, SourceGone, TransientError
from tasks.mill import Mill
from tasks.work import remote, sources
from tasks.work.clock import Timed, timed
from tasks.work.sources_local import reading

T = TypeVar("T")


def place_of(seen: Sequence[SourceFile]) -> SourceFile:
    """The first place whose size and time are as registered, so that its bytes are the document's.

    Raises SourceGone, SourceBusy or SourceForbidden, for the last place looked at.
    """
    problem: TransientError = SourceGone("The file is at none of the places where it was seen.")
    for source in seen:
        try:
            sources.check_unchanged(source)
        except TransientError as error:
            problem = error
        else:
            return source
    raise problem


def read_in_child(
    mill: Mill,
    sha256: str,
    seen: Sequence[SourceFile],
    function: Callable[..., T],
    *args: object,
    verifies: bool = False,
    timeout_s: float,
    timeout_code: Code,
    crash_code: Code,
) -> Future[Timed[T]]:
    """`function(path, *args)` in a child of the mill, on a file that holds the bytes of `sha256`.

    The future ends as those of WorkerPool do, and with SourceBusy when a local file was not as registered
    before or after; `verifies`: nor held the same bytes. A remote file is copied first; the copy is the
    document's bytes and stays until the child has ended. Raises as `place_of`, and as `Copies.acquire`.
    """
    path, listed = _file(mill, sha256, seen)
    try:
        future: Future[Timed[T]] = mill.render_pool.submit(
            timed,
            reading,
            listed,
            sha256 if verifies else None,
            function,
            path,
            *args,
            near=sha256,
            timeout_s=timeout_s,
            timeout_code=timeout_code,
            crash_code=crash_code,
        )
    except BaseException:
        if listed is None:
            mill.copies.release(sha256)
        raise
    if listed is None:
        future.add_done_callback(lambda _: mill.copies.release(sha256))
    return future


def _file(mill: Mill, sha256: str, seen: Sequence[SourceFile]) -> tuple[Path, SourceFile | None]:
    """A path, and how the file was registered; None for a copy, which is to be released."""
    if kept := mill.copies.kept(sha256):
        return kept, None
    place = place_of(seen)
    if remote.is_url(place.uri):
        return mill.copies.acquire(place, sha256), None
    return Path(place.uri), place
