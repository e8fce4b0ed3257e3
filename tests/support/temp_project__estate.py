"""An estate: a yard whose tasks have worktrees, with a remote, and eyes on everything that is the person's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.temp_project import TempProject, temp_project


@dataclass
class WorktreeProject(TempProject):
    """`remote` is bare, and origin. Nothing is committed before `begin`."""

    remote: Path = Path()

    def git(self, *words: str) -> str:
        return self.git_in(self.top, *words)

    def commit_all(self) -> str:
        """All that was written so far is the first commit, and the remote has it. Its id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "begin")
        self.git("push", "--quiet", "origin", "HEAD:main")
        return self.git("rev-parse", "HEAD")

    @property
    def branch(self) -> str:
        return self.batch().branch

    def read_merged_files(self) -> dict[str, str]:
        """What the batch branch holds beside the tasks, by path."""
        names = self.git("ls-tree", "-r", "--name-only", self.branch).splitlines()
        return {
            name: self.git("show", f"{self.branch}:{name}") for name in names if not name.startswith("tasks/")
        }

    def snapshot_user_files(self) -> dict[str, object]:
        """Everything that is the person's: files, index, HEAD, branches, stash, settings."""
        git = self.top / ".git"
        files = (path for path in self.top.rglob("*") if git not in path.parents and path != git)
        mine = {
            str(path.relative_to(self.top)): (path.lstat().st_mode, path.read_bytes())
            for path in files
            if path.is_file()
        }
        inside = {name: (git / name).read_bytes() for name in ("index", "HEAD", "config")}
        hooks = sorted(path.name for path in (git / "hooks").iterdir())
        refs = [line for line in self.git("for-each-ref").splitlines() if "/plait/" not in line]
        return {**mine, **inside, "hooks": hooks, "refs": refs, "stash": self.git("stash", "list")}

    def find_leftovers(self) -> list[str]:
        """Worktrees in use, temporary things and locks of git's: nothing, once all is over."""
        git = self.top / ".git"
        home = Path(self.env["XDG_CACHE_HOME"]) / "plait" / "worktrees"
        used = [str(path) for path in home.glob("*/batch-*/*")]
        half = [str(path) for path in (*home.glob("*/making/*"), *home.glob("*/trash/*"))]
        locks = [str(path) for path in git.rglob("*.lock") if git / "plait" not in path.parents]
        return [*used, *half, *locks]


@contextmanager
def worktree_project(folder: Path) -> Iterator[WorktreeProject]:
    with temp_project(folder) as plain:
        remote = folder / "remote.git"
        env = {
            **plain.env,
            "PLAIT_ISOLATION": "worktree",
            "GIT_CONFIG_GLOBAL": str(folder / "home" / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        made = WorktreeProject(plain.top, env, plain.cli_processes, plain.terminals, remote)
        (folder / "home" / "gitconfig").write_text(
            "[user]\n\tname = Somebody\n\temail = somebody@example.org\n"
        )
        made.git("init", "--quiet", "--bare", "--initial-branch=main", str(remote))
        made.git("remote", "add", "origin", str(remote))
        yield made
