"""A temporary bare repository in which one branch of a remote is read and rewritten.

There is no work tree and no checkout: trees are made from an index of our own. Blobs that are not
asked for are never downloaded, so the size of the branch hardly matters. Facts: ``docs/``.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from runner_e2e.publishing.destination import REMOTE, Destination, Remote, resolve_remote
from runner_e2e.publishing.errors import DiskFull
from runner_e2e.publishing.git import scrub
from runner_e2e.publishing.outcomes import classify, error_of
from runner_e2e.publishing.patience import patiently

TIP_REF = "refs/publishing/tip"
SHA256_HEX = 64
PATHS_PER_CALL = 500
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip:
    """Where the branch stands on the remote. Both are ``None`` where it does not exist."""

    commit: str | None
    tree: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a tree. ``kind`` is ``blob``, ``tree`` or ``commit``."""

    path: str
    mode: str
    kind: str
    oid: str


class Workbench:
    """One branch of one remote. Every method may raise a :class:`PublishingError`."""

    def __init__(self, directory: Path, remote: Remote, ref: str) -> None:
        self.ref = ref
        self.git = remote.git(directory)
        self.head_branch: str | None = None
        """The remote's default branch as a full ref, when it says so."""
        self._secrets = remote.secrets
        self._stage = directory / "stage"
        self._staged = 0
        self._filter: tuple[str, ...] = ("--filter=blob:none",)
        self._open(remote)

    def _open(self, remote: Remote) -> None:
        self._init("sha1")
        listing = patiently(lambda: self._survey(remote))
        for line in listing.decode("utf-8", "replace").splitlines():
            value, _, name = line.partition("\t")
            if name == "HEAD" and value.startswith("ref: "):
                self.head_branch = value.removeprefix("ref: ")
            elif len(value) == SHA256_HEX and name in {"HEAD", self.ref}:
                self._init("sha256")

    def _survey(self, remote: Remote) -> bytes:
        done = self.git.run("ls-remote", "--symref", REMOTE, "HEAD", self.ref)
        if done.returncode != 0:
            raise error_of(classify(done.words), f"cannot read {scrub(remote.url, ())}", done.words)
        return done.stdout

    def _init(self, object_format: str) -> None:
        directory = self.git.directory / object_format
        environ = {**self.git.environ, "GIT_DIR": str(directory)}
        self.git = replace(self.git, environ=environ)
        self.git.output(
            "init", "--quiet", "--bare", "--template=", f"--object-format={object_format}"
        )
        self._stage.mkdir(exist_ok=True)

    def fetch(self) -> Tip:
        """Get the branch as it stands now: its newest commit, its trees, no blobs."""
        done = self.git.run(
            "fetch",
            *("--quiet", "--force", "--depth=1", "--no-tags", "--no-write-fetch-head"),
            *self._filter,
            REMOTE,
            f"{self.ref}:{TIP_REF}",
        )
        if done.returncode != 0:
            if "couldn't find remote ref" in done.words:
                return Tip(commit=None, tree=None)
            raise error_of(classify(done.words), f"cannot fetch {self.ref}", done.words)
        commit, tree = (
            self.git.output("rev-parse", f"{TIP_REF}^{{commit}}", f"{TIP_REF}^{{tree}}")
            .decode()
            .split()
        )
        return Tip(commit=commit, tree=tree)

    def parents(self, commit: str) -> tuple[str, ...]:
        """The parents a commit names, also where they were not fetched."""
        head = self.git.output("cat-file", "commit", commit).decode("utf-8", "replace")
        lines = head.partition("\n\n")[0].splitlines()
        return tuple(line.removeprefix("parent ") for line in lines if line.startswith("parent "))

    def entries(self, tip: Tip, paths: Sequence[str]) -> dict[str, Entry]:
        """What lies at ``paths``; a path that ends with ``/`` stands for what is directly in it."""
        return self._list(tip, (), paths)

    def below(self, tip: Tip, directory: str) -> dict[str, Entry]:
        """Every file below ``directory``, which ends with ``/``; empty is the whole branch."""
        return self._list(tip, ("-r",), [directory] if directory else [])

    def _list(self, tip: Tip, flags: tuple[str, ...], paths: Sequence[str]) -> dict[str, Entry]:
        if tip.commit is None:
            return {}
        found = {}
        for start in range(0, max(1, len(paths)), PATHS_PER_CALL):
            part = paths[start : start + PATHS_PER_CALL]
            listing = self.git.output("ls-tree", *flags, "-z", "--full-tree", tip.commit, *part)
            for line in listing.decode("utf-8", "surrogateescape").split("\0")[:-1]:
                facts, _, path = line.partition("\t")
                mode, kind, oid = facts.split()
                found[path] = Entry(path=path, mode=mode, kind=kind, oid=oid)
        return found

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of blobs. Those that are not here are fetched, all in one request."""
        wanted = list(dict.fromkeys(oids))
        if not wanted:
            return {}
        self._fetch_blobs(wanted)
        listing = "".join(f"{oid}\n" for oid in wanted).encode()
        output = self.git.output("cat-file", "--batch", stdin=listing)
        contents = {}
        position = 0
        for oid in wanted:
            end = output.index(b"\n", position)
            size = int(output[position:end].split()[-1])
            contents[oid] = output[end + 1 : end + 1 + size]
            position = end + 1 + size + 1
        return contents

    def _fetch_blobs(self, oids: Sequence[str]) -> None:
        """Fetch blobs by object id. `cat-file` would do that too, with one request for each."""
        listing = self.git.output(
            "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"
        )
        here = set(listing.decode().split())
        missing = [oid for oid in oids if oid not in here]
        if not missing:
            return
        done = self.git.run(
            *("-c", "fetch.negotiationAlgorithm=noop"),
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--stdin"),
            *self._filter,
            REMOTE,
            stdin="".join(f"{oid}\n" for oid in missing).encode(),
        )
        if done.returncode == 0:
            return
        outcome = classify(done.words)
        if outcome != "unknown":
            raise error_of(outcome, f"cannot fetch documents of {self.ref}", done.words)
        # An older server knows filters and yet gives out no object by its id.
        self._filter = ("--no-filter",)
        self.git.output(
            *("fetch", "--quiet", "--refetch", "--depth=1", "--no-tags", "--no-write-fetch-head"),
            *self._filter,
            REMOTE,
            self.ref,
        )

    def deepen(self) -> None:
        """Fetch the branch's whole past, still without blobs."""
        shallow = self.git.output("rev-parse", "--is-shallow-repository").strip() == b"true"
        if shallow:
            self.git.output(
                *("fetch", "--quiet", "--force", "--unshallow", "--no-tags"),
                *("--no-write-fetch-head", *self._filter, REMOTE, f"{self.ref}:{TIP_REF}"),
            )

    def past_versions(self, path: str) -> tuple[str, ...]:
        """The object ids that ``path`` had, newest first. Needs :meth:`deepen`."""
        commits = self.git.output("rev-list", TIP_REF, "--", path).decode().split()
        oids: dict[str, None] = {}
        for commit in commits:
            tip = Tip(commit=commit, tree=None)
            oids.update({entry.oid: None for entry in self.entries(tip, [path]).values()})
        return tuple(oids)

    def store(self, contents: Sequence[bytes | Path]) -> tuple[str, ...]:
        """Make blobs of ``contents``, byte for byte, and return their object ids in order."""
        paths = []
        for content in contents:
            if isinstance(content, Path):
                paths.append(content.absolute())
            else:
                paths.append(self.stage())
                paths[-1].write_bytes(content)
        listing = b"".join(os.fsencode(path) + b"\n" for path in paths)
        output = self.git.output(
            "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listing
        )
        return tuple(output.decode().split())

    def stage(self) -> Path:
        """A name for a new temporary file."""
        self._staged += 1
        return self._stage / str(self._staged)

    def tree(self, tip: Tip, changes: Mapping[str, str | None]) -> str:
        """The tree of ``tip`` with blobs put at paths, or taken away where ``None``."""
        index = replace(self.git, environ={**self.git.environ, "GIT_INDEX_FILE": str(self.stage())})
        index.output("read-tree", tip.tree or "--empty")
        nothing = "0" * (len(tip.tree) if tip.tree else 40)
        lines = (
            f"0 {nothing}\t{path}\0" if oid is None else f"100644 {oid}\t{path}\0"
            for path, oid in changes.items()
        )
        listing = "".join(lines).encode("utf-8", "surrogateescape")
        index.output("update-index", "-z", "--index-info", stdin=listing)
        # Without --missing-ok git would first download every blob of the branch.
        return index.output("write-tree", "--missing-ok").decode().strip()

    def commit(self, tree: str, parent: str | None, message: str) -> str:
        """Make a commit; without ``parent`` it is a new root."""
        onto = () if parent is None else ("-p", parent)
        output = self.git.output("commit-tree", tree, *onto, "-F", "-", stdin=message.encode())
        return output.decode().strip()

    def push(self, commit: str, tip: Tip, *, dry_run: bool = False) -> None:
        """Move the branch from ``tip`` to ``commit``, if it still is where we saw it.

        With ``dry_run`` nothing is sent; the remote only says whether it may be.
        Raises :class:`LostRace` when it is not.
        """
        done = self.git.run(
            *("push", "--porcelain", "--no-verify", "--no-follow-tags"),
            *(("--dry-run",) if dry_run else ()),
            f"--force-with-lease={self.ref}:{tip.commit or ''}",
            REMOTE,
            f"{commit}:{self.ref}",
        )
        if done.returncode != 0:
            told = scrub(done.stdout.decode("utf-8", "replace"), self._secrets)
            words = f"{told}\n{done.words}"
            raise error_of(classify(words), f"cannot push to {self.ref}", words)


@contextmanager
def open_workbench(destination: Destination, environ: Mapping[str, str]) -> Iterator[Workbench]:
    """A workbench for the destination's branch; it is gone afterwards.

    Raises :class:`DiskFull` when there is no room for it, and what :class:`Workbench` raises.
    """
    remote = resolve_remote(destination, environ)
    try:
        with tempfile.TemporaryDirectory(
            prefix="runner-e2e-publish-", ignore_cleanup_errors=True
        ) as directory:
            yield Workbench(Path(directory), remote, destination.ref)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise DiskFull(
            f"cannot write {error.filename or 'a temporary file'}: {error.strerror}",
            hint="make room, or point TMPDIR at a disk that has some; the report is kept",
        ) from None
