"""A checkout whose task files are created and edited as the front ends do it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plait.client.json_encoding import to_json
from plait.client.project_sources import LoadedSources, read_sources
from plait.client.task_editor import SavedTask, create_task_file, edit_task_file, hash_version
from plait.client.task_file_text import TaskDraft
from plait.client.task_listing import describe_source_task, describe_source_tasks
from plait.config.loading import load_config
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.sources.text import decode


@dataclass(slots=True)
class Checkout:
    place: RepoLocation

    @classmethod
    def at(cls, top: Path) -> Checkout:
        real = top.resolve()
        return cls(RepoLocation(real, real / ".plait", repository=False))

    @property
    def top(self) -> Path:
        return self.place.top

    def write(self, file: str, text: str | bytes) -> Path:
        path = self.top / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def text(self, file: str) -> str:
        return (self.top / file).read_bytes().decode()

    @property
    def files(self) -> list[str]:
        """All files but plait's own."""
        found = (path.relative_to(self.top).as_posix() for path in self.top.rglob("*") if not path.is_dir())
        return sorted(name for name in found if not name.startswith((".plait/", "plait.toml")))

    def read_sources(self) -> LoadedSources:
        return read_sources(self.place, load_config(self.top))

    def create(self, title: str | None = None, **said: object) -> SavedTask:
        draft = TaskDraft(title, **said)  # type: ignore[arg-type]  # a test's own words
        return create_task_file(self.place, load_config(self.top), draft)

    def edit(self, name: str, version: str | None = None, **said: object) -> SavedTask:
        """Edit a task; by default the version is that of the file as it is now."""
        if version is None:
            version = str(describe_source_task(self.read_sources(), name, None).version)
        draft = TaskDraft(**said)  # type: ignore[arg-type]  # a test's own words
        return edit_task_file(self.place, load_config(self.top), name, draft, version=version)

    def version(self, file: str) -> str:
        return hash_version(decode((self.top / file).read_bytes()))

    def tasks(self, state: State | None = None) -> list[dict[str, object]]:
        return [to_json(task) for task in describe_source_tasks(self.read_sources(), state).tasks]

    def task(self, name: str, state: State | None = None) -> dict[str, object]:
        return to_json(describe_source_task(self.read_sources(), name, state))
