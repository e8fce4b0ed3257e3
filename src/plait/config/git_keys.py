"""The settings of workspaces, of merging and of pull requests."""

from __future__ import annotations

from enum import StrEnum

from plait.config import value_types
from plait.config.key import ConfigTable, Key


class WhenDone(StrEnum):
    """What to do with a finished batch branch."""

    ASK = "ask"
    OFF = "off"
    PUSH = "push"
    PR = "pr"
    DRAFT = "draft"


class ForgeKind(StrEnum):
    AUTO = "auto"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class WorkspaceConfig(ConfigTable, name="workspace", about="The worktrees that tasks work in."):
    location = Key(
        value_types.optional_text("a folder"),
        None,
        "folder for worktrees; empty: plait/worktrees in your cache folder",
        runs_code=bool,  # it decides where plait writes
    )
    copy = Key(
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "ignored files to copy from the checkout to each worktree, besides those in .worktreeinclude",
    )
    link = Key(
        value_types.text_list("a path or a list of paths"),
        (),
        "files and folders of the checkout to link into each worktree",
    )
    setup = Key(
        value_types.optional_text("a command"),
        None,
        "command to run once in a new worktree, before the agent",
        flag="--setup",
        metavar="COMMAND",
        runs_code=bool,
        per_batch=True,
    )
    setup_reads = Key(
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "files that the result of setup depends on; it is reused until they change",
    )
    setup_makes = Key(
        value_types.text_list("a path or a list of paths"),
        (),
        "what setup creates, such as node_modules or .venv; kept for the next worktree",
    )
    sparse = Key(
        value_types.text_list("a folder or a list of folders"), (), "folders to check out in worktrees; empty: all"
    )
    keep = Key(value_types.whole_number(), 4, "worktrees to keep for later tasks")
    disk_cap = Key(
        value_types.size(),
        100 * 2**30,
        "disk limit of this repository's worktrees; above it, no task starts in a new one",
    )
    largest_file = Key(
        value_types.size(least=0),
        100 * 2**20,
        "largest file that a result may contain, since most hosts refuse larger ones; 0: any size",
    )
    hooks = Key(
        value_types.boolean(),
        default=False,
        about="run the repository's commit hooks when committing an attempt's result",
        runs_code=bool,
    )


class MergeConfig(ConfigTable, name="merge", about="How to merge files that several tasks change."):
    union = Key(
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "files of which a merge keeps the lines of both sides, such as CHANGELOG.md",
    )
    regenerate = Key(
        value_types.command_table("patterns"),
        (),
        "files to regenerate by a command if two tasks changed them, such as lock files",
        runs_code=bool,
    )


class PrConfig(ConfigTable, name="pr", about="Pushing batch branches and opening pull requests."):
    when_done = Key(
        value_types.choice(WhenDone),
        WhenDone.ASK,
        "what to do with a finished batch branch: ask on a terminal (elsewhere nothing), nothing (off), push it, or push "
        "it and open a pull request (draft: as a draft)",
        flag="--pr",
        per_batch=True,
    )
    remote = Key(value_types.required_text("a remote's name"), "origin", "remote to push batch branches to")
    target = Key(
        value_types.optional_text("a branch"),
        None,
        "target branch of pull requests; empty: the remote's default branch",
        per_batch=True,
    )
    title = Key(
        value_types.optional_text("a title"),
        None,
        "title of the pull request; empty: made from its tasks",
        per_batch=True,
    )
    forge = Key(
        value_types.choice(ForgeKind), ForgeKind.AUTO, "forge of the remote's host; auto: detected from its name"
    )
