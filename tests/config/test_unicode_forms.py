import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from config.unicode_forms import normalize
from tests.cases import each_case
from tests.growth import TIMES, assert_cheap

SIZE = 60_000


@each_case("marks", ["\u0301\u0327", "\u0301\u0327\u0300", "\u0f73", "\u0344\u0327"])
def test_marks_in_any_order_are_normalized_in_linear_time(marks):
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        texts = ("x" + marks * (size // len(marks)) for size in (SIZE // TIMES, SIZE))
        assert_cheap(lambda text, form=form: normalize(form, text), *texts, 0.0)


@given(st.text(st.characters(exclude_categories=["Mn", "Cs"]) | st.sampled_from("\u0301\u0327\u0300"), max_size=30))
def test_ordinary_texts_are_normalized_by_unicode_s_rules(text):
    assert normalize("NFKC", text) == unicodedata.normalize("NFKC", text)
