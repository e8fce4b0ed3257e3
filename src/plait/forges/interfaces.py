"""What the engine and the front ends know of forges; see forge.py for what one kind of forge implements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from plait.core.decisions import PublishStarted
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import PublishDone, PublishFailed

if TYPE_CHECKING:
    from plait.core.views import BatchView
    from plait.store.batch_inputs import BatchInputs


@dataclass(frozen=True, slots=True)
class PullRequestSpec:
    """The pull request that a branch should have. `renamed`: replace the title even if a person changed it there."""

    branch: str
    target: str
    title: str
    body: str
    draft: bool = False
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class PullRequestResult:
    """`created` is False if the pull request existed already. `note` says what differs from the specification."""

    url: str
    created: bool = True
    note: str = ""


class ForgeError(WorldError):
    """The forge refused or can't be used; the hint says how a person can open the pull request."""


class Publisher(Protocol):
    """Publishes a batch branch. Called from a thread; idempotent."""

    def publish(
        self, order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        """`environment` supplies tokens and credentials."""
