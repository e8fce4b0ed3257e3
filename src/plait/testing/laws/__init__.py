"""The law checker: it folds the records by itself, so that it shares no mistake with the code it checks."""

from plait.testing.laws.auditor import Auditor
from plait.testing.laws.violation import Violation

__all__ = ["Auditor", "Violation"]
