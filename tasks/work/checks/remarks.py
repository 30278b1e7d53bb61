"""What notes of the earlier stages say to a person."""

from models.notes import REPAIRS

_SAID = {
    "blank-said": "The model says that the page is blank.",
    "box-repaired": "The page's declared size made no sense: a usual one was taken.",
    "downscaled": "The page is larger than the picture that was made of it.",
    "layer-rejected:": "The text layer cannot be what is printed and was not used",
    "layer-unproven": "The text layer was taken and no line of it was read.",
    "layer-unreadable": "The text layer is damaged and was not used.",
    "region-empty": "In a part of the page nothing was read.",
    "shrunk-to-fit": "The picture was made smaller for the model.",
    "turned-": "Degrees by which the page was turned to be read",
    "unreadable-page": "The file is damaged at this page.",
    "unsure-lines-dropped": "Marks that hardly look like text were left out.",
}


def remark(code: str) -> str:
    """A sentence for a note: where it ends in a figure or a fault, that is told too."""
    if code in REPAIRS:
        return "The answer had to be mended before it could be read."
    if code in _SAID:
        return _SAID[code]
    for start, said in _SAID.items():
        if start[-1] in "-:" and code.startswith(start):
            return f"{said}: {code.removeprefix(start)}."
    return "Noted while the page was prepared or read."
