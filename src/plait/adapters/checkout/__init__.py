"""The checkout: where the repository is, which files it has, and which of them are sources."""

from plait.adapters.checkout.find import discover
from plait.adapters.checkout.load import Found, load
from plait.adapters.checkout.place import Place, files, find_place

__all__ = ["Found", "Place", "discover", "files", "find_place", "load"]
