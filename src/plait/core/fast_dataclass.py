"""A faster `dataclass`: plait has more than two hundred, and creating them is most of what importing costs.

Type checkers see the standard library's own, and at run time fields, `replace`, `asdict`, matching and pickling work
the same. Only creating a class differs: the standard library reads each annotation three times and compiles up to six
functions per class; this one reads it once, compiles `__init__` when the first instance is made, and shares the other
methods. Classes that need more than `frozen` and `slots`, or extend another, are left to the standard library.
"""

# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204, ARG001, SLF001 - type checkers see the standard library's
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if not TYPE_CHECKING:
    from dataclasses import (
        _FIELD,
        _MISSING_TYPE,
        MISSING,
        Field,
        FrozenInstanceError,
        dataclass as _standard,
        field,
        fields,
    )
    from operator import attrgetter

    _FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"
    _OWN = frozenset({"__init__", "__repr__", "__eq__", "__hash__", "__post_init__", "__slots__", "__match_args__"})
    _ODD = ("ClassVar", "InitVar", "KW_ONLY")  # annotations of class variables and the like, which are no fields

    def _noted(*, frozen, slots):
        """The parameters of the decorator, as the standard library records them."""
        bare = type("Bare", (), {"__doc__": "Nothing."})
        noted = getattr(_standard(bare, init=False, repr=False, eq=False, slots=slots), _PARAMS)
        noted.init = noted.repr = noted.eq = True
        noted.frozen = frozen
        return noted

    _NOTED = {
        (frozen, slots): _noted(frozen=frozen, slots=slots) for frozen in (False, True) for slots in (False, True)
    }

    def dataclass(cls=None, /, *, frozen=False, slots=False, **more):
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, **more)
        if more or _special(cls):
            return _standard(cls, frozen=frozen, slots=slots, **more)
        return _quick(cls, frozen=frozen, slots=slots)

    def _special(cls):
        """Whether a class needs the standard library: for a method of its own, field options, bases or special annotations."""
        known = cls.__annotations__
        told = " ".join(map(str, known.values()))
        return (
            type(cls) is not type
            or not _OWN.isdisjoint(cls.__dict__)
            or hasattr(cls, _FIELDS)
            or hasattr(cls, "__post_init__")
            or any(word in told for word in _ODD)
            or any(type(each) is not str for each in known.values())
            or any(_asks(each) or name not in known for name, each in vars(cls).items() if isinstance(each, Field))
        )

    def _asks(each):
        return not (each.init and each.compare and each.repr) or each.kw_only is True or each.hash is not None

    def _quick(cls, *, frozen, slots):
        known = _fields(cls)
        names = tuple(known)
        cls.__doc__ = cls.__doc__ or cls.__name__  # the standard library would write its signature out
        cls.__match_args__ = names
        setattr(cls, _FIELDS, known)
        setattr(cls, _PARAMS, _NOTED[frozen, slots])
        made = _slotted(cls, names) if slots else cls
        made.__init__ = _first(made, frozen=frozen)
        made.__signature__ = _SIGNATURE
        made.__eq__, made.__hash__ = _same(names)
        made.__repr__ = _repr
        if not frozen:
            made.__hash__ = None
            return made
        made.__setattr__ = made.__delattr__ = _refuse
        if slots:
            made.__getstate__, made.__setstate__ = _getstate, _setstate
        return made

    def _fields(cls):
        """The fields by name. A `field()` is replaced on the class by its default, or removed if it has none."""
        known = {}
        for name, kind in cls.__annotations__.items():
            each = getattr(cls, name, MISSING)
            if not isinstance(each, Field):
                each = field(default=each)
            elif isinstance(each.default, _MISSING_TYPE):
                delattr(cls, name)
            else:
                setattr(cls, name, each.default)
            if each.default.__class__.__hash__ is None:
                raise ValueError(f"{cls.__qualname__}.{name} would be shared by all: use a default_factory")
            each.name, each.type, each.kw_only, each._field_type = name, kind, False, _FIELD
            known[name] = each
        return known

    def _slotted(cls, names):
        """The class created again with slots, which can't be added to an existing class; defaults are kept in the fields."""
        body = {**cls.__dict__, "__slots__": names}
        for name in (*names, "__dict__", "__weakref__"):
            body.pop(name, None)
        made = type(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        return made

    def _first(made, *, frozen):
        """An `__init__` that compiles the real one on the first call: a process creates instances of few of its classes."""

        def compiled():
            made.__init__ = _init(fields(made), frozen=frozen)

        def init(self, *values, **named):
            compiled()
            made.__init__(self, *values, **named)

        init.compiled = compiled
        return init

    class _Signature:
        """The signature of a class; reading it compiles `__init__` and returns the signature of that."""

        def __get__(self, instance, owner):
            from inspect import signature  # rarely needed

            for each in owner.__mro__:
                getattr(vars(each).get("__init__"), "compiled", int)()
            told = signature(owner.__init__)
            return told.replace(parameters=list(told.parameters.values())[1:])

    _SIGNATURE = _Signature()

    def _init(known, *, frozen):
        """`__init__` as the standard library writes it: defaults by name, factories called for each instance."""
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
            lines.append(f"  _set(self, {each.name!r}, {value})" if frozen else f"  self.{each.name} = {value}")
        exec("\n".join([f"def __init__(self, {', '.join(words)}):", *(lines or ["  pass"])]), room)  # noqa: S102 - as the standard library does
        return room["__init__"]

    def _same(names):
        # With one name or none, it would not give a tuple.
        values = attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, each) for each in names)

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
