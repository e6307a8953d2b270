"""A name out of a fixed list."""

from __future__ import annotations

import pytest

from seawall.choice import did_you_mean, one_of


def test_a_known_name_passes() -> None:
    one_of("colour", "red", {"red", "blue"})


def test_an_unknown_name_lists_the_choices_in_order() -> None:
    with pytest.raises(ValueError) as caught:
        one_of("colour", "xyz", {"red", "blue"})
    assert str(caught.value) == "colour 'xyz' is unknown. Use one of: blue, red."


@pytest.mark.parametrize("written", ["polly_v2", "Polly-V2", "POLLY-V2", "poly-v2"])
def test_the_nearest_name_survives_case_and_underscores(written: str) -> None:
    assert did_you_mean(written, ["polly-v2", "full"]) == " Did you mean 'polly-v2'?"
