"""Fitting out: what a workspace is given beyond its commit, by the attempt's own process, before the agent.

The engine asks whether anything is `wanted`, writes a spec and `wrap`s the attempt's command. The process copies, links and
sets up what is still missing, and then becomes the agent: `python -m plait.site.outfitting SPEC -- COMMAND…`.
"""

from plait.site.outfitting.cache import prune_cache
from plait.site.outfitting.disk import tree_size
from plait.site.outfitting.fitting import wanted
from plait.site.outfitting.spec import EXIT, Spec, failure, wrap, write_spec
from plait.site.outfitting.stamp import Stamp, read_stamp, relet

__all__ = [
    "EXIT",
    "Spec",
    "Stamp",
    "failure",
    "prune_cache",
    "read_stamp",
    "relet",
    "tree_size",
    "wanted",
    "wrap",
    "write_spec",
]
