"""The public names are a reviewed list: a change of test_public_api.txt is a change of the promise to users."""

from __future__ import annotations

from pathlib import Path

import seawall

REVIEWED = Path(__file__).with_suffix(".txt").read_text("utf-8").split()


def test_public_names_are_the_reviewed_ones() -> None:
    assert list(seawall.__all__) == REVIEWED


def test_the_list_is_short() -> None:
    """Its order (constants, classes, functions, each sorted) is the linter's business."""
    assert len(set(REVIEWED)) == len(REVIEWED)
    assert 0 < len(REVIEWED) <= 30


def test_every_public_name_exists_and_is_documented() -> None:
    """All but plain constants carry a docstring of their own."""
    for name in REVIEWED:
        thing = getattr(seawall, name)
        if callable(thing):
            assert thing.__doc__, f"seawall.{name} has no docstring"


def test_no_other_name_is_public() -> None:
    """What `seawall.<tab>` offers beside the list is submodules only."""
    here = Path(seawall.__file__).parent
    modules = {path.stem for path in here.iterdir()}
    extra = {name for name in vars(seawall) if not name.startswith("_")} - set(REVIEWED) - modules
    assert extra <= {"annotations"}
