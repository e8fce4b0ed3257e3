"""Whether a makefile or a justfile has a rule of some name, found only by reading it."""

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
    """Whether a rule for the target has a recipe or names what it needs; declaring it `.PHONY` makes no rule."""
    prefix, in_target, defining = "\t", False, False
    for line in _CONTINUED.sub(" ", text).split("\n"):
        if defining or _DEFINE.match(line):
            defining = not _ENDEF.match(line)
        elif line.startswith(prefix):
            if in_target and line.strip():
                return True
        elif new_prefix := _PREFIX.match(line):
            prefix = new_prefix[1] or "\t"
        elif rule := _RULE.match(line):
            if _VARIABLE.match(rule["rest"]):  # a variable for this target alone
                continue
            in_target = _lists_target(rule["targets"], target)
            if in_target and rule["rest"].partition("#")[0].strip():
                return True
    return False


def _lists_target(targets: str, target: str) -> bool:
    """Whether targets include this one. A colon in a function call doesn't end them; `&` before it groups them."""
    is_balanced = targets.count("(") == targets.count(")")
    return is_balanced and target in targets.rstrip().removesuffix("&").split()


def has_just_recipe(text: str, recipe: str) -> bool:
    """Whether the recipe can be run without arguments and has a body or dependencies; an alias counts too."""
    name = re.escape(recipe)
    alias, head_pattern = re.compile(rf"alias\s+{name}\s*:="), re.compile(rf"@?{name}(?![\w-])")
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if alias.match(line):
            return True
        head = head_pattern.match(line)
        rest = _read_dependencies(line, head.end()) if head else None
        if rest is not None:
            below = next(filter(str.strip, lines[number + 1 :]), "")
            return bool(rest.strip()) or below[:1] in {" ", "\t"}
    return False


def _read_dependencies(line: str, start: int) -> str | None:
    """Return the dependencies of a recipe; None if the line is not one, or it needs an argument."""
    while parameter := _PARAMETER.match(line, start):
        if parameter["many"] != "*" and not parameter["value"]:
            return None
        start = parameter.end()
    end = _HEAD_END.match(line, start)
    return end["rest"] if end else None
