"""A faster `dataclass`: plait has more than two hundred, and creating them is most of what importing costs.

Type checkers see the standard library's. At run time the result is the same class (fields, `replace`, `asdict`, matching and
pickling work alike), but the standard library compiles up to six functions for each class. Here `__init__` is compiled when
the first instance is made, and the other methods are shared. A class that wants more than `frozen` and `slots`, has a method
of its own for one of these, or extends another dataclass is left to the standard library.

Measured: `plait status` takes 65 ms longer and `plait --help` 10 ms longer with the standard library's.
"""

# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204, ARG001 - type checkers see the standard library's
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if not TYPE_CHECKING:
    from dataclasses import MISSING, Field, FrozenInstanceError, dataclass as _standard_dataclass, fields
    from operator import attrgetter

    _OWN_METHODS = frozenset({"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__post_init__"})

    def dataclass(cls=None, /, *, frozen=False, slots=False, **options):
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, **options)
        if options or _needs_standard(cls):
            return _standard_dataclass(cls, frozen=frozen, slots=slots, **options)
        cls.__doc__ = cls.__doc__ or cls.__name__  # the standard library would inspect its signature
        result = _standard_dataclass(cls, init=False, repr=False, eq=False, slots=slots)
        params = result.__dataclass_params__
        params.init = params.repr = params.eq = True
        params.frozen = frozen
        result.__init__ = _make_first_init(result, frozen=frozen)
        result.__signature__ = _SIGNATURE
        result.__eq__, result.__hash__ = _make_comparison(result.__match_args__)
        result.__repr__ = _repr
        if not frozen:
            result.__hash__ = None
        else:
            result.__setattr__ = result.__delattr__ = _refuse_change
            if slots:
                result.__getstate__, result.__setstate__ = _getstate, _setstate
        return result

    def _needs_standard(cls):
        """Whether the class has a method of its own, a field or parameter with options, or extends a dataclass."""
        annotations = " ".join(map(str, cls.__annotations__.values()))
        return (
            not _OWN_METHODS.isdisjoint(cls.__dict__)
            or hasattr(cls, "__dataclass_fields__")
            or "InitVar" in annotations
            or "KW_ONLY" in annotations
            or any(_has_options(value) for value in cls.__dict__.values() if isinstance(value, Field))
        )

    def _has_options(field):
        return not (field.init and field.compare and field.repr) or field.kw_only is True or field.hash is not None

    def _make_first_init(result, *, frozen):
        """Make an `__init__` that compiles the real one when it is first called: a process makes instances of few of
        the classes it imports.
        """

        def compile_init():
            result.__init__ = _compile_init(fields(result), frozen=frozen)

        def init(self, *values, **named):
            compile_init()
            result.__init__(self, *values, **named)

        init.compile = compile_init
        return init

    class _Signature:
        """The `__signature__` of a class: reading it compiles `__init__` first."""

        def __get__(self, instance, owner):
            from inspect import signature  # rarely asked for

            for base in owner.__mro__:
                getattr(vars(base).get("__init__"), "compile", int)()
            full = signature(owner.__init__)
            return full.replace(parameters=list(full.parameters.values())[1:])

    _SIGNATURE = _Signature()

    def _compile_init(all_fields, *, frozen):
        names, parameters, lines = {"_set": object.__setattr__, "_missing": MISSING}, [], []
        for field in all_fields:
            value, default = field.name, ""
            if field.default is not MISSING:
                names[f"_default_{field.name}"], default = field.default, f"=_default_{field.name}"
            elif field.default_factory is not MISSING:
                names[f"_make_{field.name}"], default = field.default_factory, "=_missing"
                value = f"_make_{field.name}() if {field.name} is _missing else {field.name}"
            parameters.append(f"{field.name}{default}")
            lines.append(f"  _set(self, {field.name!r}, {value})" if frozen else f"  self.{field.name} = {value}")
        exec("\n".join([f"def __init__(self, {', '.join(parameters)}):", *(lines or ["  pass"])]), names)  # noqa: S102 - as the standard library does
        return names["__init__"]

    def _make_comparison(names):
        # With one name or none, it would not give a tuple.
        values = attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)

        def eq(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return eq, lambda self: hash(values(self))

    def _repr(self):
        values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return f"{self.__class__.__qualname__}({values})"

    def _refuse_change(self, name, *_):
        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _getstate(self):
        return [getattr(self, field.name) for field in fields(self)]

    def _setstate(self, state):
        for field, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)
