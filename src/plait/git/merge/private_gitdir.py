"""Makes git dirs of plait's own for merging. They share the repository's objects, but neither its settings nor its
attributes.

A git dir is named by a hash of its content and never changes, so that no other batch or engine sees a wrong or partial
one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from plait.git.command import Git
from plait.git.interfaces import MergeRules
from plait.git.objects import is_safe_path
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
AttributesFiles = Mapping[str, str]  # the blob of each, by path, sorted
_NO_ATTRIBUTES: AttributesFiles = {}
# Settings about the object format, copied from the repository.
_OBJECT_SETTINGS = r"^(extensions\.(objectformat|partialclone)|core\.sharedrepository|remote\..*\.promisor)$"


class PrivateGitDirs:
    """Makes git dirs for merging. `objects` is the folder for new objects, by default the repository's own."""

    def __init__(self, git_dir: Path, root: Path, environment: Mapping[str, str], objects: Path | None = None) -> None:
        self._git_dir = git_dir
        self._root = root
        self._objects = objects or git_dir / "objects"
        self._environment = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._last_attributes: tuple[str, AttributesFiles] | None = None  # of which commit
        self._config: str | None = None

    def git_for(self, merge_rules: MergeRules, files: AttributesFiles = _NO_ATTRIBUTES) -> Git:
        """Return git with these rules, and with these attributes as if they were checked out."""
        config, rules = self._read_config(), _format_rules(merge_rules)
        content = repr((config, rules, list(files.items())))
        digest = hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:20]
        folder = self._root / digest
        if not folder.is_dir():
            self._make(folder, config, rules, files)
        return self._git_in(folder)

    def read_attributes(self, git: Git, commit: str) -> AttributesFiles:
        """Read the committed .gitattributes files. Only the difference to the commit of the last call is read."""
        last = self._last_attributes  # read once: other threads ask too
        known_commit, files = last or (_EMPTY_TREE[len(commit)], _NO_ATTRIBUTES)
        if known_commit != commit:
            files = _apply_changes(git, known_commit, commit, files)
            self._last_attributes = (commit, files)
        return files

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
            _write_durably(making / "git" / "HEAD", b"ref: refs/heads/none\n")
            _write_durably(making / "git" / "config", config.encode("utf-8", "surrogateescape"))
            _write_durably(making / "git" / "info" / "attributes", rules.encode("utf-8", "surrogateescape"))
            _write_attributes(self._git_in(making), files, making / "tree")
            making.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process created the same one meanwhile
                raise
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _read_config(self) -> str:
        if self._config is None:
            git = Git(self._git_dir, environment=self._environment, variables={"GIT_DIR": str(self._git_dir)})
            rows = git.run("config", "--local", "-z", "--get-regexp", _OBJECT_SETTINGS, codes=(0, 1)).fields
            self._config = _format_config(dict(line.split("\n", 1) for line in rows if "\n" in line), self._git_dir)
        return self._config


def _format_config(settings: Mapping[str, str], git_dir: Path) -> str:
    """Format the git dir's configuration. In a partial clone it includes the repository's settings, to fetch missing
    objects; the pinned ones override them.
    """
    partial = any(key == "extensions.partialclone" or key.startswith("remote.") for key in settings)
    extensions = [(key, settings[key]) for key in sorted(settings) if key.startswith("extensions.")]
    return "".join(
        (
            f"[include]\n\tpath = {_quote(str(git_dir / 'config'))}\n" if partial else "",
            _PINNED_CONFIG,
            f"[core]\n\trepositoryFormatVersion = {1 if extensions else 0}\n",
            *(f"[extensions]\n\t{key.split('.')[1]} = {_quote(value)}\n" for key, value in extensions),
            f"[core]\n\tsharedRepository = {_quote(settings['core.sharedrepository'])}\n"
            if "core.sharedrepository" in settings
            else "",
        )
    )


def _format_rules(rules: MergeRules) -> str:
    """Format the rules as lines of attributes, which override the repository's own."""
    union = [f"{_quote(pattern)} merge=union\n" for pattern in rules.union]
    regenerated = [f"{_quote(pattern)} {REGENERATE_ATTRIBUTE}={n}\n" for n, (pattern, _) in enumerate(rules.regenerate)]
    return "".join((*union, *reversed(regenerated)))  # of several, the first rule holds; git takes the last


def _quote(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{plain}"'


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


ATTRIBUTES_FILE = ".gitattributes"
_EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def _apply_changes(git: Git, old: str, new: str, files: AttributesFiles) -> AttributesFiles:
    blobs = dict(files)
    fields = git.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--", f":(glob)**/{ATTRIBUTES_FILE}"
    ).fields
    for facts, path in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, blob, _ = facts.split(" ")
        if mode.startswith("100") and is_safe_path(path):  # git reads no attributes through a symlink
            blobs[path] = blob
        else:
            blobs.pop(path, None)
    return dict(sorted(blobs.items()))


def _write_attributes(git: Git, files: AttributesFiles, folder: Path) -> None:
    for name, blob in files.items():
        path = folder / os.fsdecode(name.encode("utf-8", "surrogateescape"))
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_durably(path, git.run("cat-file", "blob", blob).out)
