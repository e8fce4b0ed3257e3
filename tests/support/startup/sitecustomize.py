"""Python imports this in every process that tests start.

An engine starts no task while the machine is overloaded. In tests it must not depend on what else the machine does.
"""

from __future__ import annotations

import os

os.getloadavg = lambda: (0.0, 0.0, 0.0)
