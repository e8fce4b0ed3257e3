"""`dataclass`, made quicker: plait has more than two hundred, and making them is most of what importing costs.

To type checkers it is the standard library's own, and so it is to everybody at run time: fields, `replace`, `asdict`,
matching and pickling work alike. Only how a class gets its methods differs: the standard library compiles up to six texts
for each, this one compiles its `__init__` and shares the rest. Whatever asks for more than `frozen` and `slots` is left to
the standard library.
"""

# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ARG001 - type checkers see the standard library's
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if not TYPE_CHECKING:
    from dataclasses import _MISSING_TYPE, MISSING, Field, FrozenInstanceError, dataclass as _standard, fields
    from operator import attrgetter

    def dataclass(cls=None, /, **how):
        if cls is None:
            return lambda cls: dataclass(cls, **how)
        plain = how.keys() <= {"frozen", "slots"} and not hasattr(cls, "__post_init__")
        return _quick(cls, **how) if plain and not _special(cls) else _standard(cls, **how)

    def _special(cls):
        """A method of its own, or a field that asks for something. Making the class uses its fields up: look before."""
        named = {
            each
            for base in cls.__mro__[1:]
            for each in base.__dict__.get("__dataclass_fields__", {}).values()
        }
        given = {each for each in cls.__dict__.values() if isinstance(each, Field)}
        odd = any(
            not each.init or each.kw_only is True or not (each.compare and each.repr)
            for each in named | given
        )
        return odd or bool({"__init__", "__repr__", "__eq__", "__hash__"} & cls.__dict__.keys())

    def _quick(cls, *, frozen=False, slots=False):
        cls.__doc__ = cls.__doc__ or cls.__name__  # or its signature would be written out
        made = _standard(cls, init=False, repr=False, eq=False, slots=slots)
        known = fields(made)
        made.__init__ = _init(known, frozen=frozen)
        made.__eq__, made.__hash__ = _same(tuple(each.name for each in known))
        made.__repr__ = _repr
        made.__dataclass_params__.eq = True
        if not frozen:
            made.__hash__ = None
            return made
        made.__setattr__ = made.__delattr__ = _refuse
        made.__getstate__, made.__setstate__ = _getstate, _setstate
        made.__dataclass_params__.frozen = True
        return made

    def _init(known, *, frozen):
        """As the standard library's: defaults by name, factories called anew."""
        room, words, lines = {"_set": object.__setattr__, "_missing": MISSING}, [], []
        for each in known:
            value = each.name
            if not isinstance(each.default, _MISSING_TYPE):
                room[f"_default_{each.name}"] = each.default
                words.append(f"{each.name}=_default_{each.name}")
            elif not isinstance(each.default_factory, _MISSING_TYPE):
                room[f"_make_{each.name}"] = each.default_factory
                words.append(f"{each.name}=_missing")
                value = f"_make_{each.name}() if {each.name} is _missing else {each.name}"
            else:
                words.append(each.name)
            lines.append(
                f"  _set(self, {each.name!r}, {value})" if frozen else f"  self.{each.name} = {value}"
            )
        exec("\n".join([f"def __init__(self, {', '.join(words)}):", *(lines or ["  pass"])]), room)  # noqa: S102 - as the standard library does
        return room["__init__"]

    def _same(names):
        # With one name or none, it would not give a tuple.
        values = (
            attrgetter(*names)
            if len(names) > 1
            else lambda self: tuple(getattr(self, each) for each in names)
        )

        def eq(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return eq, lambda self: hash(values(self))

    def _repr(self):
        told = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"{self.__class__.__qualname__}({told})"

    def _refuse(self, name, *_):
        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _getstate(self):
        return [getattr(self, each.name) for each in fields(self)]

    def _setstate(self, state):
        for each, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)
