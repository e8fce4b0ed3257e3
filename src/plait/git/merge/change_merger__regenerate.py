"""Files that are made anew by a command instead of being merged line by line: lock files, for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.merge import objects
from plait.git.merge.private_gitdir import REGENERATE_ATTRIBUTE
from plait.git.merge.three_way import MergeResult
from plait.store.batch_inputs import MergeRules

# A commit to check out, the command to run there, and the files it makes: what they hold afterwards.
Regenerate = Callable[[str, str, tuple[str, ...]], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """A merged tree in which `files`, by the command that makes them, are still as the branch had them."""

    tree: str
    files: Mapping[str, tuple[str, ...]]
    conflicts: tuple[str, ...]


def plan_regeneration(git: Git, blend: MergeResult, blending: MergeRules, onto: str) -> RegenerationPlan:
    """Take the branch's version of each file that is made anew; `clashes` are the conflicts that are left."""
    rules = _match_rules(git, blend.changed_on_both, blending)
    clashes = tuple(path for path in blend.files if path not in rules)
    tree = objects.update_entries(
        git, blend.tree, {path: objects.find_entry(git, f"{onto}^{{tree}}", path) for path in rules}
    )
    commands = dict.fromkeys(rules.values())
    files = {command: tuple(sorted(path for path in rules if rules[path] == command)) for command in commands}
    return RegenerationPlan(tree, files, clashes)


def _match_rules(git: Git, paths: tuple[str, ...], blending: MergeRules) -> dict[str, str]:
    if not paths or not blending.regenerate:
        return {}
    feed = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    told = git.run("check-attr", "-z", "--stdin", REGENERATE_ATTRIBUTE, stdin=feed).fields
    numbers = {path: value for path, value in zip(told[::3], told[2::3], strict=True) if value.isdigit()}
    return {
        path: blending.regenerate[int(value)][1]
        for path, value in numbers.items()
        if int(value) < len(blending.regenerate)
    }
