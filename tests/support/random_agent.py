"""An agent that edits a checkout at random: files, folders, modes, links, binaries, renames, attributes.

`python -m tests.support.random_agent SEED` does what the seed, the task and the attempt determine, and signs its work.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.support.git_repository import Content, ExecutableFile, Files, Symlink, write_path

LOG_VARIABLE = "TOLD"  # names the file in which agents log that they begin and end


Ending = Callable[[], None]


def main(seed: str) -> None:
    batch, task, n = (os.environ[f"PLAIT_{name}"] for name in ("BATCH", "TASK_ID", "ATTEMPT"))
    _log("begin", batch, task, n)
    rng = Random(f"{seed} {task} {n}")
    top = Path.cwd()
    make_random_agent(rng)(top)
    write_signature(top, task, n)
    rng.choice(_ENDINGS)()
    _log("end", batch, task, n)


def write_signature(top: Path, task: str, n: str) -> None:
    path = top / signature_path(task, n)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{task} was here, for the {n}. time\n")


def signature_path(task: str, n: int | str) -> str:
    """The file that an attempt leaves in its result."""
    return f"signed/{task}-{n}.txt"


def _log(*words: str) -> None:
    with Path(os.environ[LOG_VARIABLE]).open("a") as told:
        told.write(f"{' '.join(words)}\n")


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, stdout=subprocess.DEVNULL)  # fixed arguments


def _leave_dirty() -> None:
    pass


def _stage() -> None:
    _git("add", "--all", "signed")


def _commit_all() -> None:
    _git("add", "--all")
    _git("commit", "--quiet", "--message", "by the agent")


def _commit_part() -> None:
    _git("add", "--all", "signed")
    _git("commit", "--quiet", "--message", "a part of it")


def _commit_detached() -> None:
    _git("checkout", "--quiet", "--detach")
    _commit_all()


def _commit_on_branch() -> None:
    """Commit on a branch that the agent creates."""
    name = f"{os.environ['PLAIT_TASK_ID']}-{os.environ['PLAIT_ATTEMPT']}"
    _git("checkout", "--quiet", "-b", f"plait/agents-own-{name}")
    _commit_all()


_ENDINGS: Sequence[Ending] = (
    _leave_dirty,
    _leave_dirty,
    _stage,
    _commit_all,
    _commit_part,
    _commit_detached,
    _commit_on_branch,
)


WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


_ATTRIBUTES = ("*.log merge=union\n", "*.txt binary\n", "*.md -text\n*.log merge=absent\n", "*.txt -merge\n")


def make_initial_files(rng: Random) -> Files:
    """The first files of a repository."""
    files: dict[str, Content] = {
        f"{folder}{name}": _random_text(rng)
        for folder in ("", "src/", "src/deep/", "docs/")
        for name in rng.sample(("one.txt", "two.txt", "three.md", "changes.log", "spaced name.txt"), 3)
    }
    files["bin/tool"] = ExecutableFile("#!/bin/sh\necho tool\n")
    files["blob.bin"] = bytes(rng.randrange(256) for _ in range(200)) + b"\0"
    files["latest"] = Symlink("src/one.txt")
    if rng.random() < 0.5:
        files[".gitattributes"] = rng.choice(_ATTRIBUTES)
    return files


def make_random_agent(rng: Random) -> Callable[[Path], None]:
    """A function that makes a few random edits in a checkout."""

    def work(top: Path) -> None:
        for _ in range(rng.randint(1, 4)):
            rng.choice(_EDITS)(rng, top)

    return work


def _random_text(rng: Random) -> str:
    return "".join(f"{rng.choice(WORDS)} {line}\n" for line in range(rng.randint(8, 16)))


def _choose_file(rng: Random, top: Path) -> Path | None:
    return rng.choice(found) if (found := _list_files(top)) else None


def _list_files(top: Path) -> Sequence[Path]:
    names = (path for path in top.rglob("*") if ".git" not in path.parts and path.is_file())
    return sorted(path for path in names if not path.is_symlink())


def _edit(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    if path is not None:
        lines = path.read_bytes().split(b"\n")
        lines[rng.randrange(len(lines))] = rng.choice(WORDS).encode()
        path.write_bytes(b"\n".join(lines))


def _append(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    if path is not None:
        path.write_bytes(path.read_bytes() + f"{rng.choice(WORDS)} more\n".encode())


def _remove(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    if path is not None:
        path.unlink()


def _rename(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    target = top / rng.choice(("", "src/", "moved/", "src/one.txt/")) / rng.choice(WORDS)
    if path is not None and not any(above.is_file() for above in (target, *target.parents)):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            path.rename(target)


def _rename_folder(rng: Random, top: Path) -> None:
    folder, target = top / rng.choice(("src", "docs", "src/deep")), top / rng.choice(WORDS)
    if folder.is_dir() and not target.exists():
        folder.rename(target)


def _mode(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    if path is not None:
        path.chmod(0o755 if path.stat().st_mode & 0o100 == 0 else 0o644)


def _new(rng: Random, top: Path) -> None:
    path = top / rng.choice(("", "src/", "new/", "docs/")) / f"{rng.choice(WORDS)}.txt"
    if not any(above.is_file() or above.is_symlink() for above in (path, *path.parents)):
        write_path(path, _random_text(rng))


def _link(rng: Random, top: Path) -> None:
    write_path(top / rng.choice(("latest", "other-link")), Symlink(rng.choice(WORDS)))


def _binary(rng: Random, top: Path) -> None:
    write_path(top / "blob.bin", rng.randbytes(100) + b"\0")


def _attributes(rng: Random, top: Path) -> None:
    folder = rng.choice((top, top / "src"))
    if folder.is_dir():
        write_path(folder / ".gitattributes", rng.choice(_ATTRIBUTES))


def _file_to_folder(rng: Random, top: Path) -> None:
    path = _choose_file(rng, top)
    if path is not None:
        write_path(path, None)
        write_path(path / "inside.txt", _random_text(rng))


_EDITS: Sequence[Callable[[Random, Path], None]] = (
    *(_edit,) * 6,
    *(_append,) * 3,
    *(_new,) * 3,
    *(_rename,) * 2,
    *(_remove,) * 2,
    _rename_folder,
    _mode,
    _link,
    _binary,
    _attributes,
    _file_to_folder,
)


if __name__ == "__main__":
    main(sys.argv[1])
