"""Our `dataclass` gives the same classes as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import ClassVar

import pytest

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt, Need, Step, Task


@dataclass(frozen=True, slots=True)
class Ours:
    """Words."""

    a: int
    b: tuple[str, ...] = ()
    c: list[int] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """Words."""

    a: int
    b: tuple[str, ...] = ()
    c: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class One:
    a: int


@dataclass(frozen=True, slots=True)
class Empty:
    pass


def test_instances_are_constructed_printed_and_compared_as_usual() -> None:
    for values in ((1,), (1, ("x",)), (1, ("x",), [2])):
        ours, theirs = Ours(*values), Theirs(*values)
        assert asdict(ours) == asdict(theirs)
        assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
        assert ours == Ours(*values)
    others: list[object] = [Ours(2), Theirs(1), 1]
    assert Ours(1) not in others
    assert One(1) == One(1)
    assert One(1) not in [One(2), *others]
    assert Empty() == Empty()
    assert Ours.__match_args__ == Theirs.__match_args__
    assert [each.name for each in fields(Ours)] == [each.name for each in fields(Theirs)]
    for wrong in ({}, {"a": 1, "d": 2}):
        with pytest.raises(TypeError):
            Ours(**wrong)  # type: ignore[arg-type]


def test_the_signature_is_known_before_the_first_instance() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        one: int
        two: str = "2"

    @dataclass(frozen=True, slots=True)
    class Longer(Fresh):
        three: float = 3.0

    assert [*inspect.signature(Longer).parameters] == ["one", "two", "three"]
    parameters = inspect.signature(Fresh).parameters
    assert [*parameters] == ["one", "two"]
    assert parameters["one"].default is inspect.Parameter.empty
    assert parameters["two"].default == "2"
    assert Longer(1) == Longer(1, "2", 3.0)


def test_a_default_factory_is_called_for_each_instance() -> None:
    one, other = Ours(1), Ours(1)
    one.c.append(1)
    assert other.c == []


def test_frozen_instances_reject_changes_and_have_no_dict() -> None:
    for change in ("a", "new"):
        with pytest.raises(FrozenInstanceError):
            setattr(Ours(1), change, 2)
    with pytest.raises(FrozenInstanceError):
        del Ours(1).a
    assert not hasattr(Ours(1), "__dict__")


def test_equal_instances_have_one_hash() -> None:
    assert len({One(1), One(1), One(2)}) == 2
    assert hash(Task("a", needs=(Need("b"),))) == hash(Task("a", needs=(Need("b"),)))
    with pytest.raises(TypeError):
        hash(Ours(1, c=[]))


def test_instances_can_be_copied_pickled_and_replaced() -> None:
    made = Ours(1, ("x",), [2])
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert replace(made, a=3) == Ours(3, ("x",), [2])


def test_unfrozen_instances_can_change_and_other_options_work() -> None:
    attempts = [Attempt("b", "t", Step.WRITE, n) for n in (2, 1)]
    assert sorted(attempts) == attempts[::-1]

    @dataclass(slots=True)
    class Open:
        a: int = 1

    changed = Open()
    changed.a = 2
    assert changed == Open(2)
    with pytest.raises(TypeError):
        hash(changed)


@dataclass(frozen=True, slots=True)
class WithFieldOptions:
    a: int
    secret: str = field(repr=False, default="s3cret")
    beside: int = field(compare=False, default=0)


def test_options_of_a_field_are_kept() -> None:
    assert "s3cret" not in repr(WithFieldOptions(1))
    assert WithFieldOptions(1, beside=1) == WithFieldOptions(1, beside=2)
    with pytest.raises(FrozenInstanceError):
        WithFieldOptions(1).a = 2  # type: ignore[misc]


@dataclass(frozen=True)
class Counted:
    """Not every annotation is a field."""

    count: ClassVar[int] = 3
    a: int = 1


def test_a_class_variable_is_not_a_field() -> None:
    assert Counted.count == 3
    assert [each.name for each in fields(Counted)] == ["a"]
    assert Counted(2).a == 2


@dataclass(frozen=True, slots=True)
class Longer(Ours):
    d: int = 4


def test_a_subclass_has_the_fields_of_both_classes() -> None:
    assert Longer(1, d=5) == Longer(1, (), [], 5)
    assert Ours(1) == Ours(1, (), [])


def test_a_mutable_default_is_refused() -> None:
    for make in (dataclass, dataclasses.dataclass):
        with pytest.raises(ValueError, match="default_factory"):
            make(type("Shared", (), {"__module__": __name__, "__annotations__": {"a": "list"}, "a": []}))


_EVERY_CLASS = """
import dataclasses, importlib, inspect, pkgutil, sys
from plait.core import fast_dataclass
if "standard" in sys.argv:
    fast_dataclass.dataclass = dataclasses.dataclass
import plait
for package in ("core", "agents", "config", "sources", "client"):
    folder = importlib.import_module(f"plait.{package}")
    for module in pkgutil.walk_packages(folder.__path__, f"plait.{package}."):
        found = vars(importlib.import_module(module.name)).values()
        for each in found:
            if isinstance(each, type) and dataclasses.is_dataclass(each) and each.__module__ == module.name:
                parameters = [(one.name, one.type, type(one.default), one.init, one.compare) for one in dataclasses.fields(each)]
                own = sorted(name for name in vars(each) if not name.startswith("__get")
                             and name not in {"__replace__", "__signature__"})
                takes = [(one.name, one.kind) for one in inspect.signature(each).parameters.values()]
                print(each.__module__, each.__qualname__, parameters, each.__match_args__, each.__dataclass_params__, own,
                      takes, getattr(each, "__slots__", None), each.__hash__ is None)
"""


def test_every_class_of_plait_is_as_the_standard_library_would_make_it() -> None:
    ours, theirs = (
        subprocess.run(
            [sys.executable, "-c", _EVERY_CLASS, which], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for which in ("ours", "standard")
    )
    assert len(ours) > 200
    assert ours == theirs
