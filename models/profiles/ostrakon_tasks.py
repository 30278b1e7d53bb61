"""What Ostrakon-VL is asked of shops and kitchens, in English and Chinese, and the JSON that it answers with.

The publishers give one example (a Chinese question about a shop's name) and no prompts: these are pagemill's
own. Keys are English in both languages; values are in the question's language, printed words as printed.
"""

from typing import Any

from models.vlm import Task

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """All keys are required: what is not there is an empty string or list."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _choice(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _list(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(**properties)}


_TRANSCRIPT = _object(texts=_TEXTS)
_SHELF = _object(
    scene=_TEXT,
    products=_list(name=_TEXT, brand=_TEXT, place=_TEXT, price=_TEXT, facings=_COUNT),
    gaps=_TEXTS,
    texts=_TEXTS,
)
_HYGIENE = _object(
    scene=_TEXT,
    checks=_list(rule=_TEXT, verdict=_choice("met", "violated", "cannot tell"), evidence=_TEXT),
    verdict=_choice("clean", "minor faults", "serious faults", "cannot tell"),
)
_COUNTED = _object(kinds=_list(name=_TEXT, count=_COUNT), total=_COUNT)
_COMPARED = _object(
    same=_TEXTS,
    differences=_list(what=_TEXT, first=_TEXT, second=_TEXT),
    is_same_place=_choice("yes", "no", "cannot tell"),
)

_PICTURES = 8


def _asked(
    name: str, english: str, chinese: str, about: str, schema: dict[str, Any], *, pictures: int = 1
) -> dict[str, Task]:
    """A task in both languages; the Chinese one is called NAME-zh."""

    def task(prompt: str, about: str) -> Task:
        return Task(prompt=prompt, parser="json", about=about, schema_=schema, max_images=pictures)

    return {name: task(english, about), f"{name}-zh": task(chinese, "the same, asked in Chinese")}


TASKS: dict[str, Task] = {
    **_asked(
        "transcribe",
        "Transcribe every printed or written word in the picture, line by line in reading order, exactly as "
        "it stands there and in its own language. Leave out nothing and add nothing. Answer as JSON.",
        "请按阅读顺序逐行转写图片中所有印刷或手写的文字，保持原文语言，不要遗漏，也不要添加。请用JSON回答。",
        "all words in the picture, line by line",
        _TRANSCRIPT,
    ),
    **_asked(
        "shelf",
        "Describe the shelf or counter: each product with name, brand, place, price and number of facings, "
        "the gaps where goods are missing, and all legible text. Answer in English as JSON.",
        "请描述货架或柜台：每种商品的名称、品牌、位置、价格和排面数，缺货的空位，以及所有可辨认的文字。"
        "请用中文以JSON回答。",
        "products, places, prices, gaps",
        _SHELF,
    ),
    **_asked(
        "hygiene",
        "Check the hygiene of this kitchen or shop: clothing, surfaces, floor, storage, waste, pests, raw "
        "beside cooked food. For each rule say whether it is met and what in the picture shows it; where the "
        "picture does not show it, say so. Answer in English as JSON.",
        "请检查该厨房或店铺的卫生情况：着装、台面、地面、存放、垃圾、虫害、生熟分开。对每条规定说明是否符合，"
        "并指出图中的依据；图中看不出的请如实说明。请用中文以JSON回答。",
        "rules of hygiene, met or violated, with what shows it",
        _HYGIENE,
    ),
    **_asked(
        "count",
        "Count the objects in the picture by kind and in all. Answer in English as JSON.",
        "请按种类数出图片中的物品，并给出总数。请用中文以JSON回答。",
        "objects by kind, and how many",
        _COUNTED,
    ),
    **_asked(
        "compare",
        "Compare the pictures: what is the same, what differs from the first to the others, and whether they "
        "show the same place. Answer in English as JSON.",
        "请比较这些图片：哪些相同，后面的图片与第一张有何不同，以及是否为同一地点。请用中文以JSON回答。",
        "two pictures or more: same and different",
        _COMPARED,
        pictures=_PICTURES,
    ),
    "question": Task(
        prompt="{question}",
        parser="text",
        about="a question of your own, in English or Chinese",
        max_images=_PICTURES,
    ),
}
