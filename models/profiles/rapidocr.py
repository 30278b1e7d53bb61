"""PP-OCRv6 small through RapidOCR on the CPU: the fallback from a larger project, optional to install."""

from models.profile import Profile

PROFILE = Profile(
    name="rapidocr",
    title="PP-OCRv6 small on the CPU (RapidOCR)",
    engine="rapidocr",
    revision="rapidocr-3.10.0-small.1",
    licence="RapidOCR Apache-2.0; PP-OCRv6 weights Apache-2.0",
    scripts=frozenset({"latin", "han", "kana"}),
    finds_lines=True,
    timeout_s=300.0,
)
