"""The prompts that Chandra was trained on, put together from its vocabulary.

A trained prompt is an interface: other words give other boxes, or none. Vocabulary and wording are those of
the package chandra-ocr, version 0.1.8 for Chandra 1 and 0.2.0 for Chandra 2, Copyright Datalab, under the
Apache License 2.0 (https://www.apache.org/licenses/LICENSE-2.0).
"""

_LABELS = (
    "Caption",
    "Footnote",
    "Equation-Block",
    "List-Group",
    "Page-Header",
    "Page-Footer",
    "Image",
    "Section-Header",
    "Table",
    "Text",
    "Complex-Block",
    "Code-Block",
    "Form",
    "Table-Of-Contents",
    "Figure",
)
LABELS_1 = _LABELS
LABELS_2 = (*_LABELS, "Chemical-Block", "Diagram", "Bibliography", "Blank-Page")

_TAGS = (
    "math br i b u del sup sub table tr td p th div pre h1 h2 h3 h4 h5 ul ol li input a span img hr tbody "
    "small caption strong thead big code"
)
_ATTRIBUTES = "class colspan rowspan display checked type border value style href alt align"

_MATH = (
    "Inline math: Surround math with <math>...</math> tags. Math expressions should be rendered in "
    "KaTeX-compatible LaTeX. Use display for block math."
)
_TABLES = "Tables: Use colspan and rowspan attributes to match table structure."
_FORMATTING = (
    "Formatting: Maintain consistent formatting with the image, including spacing, indentation, "
    "subscripts/superscripts, and special characters."
)
_IMAGES = (
    "Images: Include a description of any images in the alt attribute of an <img> tag. Do not fill out the "
    "src property."
)
_IMAGES_2 = (
    f"{_IMAGES} Describe in detail inside the div tag. Also convert charts to high fidelity data, and "
    "convert diagrams to mermaid."
)
_FORMS = "Forms: Mark checkboxes and radio buttons properly."
_TEXT = (
    "Text: join lines together properly into paragraphs using <p>...</p> tags.  Use <br> tags for line "
    "breaks within paragraphs, but only when absolutely necessary to maintain meaning."
)
_CHEMISTRY = "Chemistry: Use <chem>...</chem> tags for chemical formulas with reactive SMILES."
_LISTS = "Lists: Preserve indents and proper list markers."
_SIMPLE = "Use the simplest possible HTML structure that accurately represents the content of the block."
_ACCURATE = (
    "Make sure the text is accurate and easy for a human to read and interpret.  Reading order should be "
    "correct and natural."
)


def _ending(tags: str, attributes: str, guidelines: tuple[str, ...]) -> str:
    lines = "\n".join(f"* {line}" for line in guidelines)
    only = f"Only use these tags {tags.split()}, and these attributes {attributes.split()}."
    return f"{only}\n\nGuidelines:\n{lines}"


def _layout(notation: str, scale: int, labels: tuple[str, ...], ending: str) -> str:
    listed = "\n".join(f"- {label}" for label in labels)
    return (
        "OCR this image to HTML, arranged as layout blocks.  Each layout block should be a div with the "
        "data-bbox attribute representing the bounding box of the block in "
        f"{notation} format.  Bboxes are normalized 0-{scale}. The data-label attribute is the label for the "
        f"block.\n\nUse the following labels:\n{listed}\n\n{ending}"
    )


_ENDING_1 = _ending(
    _TAGS, _ATTRIBUTES, (_MATH, _TABLES, _FORMATTING, _IMAGES, _FORMS, _TEXT, _SIMPLE, _ACCURATE)
)
_ENDING_2 = _ending(
    f"{_TAGS} chem",
    f"{_ATTRIBUTES} data-bbox data-label",
    (_MATH, _TABLES, _FORMATTING, _IMAGES_2, _FORMS, _TEXT, _CHEMISTRY, _LISTS, _SIMPLE, _ACCURATE),
)
_PLAIN = "OCR this image to HTML."

SCALE_1, SCALE_2 = 1024, 1000
LAYOUT_1 = _layout("[x0, y0, x1, y1]", SCALE_1, LABELS_1, _ENDING_1)
LAYOUT_2 = _layout("x0 y0 x1 y1", SCALE_2, LABELS_2, _ENDING_2)
PLAIN_1 = f"{_PLAIN}\n\n{_ENDING_1}"
PLAIN_2 = f"{_PLAIN}\n\n{_ENDING_2}"
