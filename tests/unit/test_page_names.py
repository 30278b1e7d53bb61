"""Pages as people name them: DOC:PAGE, read and written the same way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import profiles
from models.errors import Code, ConfigurationError
from models.review import HUMAN_RECIPE, PageRef

documents = st.integers(0, 10**18 - 1)
numbers = st.integers(1, 10**9 - 1)


@given(documents, numbers)
def test_a_page_that_is_written_is_read_as_itself(document: int, number: int) -> None:
    page = PageRef(document, number)
    assert PageRef.parse(str(page)) == page


@given(st.from_regex(r"[0-9]{0,3}[: ;-]?[0-9]{0,3}", fullmatch=True))
def test_whatever_is_typed_is_a_page_or_refused_with_an_example(text: str) -> None:
    document, colon, number = text.partition(":")
    if colon and document and number and int(number) > 0:
        assert PageRef.parse(text) == PageRef(int(document), int(number))
        return
    with pytest.raises(ConfigurationError, match="12:3") as refused:
        PageRef.parse(text)
    assert refused.value.code is Code.CONFIGURATION


@pytest.mark.parametrize(
    "text", ["12:0", "12:-1", " 12:3", "12:3\n", "12:3:4", "١٢:٣", "9" * 19 + ":1", "1:" + "9" * 10]
)
def test_a_page_nearly_named_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="names no page"):
        PageRef.parse(text)


def test_leading_zeros_name_the_same_page() -> None:
    assert PageRef.parse("007:03") == PageRef(7, 3)


def test_pages_are_in_order_of_documents_then_numbers_not_of_letters() -> None:
    pages = [PageRef.parse(text) for text in ("10:1", "9:10", "9:9", "10:2")]
    assert [str(page) for page in sorted(pages)] == ["9:9", "9:10", "10:1", "10:2"]


def test_what_people_write_is_under_a_recipe_that_no_profile_has() -> None:
    assert HUMAN_RECIPE.profile not in profiles.PROFILES
    assert HUMAN_RECIPE.hash not in {profiles.get(name).recipe().hash for name in profiles.PROFILES}
