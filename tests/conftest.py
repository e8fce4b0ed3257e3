from __future__ import annotations

from hypothesis import settings

# How long an example takes depends on the machine; what it comes to does not.
settings.register_profile("plait", deadline=None)
settings.load_profile("plait")
