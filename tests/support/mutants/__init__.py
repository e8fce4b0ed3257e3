"""Deliberate defects in the core, each of which the simulator must catch. `make mutants` fails when one survives.

Nothing here may import `plait.core` at the top: a defect is grafted onto a module before it is first imported.
"""
