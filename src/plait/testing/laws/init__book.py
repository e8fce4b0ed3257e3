"""The book: the checker's own fold of the records. It knows facts, not rules; the laws read it before each record."""

from plait.testing.laws.facts__book import Facts

__all__ = ["Facts"]
