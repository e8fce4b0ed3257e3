"""The settings of workspaces, of merging and of pull requests."""

from __future__ import annotations

from plait.config import kinds
from plait.config.choices import ForgeKind, WhenDone
from plait.config.key import AnyKey, Key

WORKSPACE_KEYS: tuple[AnyKey, ...] = (
    Key(
        "workspace.location",
        kinds.optional_text("a folder"),
        None,
        "the folder that worktrees are made in; none: plait/worktrees in the user's cache folder",
    ),
    Key(
        "workspace.copy",
        kinds.text_list("a pattern or a list of patterns"),
        (),
        "ignored files of the checkout that each worktree gets a copy of, beside those that .worktreeinclude names",
    ),
    Key(
        "workspace.link",
        kinds.text_list("a path or a list of paths"),
        (),
        "files and folders of the checkout that each worktree gets a link to",
    ),
    Key(
        "workspace.setup",
        kinds.optional_text("a command"),
        None,
        "the command that is run once in a new worktree, before the agent",
        runs_code=bool,
    ),
    Key(
        "workspace.setup_reads",
        kinds.text_list("a pattern or a list of patterns"),
        (),
        "the files that the result of setup depends on: while they are the same, it is used again",
    ),
    Key(
        "workspace.setup_makes",
        kinds.text_list("a path or a list of paths"),
        (),
        "what setup makes, such as node_modules or .venv: kept for the next worktree",
    ),
    Key(
        "workspace.sparse",
        kinds.text_list("a folder or a list of folders"),
        (),
        "the folders that are checked out in worktrees; none: all",
    ),
    Key(
        "workspace.keep",
        kinds.whole_number(),
        4,
        "worktrees that are kept for the next tasks once their own have ended",
    ),
    Key(
        "workspace.disk_cap",
        kinds.size(),
        100 * 2**30,
        "the most disk that worktrees of this repository may take: above it, no task starts in a new one",
    ),
    Key(
        "workspace.largest_file",
        kinds.size(least=0),
        100 * 2**20,
        "the largest file that a result may hold, since most hosts refuse a push with a larger one; 0: any size",
    ),
    Key(
        "workspace.hooks",
        kinds.boolean(),
        default=False,
        about="run the repository's commit hooks when an attempt's result is committed",
        runs_code=bool,
    ),
)

MERGE_KEYS: tuple[AnyKey, ...] = (
    Key(
        "merge.union",
        kinds.text_list("a pattern or a list of patterns"),
        (),
        "files of which a merge keeps the lines of both sides, such as CHANGELOG.md",
    ),
    Key(
        "merge.regenerate",
        kinds.command_table("patterns"),
        (),
        "files that are made anew by a command where two tasks changed them, such as lock files",
        runs_code=bool,
    ),
)

PR_KEYS: tuple[AnyKey, ...] = (
    Key(
        "pr.when_done",
        kinds.choice(WhenDone),
        WhenDone.ASK,
        "what is done with the batch branch at the end: ask on a terminal (elsewhere nothing), nothing (off), push it, "
        "or push it and open a pull request (draft: as a draft)",
        flag="--pr",
    ),
    Key(
        "pr.remote",
        kinds.required_text("a remote's name"),
        "origin",
        "the remote that batch branches are pushed to",
    ),
    Key(
        "pr.target",
        kinds.optional_text("a branch"),
        None,
        "the branch that a pull request is for; none: the remote's default one",
    ),
    Key(
        "pr.title",
        kinds.optional_text("a title"),
        None,
        "the title of a pull request; none: made from its tasks",
    ),
    Key(
        "pr.forge",
        kinds.choice(ForgeKind),
        ForgeKind.AUTO,
        "what the remote's host speaks; auto: told by its name",
    ),
)
