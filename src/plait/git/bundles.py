"""Git bundles: commits that travel between repositories, without what the receiver has already.

A bundle is a short header (the commits that the receiver must have, and the commits that travel, each under a ref), followed
by a thin pack: https://git-scm.com/docs/gitformat-bundle. The header is written and read here: `git bundle create` takes only
refs that exist, and `git bundle unbundle` checks neither the names of refs nor sizes.
"""

from __future__ import annotations

import io
import os
import re
import struct
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitCancelledError, GitError
from plait.git.kept_objects import may_be_partial_clone
from plait.git.refs import OBJECT_ID
from plait.system.atomic_files import make_private_folder

MAX_BYTES = (2 << 30) - 1  # of a bundle: it is sent as one piece
_SHA1_DIGITS, SHA256_DIGITS = 40, 64
_VERSIONS = {b"# v2 git bundle\n": 2, b"# v3 git bundle\n": 3}
_FORMAT_CAPABILITY = "@object-format="
_MAX_HEADER_BYTES = 1 << 20
_ID = r"(?P<id>[0-9a-f]{40}|[0-9a-f]{64})"
_PREREQUISITE = re.compile(rf"-{_ID}(?: .*)?\Z")
_REF = re.compile(rf"{_ID} (?P<ref>refs/[!-~]+)\Z")
_PARTIAL_CLONE = r"^(extensions\.partialclone|remote\..*\.promisor)$"


class BundleError(WorldError):
    """A bundle that is damaged, incomplete or not what was asked for; nothing was changed."""


