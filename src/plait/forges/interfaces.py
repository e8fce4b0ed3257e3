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
    """A pull request as it should be: one for the branch, made or brought up to date.

    `renamed`: the title is to be this one also where somebody gave it another one there.
    """

    branch: str
    target: str
    title: str
    body: str
    draft: bool = False
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class PullRequestResult:
    """`url` of the pull request; `made` is False if there was one already. `note` is what differs from what was wanted."""

    url: str
    created: bool = True
    note: str = ""


class ForgeError(WorldError):
    """The forge said no, or nobody can be asked; the hint holds the link and the command to do it by hand."""


class Forge(Protocol):
    """The place where pull requests are: GitHub, GitLab, Gitea."""

    def publish_pull_request(self, wanted: PullRequestSpec) -> PullRequestResult: ...

    def default_branch(self) -> str:
        """The remote's default branch."""


class Publisher(Protocol):
    """Brings a batch branch to its remote. Called from a thread; what was done before is found, and not done twice."""

    def publish(
        self, order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        """`environment` is whose tokens and credentials count."""
