"""Plait's own git dirs for merging: they share the repository's objects, and nothing else of it counts there.

Neither the user's settings nor the attributes that lie in a checkout do. A git dir is named by all that is in it and never
changes, so that batches with other rules, and the next engine, never meet a half-made or a wrong one.

The committed `.gitattributes` of a commit: where they are, without looking at every file each time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.interfaces import MergeRules
from plait.system.atomic_files import make_private_folder

REGENERATE_ATTRIBUTE = "plait-regenerate"  # the attribute that numbers the rule for a file


_PINNED_CONFIG = f"""\
[core]
\tbare = false
\tattributesFile = {os.devnull}
\tautocrlf = false
\tignoreCase = false
[merge]
\trenames = true
\tdirectoryRenames = conflict
\trenameLimit = 7000
\trenormalize = false
\tconflictStyle = merge
\tverbosity = 2
[diff]
\trenames = true
\talgorithm = histogram
"""


# What has to be said of the objects, as the repository's own settings say it.
_OBJECT_SETTINGS = r"^(extensions\.(objectformat|partialclone)|core\.sharedrepository|remote\..*\.promisor)$"


class PrivateGitDirs:
    """`objects` is where new ones go, if not to the repository's own: then it knows of those."""

    def __init__(self, git_dir: Path, root: Path, environment: Mapping[str, str], objects: Path | None = None) -> None:
        self._git_dir = git_dir
        self._root = root
        self._objects = objects or git_dir / "objects"
        self._environment = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._attributes = AttributesReader()
        self._config: str | None = None

    def git_for(self, blending: MergeRules, files: AttributesFiles = ()) -> Git:
        """Git with these rules, and these attributes as if they were checked out."""
        config, rules = self._read_config(), _format_rules(blending)
        content = repr((config, rules, [(file.path, file.blob) for file in files]))
        digest = hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:20]
        folder = self._root / digest
        if not folder.is_dir():
            self._make(folder, config, rules, files)
        return self._git_in(folder)

    def read_attributes(self, git: Git, commit: str) -> AttributesFiles:
        return self._attributes.read(git, commit)

    def _git_in(self, folder: Path) -> Git:
        return Git(
            folder / "tree",
            environment=self._environment,
            variables={
                "GIT_DIR": str(folder / "git"),
                "GIT_WORK_TREE": str(folder / "tree"),
                "GIT_OBJECT_DIRECTORY": str(self._objects),
                "GIT_SHALLOW_FILE": str(self._git_dir / "shallow"),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_ATTR_NOSYSTEM": "1",
            },
        )

    def _make(self, folder: Path, config: str, rules: str, files: AttributesFiles) -> None:
        make_private_folder(self._root)
        making = Path(tempfile.mkdtemp(prefix="making-", dir=self._root))
        try:
            (making / "git" / "refs").mkdir(parents=True)
            (making / "git" / "info").mkdir()
            (making / "tree").mkdir()
            _write_durably(making / "git" / "HEAD", "ref: refs/heads/none\n")
            _write_durably(making / "git" / "config", config)
            _write_durably(making / "git" / "info" / "attributes", rules)
            write_attributes(self._git_in(making), files, making / "tree")
            making.rename(folder)
        except OSError:
            if not folder.is_dir():  # or else somebody made the same one meanwhile
                raise
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _read_config(self) -> str:
        if self._config is None:
            own = Git(self._git_dir, environment=self._environment, variables={"GIT_DIR": str(self._git_dir)})
            told = own.run("config", "--local", "-z", "--get-regexp", _OBJECT_SETTINGS, codes=(0, 1)).fields
            self._config = _format_config(dict(line.split("\n", 1) for line in told if "\n" in line), self._git_dir)
        return self._config


def _format_config(said: Mapping[str, str], git_dir: Path) -> str:
    """A partial clone fetches what it lacks from where its own settings say; the pinned ones come after them."""
    partial = any(key == "extensions.partialclone" or key.startswith("remote.") for key in said)
    extensions = [(key, said[key]) for key in sorted(said) if key.startswith("extensions.")]
    return "".join(
        (
            f"[include]\n\tpath = {_quote(str(git_dir / 'config'))}\n" if partial else "",
            _PINNED_CONFIG,
            f"[core]\n\trepositoryFormatVersion = {1 if extensions else 0}\n",
            *(f"[extensions]\n\t{key.split('.')[1]} = {_quote(value)}\n" for key, value in extensions),
            f"[core]\n\tsharedRepository = {_quote(said['core.sharedrepository'])}\n"
            if "core.sharedrepository" in said
            else "",
        )
    )


def _format_rules(blending: MergeRules) -> str:
    """These lines win over whatever the repository's own attributes say."""
    union = [f"{_quote(pattern)} merge=union\n" for pattern in blending.union]
    anew = [f"{_quote(pattern)} {REGENERATE_ATTRIBUTE}={n}\n" for n, (pattern, _) in enumerate(blending.regenerate)]
    return "".join((*union, *reversed(anew)))  # of several, the first rule holds; git takes the last


def _quote(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{plain}"'


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", errors="surrogateescape") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


ATTRIBUTES_FILE = ".gitattributes"


_EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, slots=True)
class AttributesFile:
    path: str
    blob: str


AttributesFiles = tuple[AttributesFile, ...]


class AttributesReader:
    """Follows the commits it is asked for: what is the same since the last one costs nothing."""

    def __init__(self) -> None:
        self._last: tuple[str, AttributesFiles] | None = None

    def read(self, git: Git, commit: str) -> AttributesFiles:
        last = self._last  # read once: other threads ask too
        known, files = last or (_EMPTY_TREE[len(commit)], ())
        if known != commit:
            files = _apply_changes(git, known, commit, files)
            self._last = (commit, files)
        return files


def _apply_changes(git: Git, old: str, new: str, files: AttributesFiles) -> AttributesFiles:
    blobs = {file.path: file.blob for file in files}
    told = git.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--", f":(glob)**/{ATTRIBUTES_FILE}"
    ).fields
    for facts, path in zip(told[::2], told[1::2], strict=True):
        _, mode, _, blob, _ = facts.split(" ")
        if mode.startswith("100") and _is_safe_path(path):  # git reads no attributes through a symlink
            blobs[path] = blob
        else:
            blobs.pop(path, None)
    return tuple(AttributesFile(path, blob) for path, blob in sorted(blobs.items()))


def _is_safe_path(path: str) -> bool:
    """A tree may hold any name; a folder on disk must not."""
    return all(name not in {"", ".", ".."} and name.lower() != ".git" for name in path.split("/"))


def write_attributes(git: Git, files: Iterable[AttributesFile], folder: Path) -> None:
    for file in files:
        path = folder / os.fsdecode(file.path.encode("utf-8", "surrogateescape"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.write(git.run("cat-file", "blob", file.blob).out)
            os.fsync(out.fileno())
