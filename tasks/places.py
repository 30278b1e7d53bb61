"""From a document to a file that still holds its bytes."""

from collections.abc import Sequence

from models.document import SourceFile
from models.errors import SourceGone, TransientError
from tasks.work import sources


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
