"""The settings of workspaces, of merging and of pull requests."""

from __future__ import annotations

from plait.config import value_types
from plait.config.key import AnyKey, ForgeKind, Key, WhenDone

WORKSPACE_KEYS: tuple[AnyKey, ...] = (
    Key(
        "workspace.location",
        value_types.optional_text("a folder"),
        None,
        "the folder that worktrees are made in; none: plait/worktrees in the user's cache folder",
    ),
    Key(
        "workspace.copy",
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "ignored files of the checkout that each worktree gets a copy of, beside those that .worktreeinclude names",
    ),
    Key(
        "workspace.link",
        value_types.text_list("a path or a list of paths"),
        (),
        "files and folders of the checkout that each worktree gets a link to",
    ),
    Key(
        "workspace.setup",
        value_types.optional_text("a command"),
        None,
        "the command that is run once in a new worktree, before the agent",
        runs_code=bool,
    ),
    Key(
        "workspace.setup_reads",
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "the files that the result of setup depends on: while they are the same, it is used again",
    ),
    Key(
        "workspace.setup_makes",
        value_types.text_list("a path or a list of paths"),
        (),
        "what setup makes, such as node_modules or .venv: kept for the next worktree",
    ),
    Key(
        "workspace.sparse",
        value_types.text_list("a folder or a list of folders"),
        (),
        "the folders that are checked out in worktrees; none: all",
    ),
    Key(
        "workspace.keep",
        value_types.whole_number(),
        4,
        "worktrees that are kept for the next tasks once their own have ended",
    ),
    Key(
        "workspace.disk_cap",
        value_types.size(),
        100 * 2**30,
        "the most disk that worktrees of this repository may take: above it, no task starts in a new one",
    ),
    Key(
        "workspace.largest_file",
        value_types.size(least=0),
        100 * 2**20,
        "the largest file that a result may hold, since most hosts refuse a push with a larger one; 0: any size",
    ),
    Key(
        "workspace.hooks",
        value_types.boolean(),
        default=False,
        about="run the repository's commit hooks when an attempt's result is committed",
        runs_code=bool,
    ),
)

MERGE_KEYS: tuple[AnyKey, ...] = (
    Key(
        "merge.union",
        value_types.text_list("a pattern or a list of patterns"),
        (),
        "files of which a merge keeps the lines of both sides, such as CHANGELOG.md",
    ),
    Key(
        "merge.regenerate",
        value_types.command_table("patterns"),
        (),
        "files that are made anew by a command where two tasks changed them, such as lock files",
        runs_code=bool,
    ),
)

PR_KEYS: tuple[AnyKey, ...] = (
    Key(
        "pr.when_done",
        value_types.choice(WhenDone),
        WhenDone.ASK,
        "what is done with the batch branch at the end: ask on a terminal (elsewhere nothing), nothing (off), push it, "
        "or push it and open a pull request (draft: as a draft)",
        flag="--pr",
    ),
    Key(
        "pr.remote",
        value_types.required_text("a remote's name"),
        "origin",
        "the remote that batch branches are pushed to",
    ),
    Key(
        "pr.target",
        value_types.optional_text("a branch"),
        None,
        "the branch that a pull request is for; none: the remote's default one",
    ),
    Key(
        "pr.title",
        value_types.optional_text("a title"),
        None,
        "the title of a pull request; none: made from its tasks",
    ),
    Key(
        "pr.forge",
        value_types.choice(ForgeKind),
        ForgeKind.AUTO,
        "what the remote's host speaks; auto: told by its name",
    ),
)
