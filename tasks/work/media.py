"""What a file is, decided by its first bytes and never by its name.

No decoder runs here: signatures are read in the scanning process, which a hostile picture must not take down.
Sources: ISO 32000-1 §7.5.2 and its annex H (the PDF header may stand within the first 1,024 bytes), RFC 2083,
TIFF 6.0, ISO 14496-12 (file type boxes), ISO 15444-1 annex I, CIPA DC-007 (multi-picture format).
"""

import re
from collections.abc import Callable
from pathlib import Path

import puremagic

from models.document import MediaType
from models.errors import Code, DocumentRejected

_HEAD = 65_536
_PDF_WINDOW = 1_024
# A first object without the header line: some writers damage only that line, and readers repair it.
_PDF_OBJECT = re.compile(rb"(?:^|[\r\n])\s*\d+ \d+ obj\b")
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_BMP_HEADERS = {12, 16, 40, 52, 56, 64, 108, 124}
_READS = "pagemill reads PDF, JPEG, PNG, TIFF, WebP, GIF, BMP, JPEG 2000, HEIC and AVIF."

# Below this, a guess of the naming library is about as often wrong as right.
_SURE = 0.4


def sniff(path: Path) -> MediaType:
    """The kind of the file at `path`.

    Raises DocumentRejected with code `empty` or `unsupported-type` and a sentence that names what it is
    instead; OSError as the file system gives it.
    """
    head = _head(path)
    if not head:
        raise DocumentRejected("The file is empty: it has 0 bytes.", Code.EMPTY)
    found = _media_type(head)
    if found is None:
        raise DocumentRejected(
            f"This cannot be read: its content is {_name(head)}. {_READS}",
            Code.UNSUPPORTED_TYPE,
        )
    return found


def recognise(path: Path) -> MediaType | None:
    """The kind of the file at `path` where it is one that is read.

    Does not name what else it may be, which takes longer. Raises OSError as the file system gives it.
    """
    return _media_type(_head(path))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _media_type(head: bytes) -> MediaType | None:
    if head.startswith(b"%PDF-"):
        return MediaType.PDF
    for media_type, matches in _PICTURES:
        if matches(head):
            return media_type
    window = head[:_PDF_WINDOW]
    return MediaType.PDF if b"%PDF-" in window or _PDF_OBJECT.search(window) else None


def _starts(*signatures: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(signatures)


def _is_multi_picture(head: bytes) -> bool:
    return head.startswith(b"\xff\xd8\xff") and b"\xff\xe2" in head and b"MPF\x00" in head


def _is_bmp(head: bytes) -> bool:
    """Text may begin with BM too; the size of the second header is one of a few."""
    return head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS


def _brands(head: bytes) -> set[bytes]:
    """Major and compatible brands of an ISO base media file; empty for others."""
    if head[4:8] != b"ftyp":
        return set()
    box = head[8 : min(int.from_bytes(head[:4], "big"), 256)]
    return {box[i : i + 4] for i in range(0, len(box), 4) if i != 4}


_PICTURES: tuple[tuple[MediaType, Callable[[bytes], bool]], ...] = (
    (MediaType.MPO, _is_multi_picture),
    (MediaType.JPEG, _starts(b"\xff\xd8\xff")),
    (MediaType.PNG, _starts(b"\x89PNG\r\n\x1a\n")),
    (MediaType.TIFF, _starts(b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")),
    (MediaType.WEBP, lambda head: head.startswith(b"RIFF") and head[8:12] == b"WEBP"),
    (MediaType.GIF, _starts(b"GIF87a", b"GIF89a")),
    (MediaType.BMP, _is_bmp),
    (MediaType.JPEG2000, _starts(b"\x00\x00\x00\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51")),
    # AVIF first: its files name the general brand mif1 as well.
    (MediaType.AVIF, lambda head: bool(_brands(head) & {b"avif", b"avis"})),
    (MediaType.HEIC, lambda head: bool(_brands(head) & _HEIC_BRANDS)),
)


def _name(head: bytes) -> str:
    """What the bytes are, for a person."""
    if head.startswith(b"PK\x03\x04"):
        # One signature for all of them, and the naming library takes its pick.
        return "a ZIP archive or an office document"
    try:
        guesses = [guess for guess in puremagic.magic_string(head) if guess.confidence >= _SURE]
    except (puremagic.PureError, ValueError):
        guesses = []
    if guesses:
        best = max(guesses, key=lambda guess: (bool(guess.mime_type), guess.confidence))
        return f"'{best.name}'"
    return "plain text" if _is_text(head) else "of an unknown kind"


def _is_text(head: bytes) -> bool:
    # A multi-byte character may be cut at the end of what was read.
    text = head.decode("utf-8", "ignore")
    return len(text.encode()) >= len(head) - 3 and "\x00" not in text
