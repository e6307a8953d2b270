"""Records: what the project uses of frozen dataclasses, without their import."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import pytest

from seawall.record import Record


class Point(Record):
    x: float
    y: float = 0.0
    origin: ClassVar[str] = "corner"


class Positive(Point):
    z: float = 1.0

    def __post_init__(self) -> None:
        if self.z <= 0:
            raise ValueError("z must be positive")


def test_fields_come_by_position_or_name_with_defaults() -> None:
    assert (Point(1.0).x, Point(1.0).y) == (1.0, 0.0)
    assert Point(1.0, 2.0) == Point(y=2.0, x=1.0)
    assert Positive.__fields__ == ("x", "y", "z")


def test_equality_and_hash_go_by_type_and_fields() -> None:
    assert Point(1.0) != Positive(1.0)
    assert Point(1.0) != (1.0, 0.0)
    assert len({Point(1.0), Point(1.0, 0.0), Point(2.0)}) == 2


def test_repr_can_be_read() -> None:
    assert repr(Point(1.0)) == "Point(x=1.0, y=0.0)"


def test_match_statement_takes_positions() -> None:
    match Point(1.0, 2.0):
        case Point(x, y):
            assert (x, y) == (1.0, 2.0)


def test_copies_are_equal() -> None:
    point = Positive(1.0, z=3.0)
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_replace_makes_a_validated_copy() -> None:
    assert Positive(1.0).replace(z=2.0) == Positive(1.0, 0.0, 2.0)
    with pytest.raises(ValueError, match="z must be positive"):
        Positive(1.0).replace(z=-1.0)


def test_nothing_can_be_assigned_or_deleted() -> None:
    point = Point(1.0)
    with pytest.raises(AttributeError, match=r"Point is immutable: cannot set 'x'; use \.replace"):
        point.x = 2.0  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="cannot delete 'x'"):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "Point needs field 'x'"),
        ((1, 2, 3), {}, "Point takes 2 fields, got 3"),
        ((1,), {"x": 1}, "Point got field 'x' twice"),
        ((1,), {"colour": 1}, "Point has no field 'colour'; its fields are x, y"),
    ],
)
def test_wrong_fields_are_named(
    args: tuple[float, ...], kwargs: dict[str, float], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        Point(*args, **kwargs)
