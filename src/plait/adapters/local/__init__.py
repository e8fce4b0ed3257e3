"""The executor of this machine: attempts as processes of their own, which outlive the engine."""

from plait.adapters.local.ending import GracePeriods
from plait.adapters.local.executor import LocalExecutor

__all__ = ["GracePeriods", "LocalExecutor"]
