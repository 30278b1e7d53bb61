"""Whether there is any colour on a page of a PDF, from what it draws and not from pixels."""

from typing import Any

import pymupdf

# PyMuPDF ships no types for what is used here.
_mu: Any = pymupdf


def has_colour(page: Any, drawn: Any) -> bool:
    """Whether a page whose display list is `drawn` may show any colour.

    False only where every fill, stroke and picture is grey or black: drawn in grey, such a page has the
    pixels that it has in colour, but for rounding. MuPDF's own test of a display list tells, in 0.1 ms. It
    calls each picture in a colour space coloured, and looks at no glyph that is a drawing itself (Type 3);
    notes and form fields may be set in such glyphs, too.
    """
    if page.first_annot or page.first_widget or any(kind == "Type3" for _, _, kind, *_ in page.get_fonts()):
        return True
    told = _mu.mupdf.ll_fz_new_test_device_outparams()
    made = _mu.mupdf.ll_fz_new_test_device_outparams_fn(0.0, 0, None, told)
    device, everywhere = _mu.mupdf.FzDevice(made), _mu.mupdf.FzRect(_mu.mupdf.FzRect.Fixed_INFINITE)
    _mu.mupdf.fz_run_display_list(drawn.this, device, _mu.mupdf.FzMatrix(), everywhere, _mu.mupdf.FzCookie())
    # It leaves off at the first colour; what it has told stays.
    _mu.mupdf.fz_close_device(device)
    return bool(told.is_color)
