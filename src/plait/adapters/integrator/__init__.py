"""The merge line in memory: batch branches are made and remade without a checkout."""

from plait.adapters.integrator.integrator import GitIntegrator
from plait.adapters.integrator.regenerate import Regenerate

__all__ = ["GitIntegrator", "Regenerate"]
