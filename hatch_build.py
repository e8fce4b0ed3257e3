"""The page is a part of what is shipped, and is not kept in git: where it is missing when that is put together, it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT = "PLAIT_NO_PAGE"
STEPS = (("ci", "--no-audit", "--no-fund"), ("run", "build"))


class PageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own, of whatever settings
    """For wheels and source archives; who installs it to work on it builds the page by `make page`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own
        top = Path(self.root)
        built = (top / "src" / "plait" / "ui" / "index.html").is_file()
        if version == "editable" or built or os.environ.get(WITHOUT):
            return
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit(
                "plait: the page is not built, and there is no npm to build it with.\n"
                f"  Install Node 20 with npm; or set {WITHOUT}=1 for a plait without its page."
            )
        for words in STEPS:
            done = subprocess.run([npm, *words], cwd=top / "ui", check=False)
            if done.returncode:
                raise SystemExit(f"plait: the page could not be built: npm {' '.join(words)} failed in ui/.")
