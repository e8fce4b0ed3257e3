"""Failure: why a job is not done, by the category that plait goes by."""

from __future__ import annotations

from plait.core.status import Category


class JobError(Exception):
    """`status` is the server's, `after` how many seconds it asks to be left alone."""

    def __init__(
        self,
        message: str,
        category: Category = Category.TASK,
        *,
        status: int | None = None,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.category = category
        self.status = status
        self.after = after
