"""The table of tools, in the order in which an agent meets them. What each says is read by an agent that knows nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from plait.server.mcp import looking, reading, sources, steering
from plait.server.mcp.told import (
    AnswersTold,
    DiffTold,
    ExplainTold,
    HistoryTold,
    LogsTold,
    RunTold,
    ShipTold,
    StatusTold,
    WaitTold,
)
from plait.server.mcp.told_sources import ListTold, PlanTold, SettingsTold
from plait.server.mcp.tool import Tool, tool
from plait.server.mcp.waiting import wait
from plait.server.mcp.wanted import (
    ApproveWanted,
    DiffWanted,
    DropWanted,
    FeedbackWanted,
    HistoryWanted,
    ListWanted,
    LogsWanted,
    OfBatch,
    OfTask,
    PlanWanted,
    RetryWanted,
    RunWanted,
    SettingsWanted,
    ShipWanted,
    SomeTasks,
    StatusWanted,
    WaitWanted,
)

_LOOKING = (
    tool(
        "list",
        "The tasks of this repository's sources: id, title, how far each is, and where it is written.",
        ListWanted,
        ListTold,
        sources.list_tasks,
        reads=True,
    ),
    tool(
        "plan",
        "What a batch of these tasks would be: needs, waves, files that keep tasks apart, and problems. Starts nothing.",
        PlanWanted,
        PlanTold,
        looking.plan,
        reads=True,
        fresh=True,
    ),
    tool(
        "status",
        "One batch: where it and its tasks stand, and why. A task is queued, waiting, running, verifying or merging, or it "
        "has ended: done, failed, timed_out, blocked, skipped, conflicted, cancelled; interrupted ones wait for resume.",
        StatusWanted,
        StatusTold,
        looking.status,
        reads=True,
    ),
    tool(
        "history", "All batches, the newest first.", HistoryWanted, HistoryTold, looking.history, reads=True
    ),
    tool(
        "wait",
        "Wait until a batch is over, needs a person, or (until: change) anything moved. Use it instead of asking status "
        "again and again; `time` means that nothing of it was so yet.",
        WaitWanted,
        WaitTold,
        wait,
        reads=True,
    ),
    tool(
        "explain",
        "Why a task is where it is: its needs, its attempts and how each ended, and what would get it further.",
        OfTask,
        ExplainTold,
        looking.explain,
        reads=True,
    ),
    tool(
        "logs",
        "What an attempt of a task printed: its last lines, or from an offset on.",
        LogsWanted,
        LogsTold,
        reading.logs,
        reads=True,
    ),
    tool(
        "diff",
        "What a task changed, also while it is at it, or what the whole batch changed.",
        DiffWanted,
        DiffTold,
        reading.diff,
        reads=True,
    ),
    tool(
        "settings",
        "The settings in force, by the names that plan and run take, and who gave each.",
        SettingsWanted,
        SettingsTold,
        sources.settings,
        reads=True,
    ),
)

_STEERING = (
    tool(
        "run",
        "Start a batch of tasks. It returns as soon as the batch is accepted; the batch goes on by itself. It costs what "
        "the agents cost. Refused while another open batch has one of the tasks.",
        RunWanted,
        RunTold,
        steering.run,
        far=True,
        fresh=True,
    ),
    tool(
        "cancel",
        "End what runs and give it up: the named tasks, or without names the whole batch.",
        SomeTasks,
        AnswersTold,
        steering.cancel,
        undoes=True,
        again=True,
    ),
    tool(
        "pause",
        "Start nothing new in a batch; what runs goes on.",
        OfBatch,
        AnswersTold,
        steering.pause,
        again=True,
    ),
    tool("unpause", "Let a paused batch go on.", OfBatch, AnswersTold, steering.unpause, again=True),
    tool(
        "resume",
        "Take up the interrupted tasks of a batch; what is done stays done.",
        OfBatch,
        AnswersTold,
        steering.resume,
        again=True,
    ),
    tool(
        "approve",
        "Let the next task of a queue start, or the named ones. It is a person's word: ask before you give it.",
        ApproveWanted,
        AnswersTold,
        steering.approve,
    ),
    tool(
        "retry",
        "Take up tasks that have ended without being done, and with them what they held back.",
        RetryWanted,
        AnswersTold,
        steering.retry,
        far=True,
    ),
    tool(
        "feedback",
        "Give a task a new attempt with these words, or answer its question. An answer to a question about money pays.",
        FeedbackWanted,
        AnswersTold,
        steering.feedback,
        far=True,
    ),
    tool(
        "drop",
        "Go on without these tasks; what they merged is taken out of the batch branch.",
        DropWanted,
        AnswersTold,
        steering.drop,
        undoes=True,
        again=True,
    ),
    tool(
        "pull_request",
        "Push the batch branch and open a pull request, or bring the one that is open up to date. Others will see it. It "
        "returns when that is done, or under way for 45 seconds.",
        ShipWanted,
        ShipTold,
        steering.pull_request,
        again=True,
        far=True,
    ),
)

TOOLS: tuple[Tool, ...] = (*_LOOKING, *_STEERING)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
