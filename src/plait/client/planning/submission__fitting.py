"""The engine's limit follows the batches: where nobody has set one, whoever says `-p 8` gets eight."""

from __future__ import annotations

from collections.abc import Iterable

from plait.client.session__asking import new_request_id
from plait.config.config import Config, Layer
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import EngineSettings
from plait.core.state import State

_LIMIT_FIELD = "parallel_limit"


def make_limit_request(
    config: Config, state: State, wanted: int, *, batch: str = ""
) -> ChangeEngineSettings | None:
    """What to ask for before a batch runs that wants `own` at once; None: it is so, or somebody has set it.

    No open batch gets less than it wants, and after the last that wanted more it is as before. `batch` is the one that
    is about to change.
    """
    if config.origins[f"engine.{_LIMIT_FIELD}"].layer is not Layer.DEFAULT:
        return None
    others = (each.settings.max_parallel for name, each in state.open.items() if name != batch)
    limit = derive_parallel_limit((wanted, *others))
    if limit == state.settings.parallel_limit:
        return None
    return ChangeEngineSettings(new_request_id(), EngineSettings(parallel_limit=limit), (_LIMIT_FIELD,))


def derive_parallel_limit(widths: Iterable[int]) -> int:
    """The limit that nobody has set, where batches want so many at once."""
    wanted = (EngineSettings().parallel_limit, *widths)
    return 0 if 0 in wanted else max(wanted)
