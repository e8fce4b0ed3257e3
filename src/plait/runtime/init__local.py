"""The executor of this machine: attempts as processes of their own, which outlive the engine."""

from plait.runtime.local_executor import LocalExecutor
from plait.runtime.termination import GracePeriods

__all__ = ["GracePeriods", "LocalExecutor"]
