"""Files that are made anew by a command instead of being merged line by line: lock files, for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.adapters.integrator import trees
from plait.adapters.integrator.private import REGENERATE
from plait.adapters.integrator.threeway import Blend
from plait.core.frozen import dataclass
from plait.kit import Blending
from plait.site.git import Git

# A commit to check out, the command to run there, and the files it makes: what they hold afterwards.
Regenerate = Callable[[str, str, tuple[str, ...]], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class Anew:
    """A merged tree in which `files`, by the command that makes them, are still as the branch had them."""

    tree: str
    files: Mapping[str, tuple[str, ...]]
    clashes: tuple[str, ...]


def set_aside(git: Git, blend: Blend, blending: Blending, onto: str) -> Anew:
    """Take the branch's version of each file that is made anew; `clashes` are the conflicts that are left."""
    rules = _rules(git, blend.both, blending)
    clashes = tuple(path for path in blend.files if path not in rules)
    tree = trees.put(git, blend.tree, {path: trees.entry(git, f"{onto}^{{tree}}", path) for path in rules})
    commands = dict.fromkeys(rules.values())
    files = {command: tuple(sorted(path for path in rules if rules[path] == command)) for command in commands}
    return Anew(tree, files, clashes)


def _rules(git: Git, paths: tuple[str, ...], blending: Blending) -> dict[str, str]:
    if not paths or not blending.regenerate:
        return {}
    feed = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    told = git.run("check-attr", "-z", "--stdin", REGENERATE, feed=feed).words
    numbers = {path: value for path, value in zip(told[::3], told[2::3], strict=True) if value.isdigit()}
    return {
        path: blending.regenerate[int(value)][1]
        for path, value in numbers.items()
        if int(value) < len(blending.regenerate)
    }
