"""The table of tools, in the order in which an agent meets them. What each says is read by an agent that knows nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from plait.server.mcp import action_tools, read_tools
from plait.server.mcp.params import (
    ApproveParams,
    BatchParams,
    CancelParams,
    DiffParams,
    DropParams,
    FeedbackParams,
    HistoryParams,
    ListParams,
    LogsParams,
    PlanParams,
    PublishParams,
    RetryParams,
    RunParams,
    SettingsParams,
    StatusParams,
    TaskParams,
    WaitParams,
)
from plait.server.mcp.read_tools import wait
from plait.server.mcp.results import (
    ActionsResult,
    DiffResult,
    ExplainResult,
    HistoryResult,
    ListResult,
    LogsResult,
    PlanPreviewResult,
    PublishResult,
    RunResult,
    SettingsResult,
    StatusResult,
    WaitResult,
)
from plait.server.mcp.tool import Tool, define_tool

_READ_TOOLS = (
    define_tool(
        "list",
        "The tasks of this repository's sources: id, title, how far each is, and where it is written.",
        ListParams,
        ListResult,
        read_tools.list_tasks,
        read_only=True,
    ),
    define_tool(
        "plan",
        "What a batch of these tasks would be: needs, waves, files that keep tasks apart, and problems. Starts nothing.",
        PlanParams,
        PlanPreviewResult,
        read_tools.plan,
        read_only=True,
        needs_fetch=True,
    ),
    define_tool(
        "status",
        "One batch: where it and its tasks stand, and why. A task is queued, waiting, running, verifying or merging, or it "
        "has ended: done, failed, timed_out, blocked, skipped, conflicted, cancelled; interrupted ones wait for resume.",
        StatusParams,
        StatusResult,
        read_tools.status,
        read_only=True,
    ),
    define_tool(
        "history",
        "All batches, the newest first.",
        HistoryParams,
        HistoryResult,
        read_tools.history,
        read_only=True,
    ),
    define_tool(
        "wait",
        "Wait until a batch is over, needs a person, or (until: change) anything moved. Use it instead of asking status "
        "again and again; `time` means that nothing of it was so yet.",
        WaitParams,
        WaitResult,
        wait,
        read_only=True,
    ),
    define_tool(
        "explain",
        "Why a task is where it is: its needs, its attempts and how each ended, and what would get it further.",
        TaskParams,
        ExplainResult,
        read_tools.explain,
        read_only=True,
    ),
    define_tool(
        "logs",
        "What an attempt of a task printed: its last lines, or from an offset on.",
        LogsParams,
        LogsResult,
        read_tools.logs,
        read_only=True,
    ),
    define_tool(
        "diff",
        "What a task changed, also while it is at it, or what the whole batch changed.",
        DiffParams,
        DiffResult,
        read_tools.diff,
        read_only=True,
    ),
    define_tool(
        "settings",
        "The settings in force, by the names that plan and run take, and who gave each.",
        SettingsParams,
        SettingsResult,
        read_tools.settings,
        read_only=True,
    ),
)

_ACTION_TOOLS = (
    define_tool(
        "run",
        "Start a batch of tasks. It returns as soon as the batch is accepted; the batch goes on by itself. It costs what "
        "the agents cost. Refused while another open batch has one of the tasks.",
        RunParams,
        RunResult,
        action_tools.run,
        open_world=True,
        needs_fetch=True,
    ),
    define_tool(
        "cancel",
        "End what runs and give it up: the named tasks, or without names the whole batch.",
        CancelParams,
        ActionsResult,
        action_tools.cancel,
        destructive=True,
        idempotent=True,
    ),
    define_tool(
        "pause",
        "Start nothing new in a batch; what runs goes on.",
        BatchParams,
        ActionsResult,
        action_tools.pause,
        idempotent=True,
    ),
    define_tool(
        "unpause",
        "Let a paused batch go on.",
        BatchParams,
        ActionsResult,
        action_tools.unpause,
        idempotent=True,
    ),
    define_tool(
        "resume",
        "Take up the interrupted tasks of a batch; what is done stays done.",
        BatchParams,
        ActionsResult,
        action_tools.resume,
        idempotent=True,
    ),
    define_tool(
        "approve",
        "Let the next task of a queue start, or the named ones. It is a person's word: ask before you give it.",
        ApproveParams,
        ActionsResult,
        action_tools.approve,
    ),
    define_tool(
        "retry",
        "Take up tasks that have ended without being done, and with them what they held back.",
        RetryParams,
        ActionsResult,
        action_tools.retry,
        open_world=True,
    ),
    define_tool(
        "feedback",
        "Give a task a new attempt with these words, or answer its question. An answer to a question about money pays.",
        FeedbackParams,
        ActionsResult,
        action_tools.feedback,
        open_world=True,
    ),
    define_tool(
        "drop",
        "Go on without these tasks; what they merged is taken out of the batch branch.",
        DropParams,
        ActionsResult,
        action_tools.drop,
        destructive=True,
        idempotent=True,
    ),
    define_tool(
        "pull_request",
        "Push the batch branch and open a pull request, or bring the one that is open up to date. Others will see it. It "
        "returns when that is done, or under way for 45 seconds.",
        PublishParams,
        PublishResult,
        action_tools.pull_request,
        idempotent=True,
        open_world=True,
    ),
)

TOOLS: tuple[Tool, ...] = (*_READ_TOOLS, *_ACTION_TOOLS)
TOOLS_BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
