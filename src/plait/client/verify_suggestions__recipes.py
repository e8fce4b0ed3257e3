"""Which targets a Makefile or a justfile has: those that would do something when they are asked for."""

from __future__ import annotations

import re

_CONTINUED = re.compile(r"\\\r?\n")
_PREFIX = re.compile(r"\.RECIPEPREFIX\s*(?:::?:?|\?)?=\s*(\S?)")
_RULE = re.compile(r"(?P<targets>[^:=#]+):{1,2}(?![:=])(?P<rest>.*)")
_VARIABLE = re.compile(r"\s*(?:(?:export|unexport|override|private)\s+)*[^\s:#=?+!]+\s*(?:::?:?|[?+!])?=")
_DEFINE = re.compile(r" *(?:(?:export|override|private) +)*define\b")
_ENDEF = re.compile(r" *endef\b")

_VALUE = r"""'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\([^()]*\)|[\w./-]+"""
_PARAMETER = re.compile(rf"\s+(?P<many>[*+]?)\$?[A-Za-z_][\w-]*(?P<value>\s*=\s*(?:{_VALUE}))?")
_HEAD_END = re.compile(r"\s*:(?!=)(?P<rest>[^#]*)")


def has_make_target(text: str, target: str) -> bool:
    """Whether a rule for it has a recipe or names what it needs; that it is `.PHONY` makes no rule."""
    prefix, mine, defining = "\t", False, False
    for line in _CONTINUED.sub(" ", text).split("\n"):
        if defining or _DEFINE.match(line):
            defining = not _ENDEF.match(line)
        elif line.startswith(prefix):
            if mine and line.strip():
                return True
        elif found := _PREFIX.match(line):
            prefix = found[1] or "\t"
        elif rule := _RULE.match(line):
            if _VARIABLE.match(rule["rest"]):  # a variable for this target alone
                continue
            mine = _lists_target(rule["targets"], target)
            if mine and rule["rest"].partition("#")[0].strip():
                return True
    return False


def _lists_target(targets: str, target: str) -> bool:
    """A colon inside of a function's call ends no list of targets; `&` before it says that one recipe makes them all."""
    whole = targets.count("(") == targets.count(")")
    return whole and target in targets.rstrip().removesuffix("&").split()


def has_just_recipe(text: str, recipe: str) -> bool:
    """Whether it can be run without arguments and has a body or dependencies; an alias is as good."""
    name = re.escape(recipe)
    alias, own = re.compile(rf"alias\s+{name}\s*:="), re.compile(rf"@?{name}(?![\w-])")
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if alias.match(line):
            return True
        head = own.match(line)
        rest = _read_dependencies(line, head.end()) if head else None
        if rest is not None:
            below = next(filter(str.strip, lines[number + 1 :]), "")
            return bool(rest.strip()) or below[:1] in {" ", "\t"}
    return False


def _read_dependencies(line: str, place: int) -> str | None:
    """The dependencies of a recipe; None if it is no recipe, or one that can't go without an argument."""
    while found := _PARAMETER.match(line, place):
        if found["many"] != "*" and not found["value"]:
            return None
        place = found.end()
    end = _HEAD_END.match(line, place)
    return end["rest"] if end else None
