"""Immutable records with keyword construction.

`dataclasses` costs 8 ms to import (it imports `inspect`) and compiles source text for every class; `import seawall` must stay
under 15 ms. This base class gives what the project uses of it: annotated fields, class attributes as defaults, equality, hash,
repr, pickling and a `__post_init__` for validation. Type checkers see a frozen dataclass (PEP 681).
"""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """What `typing` has: a mark for type checkers."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Record:
    """Base of all value classes: subclass it and annotate the fields.

    Raises `TypeError` for a missing, unknown or repeated field, `AttributeError` on assignment.
    """

    __fields__: ClassVar[tuple[str, ...]] = ()
    __match_args__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = [
            name
            for name, kind in cls.__dict__.get("__annotations__", {}).items()  # noqa: RUF063 - `inspect` is what this file avoids
            if not str(kind).startswith(("ClassVar", "typing.ClassVar"))
        ]
        cls.__fields__ = cls.__fields__ + tuple(n for n in own if n not in cls.__fields__)
        setattr(cls, "__match_args__", cls.__fields__)  # noqa: B010 - type checkers derive it by themselves

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        fields = cls.__fields__
        if len(args) > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} fields, got {len(args)}")
        values = self.__dict__
        for name, value in zip(fields, args, strict=False):
            values[name] = value
        for name, value in kwargs.items():
            if name not in fields:
                raise TypeError(
                    f"{cls.__name__} has no field {name!r}; its fields are {', '.join(fields)}"
                )
            if name in values:
                raise TypeError(f"{cls.__name__} got field {name!r} twice")
            values[name] = value
        for name in fields:
            if name not in values:
                if not hasattr(cls, name):
                    raise TypeError(f"{cls.__name__} needs field {name!r}")
                values[name] = getattr(cls, name)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Validate the fields; the default accepts everything."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable: cannot set {name!r}; "
            f"use .replace({name}=...) to make a changed copy"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def replace(self, **changes: Any) -> Self:
        """A copy with the given fields changed; validated like any other."""
        return type(self)(**{**{n: getattr(self, n) for n in self.__fields__}, **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self._values())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{n}={getattr(self, n)!r}" for n in self.__fields__)
        return f"{type(self).__name__}({inner})"

    def _values(self) -> tuple[object, ...]:
        return tuple(self.__dict__[n] for n in self.__fields__)
