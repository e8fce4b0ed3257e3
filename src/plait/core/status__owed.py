"""What a task is owed next. It follows from the task's own facts and its batch's line alone."""

from __future__ import annotations

from enum import IntEnum


class NextAction(IntEnum):
    NONE = 0  # it waits for the world, for a person, or for other tasks
    END_ATTEMPT = 1  # a running attempt must be asked to end
    END_TASK = 2  # it is over, for a reason outside its attempts
    DECIDE_OUTCOME = 3  # an exit, a conflict or a failed merge awaits judgement
    START = 4  # the write step; it stands in `Ready`
    VERIFY = 5
    MERGE = 6
    FINISH = 7  # merged, and gated where there is a gate