class MissingCommitsError(BundleError):
    """A bundle whose receiver lacks the commits in `missing`, or what they lead to: it needs a bundle with everything."""

    def __init__(self, message: str, missing: Collection[str] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """The header of a bundle: `prerequisites` are the commits that the receiver must have, `refs` the commits that
    travel.
    """

    object_format: str
    prerequisites: tuple[str, ...]
    refs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PackLimits:
    """Limits of what a pack holds. A few kilobytes can expand to anything, so they are checked before git reads the
    pack.
    """

    objects: int = 1_000_000
    object_bytes: int = 2 << 30
    total_bytes: int = 4 << 30


def open_git(git_dir: Path, environment: Mapping[str, str] | None = None) -> Git:
    """Open git for a repository's objects as they are, without replacements and grafts, which don't travel."""
    variables = {"GIT_DIR": str(git_dir), "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
    return Git(git_dir, environment=environment, variables=variables)


def create_bundle(
    git_dir: Path,
    refs: Mapping[str, str],
    have: Collection[str],
    *,
    boundary: Sequence[str] | None = None,
) -> bytes:
    """Make a bundle of the commits of `refs`, by the names that they get in it; empty if the receiver has everything.

    `have` are commits of the receiver; those that are unknown here are ignored. `boundary` are those that the new
    commits follow, if that is known, and then all of both exist here. Raises UserError for a partial clone, and
    WorldError if a commit is missing, the bundle gets too large or the disk is full.
    """
    if {*refs.values()} <= {*have}:
        return b""
    git = open_git(git_dir)
    require_complete(git)
    known = filter_commits(git, {*have, *refs.values()}) if boundary is None else {*have, *refs.values()}
    if missing := [commit for commit in refs.values() if commit not in known]:
        raise WorldError(
            f"{git_dir} has no commit {missing[0]}", hint="Fetch it, or start from a commit that is there."
        )
    held = sorted(known & {*have})
    header = format_header(_find_boundary(git, refs.values(), held) if boundary is None else boundary, refs)
    with open_scratch_file(git_dir) as file:
        file.write(header)
        file.flush()
        _write_pack(git, refs.values(), held, file)
        size = file.seek(0, os.SEEK_END)
        if size > MAX_BYTES:
            raise WorldError(f"the commits take {size >> 20} MB, and a node can be sent {MAX_BYTES >> 20} MB at once")
        file.seek(len(header))
        if not read_pack_count(file):
            return b""
        file.seek(0)
        return file.read(size)


def open_scratch_file(git_dir: Path) -> IO[bytes]:
    """Open a file without a name on the repository's disk: /tmp may be small, and a killed process leaves nothing."""
    try:
        make_private_folder(git_dir / "plait")
        return tempfile.TemporaryFile(dir=git_dir / "plait")
    except OSError as error:
        raise WorldError(f"can't write to {git_dir / 'plait'}: {error.strerror}") from error


def require_complete(git: Git) -> None:
    """Raise UserError for a partial clone, because git would fetch each missing file over the network, one by one."""
    if may_be_partial_clone(git) and git.run("config", "--get-regexp", _PARTIAL_CLONE, codes=(0, 1)).code == 0:
        raise UserError(
            "this repository is a partial clone, and its commits can't be sent to other machines",
            hint="Work in a full clone: git clone without --filter.",
        )


def filter_commits(git: Git, names: Collection[str]) -> set[str]:
    """Return those of the ids that are commits in this repository."""
    ids = [name for name in names if OBJECT_ID.match(name)]
    if not ids:
        return set()
    args = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    rows = git.text(*args, stdin="".join(f"{each}\n" for each in ids).encode()).splitlines()
    return {row.removesuffix(" commit") for row in rows if row.endswith(" commit")}


def _find_boundary(git: Git, tips: Collection[str], held: Collection[str]) -> list[str]:
    """List the commits of the receiver that the new commits follow: without them, the pack can't be used."""
    if not held:
        return []
    rows = git.text("rev-list", "--boundary", "--stdin", stdin=_format_revisions(tips, held)).splitlines()
    return sorted(row[1:] for row in rows if row.startswith("-"))


def _format_revisions(tips: Collection[str], held: Collection[str]) -> bytes:
    return "".join([*(f"{tip}\n" for tip in sorted({*tips})), *(f"^{commit}\n" for commit in held)]).encode()


def format_header(prerequisites: Collection[str], refs: Mapping[str, str]) -> bytes:
    is_sha256 = any(len(commit) == SHA256_DIGITS for commit in refs.values())
    lines = ["# v3 git bundle", f"{_FORMAT_CAPABILITY}sha256"] if is_sha256 else ["# v2 git bundle"]
    lines += [f"-{commit} " for commit in prerequisites]
    lines += [f"{commit} {ref}" for ref, commit in sorted(refs.items())]
    return "".join(f"{line}\n" for line in [*lines, ""]).encode()


def _write_pack(git: Git, tips: Collection[str], held: Collection[str], file: IO[bytes]) -> None:
    """Write a pack, reusing the deltas of existing packs. No bitmap is used, because git would then leave out more than
    the prerequisites have.
    """
    bitmap = ("--no-use-bitmap-index",) if held else ()
    options = ("--revs", "--thin", "--stdout", "--delta-base-offset", "--quiet", *bitmap)
    settings = ("pack.packSizeLimit=0", "pack.writeBitmaps=false")
    git.with_options(settings=settings).run("pack-objects", *options, stdin=_format_revisions(tips, held), stdout=file)


@contextmanager
def open_bundle(git_dir: Path, data: bytes) -> Iterator[IO[bytes]]:
    """Open a bundle's data as a file. Large data is copied to a file on disk, because git reads it from there. Raises
    WorldError.
    """
    if len(data) <= _MAX_PIPED_BYTES:
        yield io.BytesIO(data)
        return
    try:
        with open_scratch_file(git_dir) as file:
            file.write(data)
            file.flush()
            yield file
    except OSError as error:
        raise WorldError(f"the bundle can't be stored or read: {error.strerror or error}") from error


def read_header(file: IO[bytes]) -> BundleHeader:
    """Read a bundle's header, leaving the file at the beginning of the pack. Raises BundleError for any header that
    this module doesn't write.
    """
    file.seek(0)
    data = file.read(_MAX_HEADER_BYTES)
    end = data.find(b"\n\n")
    first = data.find(b"\n") + 1
    version = _VERSIONS.get(data[:first])
    if version is None or end < 0:
        raise BundleError("the bundle is damaged: it does not begin with a bundle's header")
    try:
        lines = data[first:end].decode("ascii").split("\n") if end > first else []
    except UnicodeDecodeError as error:
        raise BundleError("the bundle is damaged: its header is not text") from error
    object_format, prerequisites, refs = "sha1", list[str](), dict[str, str]()
    for line in lines:
        if version > 2 and line.startswith(_FORMAT_CAPABILITY):
            object_format = line.removeprefix(_FORMAT_CAPABILITY)
        elif match := _PREREQUISITE.match(line):
            prerequisites.append(match["id"])
        elif (match := _REF.match(line)) and match["ref"] not in refs:
            refs[match["ref"]] = match["id"]
        else:
            raise BundleError(f"the bundle's header has a line that plait does not know: {line[:100]!r}")
    digits = {"sha1": _SHA1_DIGITS, "sha256": SHA256_DIGITS}.get(object_format)
    if any(len(each) != digits for each in (*prerequisites, *refs.values())):
        raise BundleError("the bundle's commits have names of another object format")
    file.seek(end + 2)
    return BundleHeader(object_format, tuple(prerequisites), refs)


_PACK_HEADER = struct.Struct(">4sII")
_PACK_VERSIONS = frozenset({2, 3})
_OFS_DELTA, _REF_DELTA = 6, 7
_KINDS = frozenset({1, 2, 3, 4, _OFS_DELTA, _REF_DELTA})
_CHUNK_BYTES = 1 << 20
_MAX_PIPED_BYTES = 1 << 20  # of a bundle that git gets through a pipe
_MAX_NUMBER_BYTES = 10


def read_pack_count(file: IO[bytes]) -> int:
    """Return how many objects the pack claims to have, without moving the file's position. Raises BundleError if there
    is no pack.
    """
    start = file.tell()
    data = file.read(_PACK_HEADER.size)
    file.seek(start)
    if len(data) == _PACK_HEADER.size:
        magic, version, count = _PACK_HEADER.unpack(data)
        if magic == b"PACK" and version in _PACK_VERSIONS:
            return int(count)
    raise BundleError("the bundle is damaged: it has no pack")


def check_pack_size(file: IO[bytes], object_format: str, limits: PackLimits) -> None:
    """Check the sizes of a pack by unpacking every object, without keeping any. The file's position stays. Raises
    BundleError.

    For an object that is stored as a delta, the size of the result that the delta states is used: git refuses any
    other.
    """
    start, count, total = file.tell(), read_pack_count(file), 0
    if count > limits.objects:
        raise BundleError(f"the bundle has {count:,} objects, and {limits.objects:,} are allowed")
    file.seek(start + _PACK_HEADER.size)
    reader = _PackReader(file, (SHA256_DIGITS if object_format == "sha256" else _SHA1_DIGITS) // 2)
    try:
        for _ in range(count):
            size = reader.skip_object(limits.object_bytes)
            total += size
            if size > limits.object_bytes:
                raise BundleError(f"the bundle has a file of {size:,} bytes, and {limits.object_bytes:,} are allowed")
            if total > limits.total_bytes:
                raise BundleError(f"the bundle unpacks to more than the {limits.total_bytes:,} bytes that are allowed")
    except (EOFError, zlib.error) as error:
        raise BundleError("the bundle is damaged: its pack can't be unpacked") from error
    file.seek(start)


class _PackReader:
    """Reads the objects of a pack one after the other: https://git-scm.com/docs/gitformat-pack."""

    def __init__(self, file: IO[bytes], id_bytes: int) -> None:
        self._file = file
        self._id_bytes = id_bytes
        self._data = b""
        self._at = 0

    def skip_object(self, max_bytes: int) -> int:
        """Skip an object and return its size, or that of its delta if that is larger. Unpacks no more than `max_bytes`."""
        byte = self._read_byte()
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self._read_byte()
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 7 * _MAX_NUMBER_BYTES:
                raise EOFError
        if kind not in _KINDS:
            raise EOFError
        if kind == _OFS_DELTA:
            for _ in range(_MAX_NUMBER_BYTES):
                if not self._read_byte() & 0x80:
                    break
        elif kind == _REF_DELTA:
            for _ in range(self._id_bytes):
                self._read_byte()
        if size > max_bytes:
            return size
        beginning = self._skip_stream(size)
        return max(size, _read_result_size(beginning)) if kind in {_OFS_DELTA, _REF_DELTA} else size

    def _skip_stream(self, size: int) -> bytes:
        """Unpack a stream of exactly this size, and return its first bytes."""
        decompressor, unpacked, beginning = zlib.decompressobj(), 0, b""
        while not decompressor.eof:
            data = decompressor.unconsumed_tail or self._read_chunk()
            piece = decompressor.decompress(data, _CHUNK_BYTES)
            beginning = beginning or piece[: 2 * _MAX_NUMBER_BYTES]
            unpacked += len(piece)
            if unpacked > size:
                raise EOFError
        self._push_back(decompressor.unused_data)
        if unpacked != size:
            raise EOFError
        return beginning

    def _read_byte(self) -> int:
        if self._at == len(self._data):
            self._data, self._at = self._read_file(), 0
        self._at += 1
        return self._data[self._at - 1]

    def _read_chunk(self) -> bytes:
        rest, self._data, self._at = self._data[self._at :], b"", 0
        return rest or self._read_file()

    def _push_back(self, data: bytes) -> None:
        self._data, self._at = data + self._data[self._at :], 0

    def _read_file(self) -> bytes:
        data = self._file.read(io.DEFAULT_BUFFER_SIZE)
        if not data:
            raise EOFError
        return data


def _read_result_size(delta: bytes) -> int:
    """Read the size of the object that a delta makes: a delta begins with the size of its base, followed by that one."""
    numbers, at = list[int](), 0
    while len(numbers) < 2:
        number = shift = 0
        while True:
            if at >= len(delta) or shift > 7 * _MAX_NUMBER_BYTES:
                raise EOFError
            byte = delta[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        numbers.append(number)
    return numbers[1]


def index_pack(git: Git, file: IO[bytes], folder: Path, *options: str) -> Path:
    """Store the pack at the file's position in an object folder, completed with the objects that its deltas are based
    on.

    Git computes the name of each object from its content. Raises BundleError if the pack is damaged, and GitError for
    anything else.
    """
    variables = {"GIT_OBJECT_DIRECTORY": str(folder)}
    if isinstance(file, io.BytesIO):
        pack: bytes | IO[bytes] = file.read()
    else:  # a file that was read in Python is at another place for the child
        os.lseek(file.fileno(), file.tell(), os.SEEK_SET)
        pack = file
    try:
        output = git.with_options(variables=variables).run("index-pack", "--stdin", "--fix-thin", *options, stdin=pack)
    except GitCancelledError:
        raise
    except GitError as error:
        if _PACK_DAMAGE.search(error.stderr):
            raise BundleError(f"the bundle is damaged: {error.message.partition(': ')[2]}") from error
        raise
    return folder / "pack" / f"pack-{output.text.split()[-1]}.pack"


_PACK_DAMAGE = re.compile(
    r"pack signature mismatch|pack version|early EOF|inflate returned|serious inflate|pack is corrupted|unknown object type"
    r"|pack has bad object|bad object|delta base offset|offset value overflow|premature end of pack|unresolved delta"
    r"|SHA1 COLLISION|pack too large|disk read error|failed to apply delta|confusion beyond insanity|has junk at the end"
    r"|pack has \d+ unresolved|cannot apply delta|invalid object|local object .* is corrupt"
)
