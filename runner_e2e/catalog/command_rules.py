"""What must hold of a command: words that a program can be started with, and files that exist."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from runner_e2e.catalog.source import Place
from runner_e2e.catalog.wording import nearest, shown
from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.errors import Problem

_SCRIPT = re.compile(
    r"(?!-)[^\s\"'`$;|&<>(){}=:\\]+\.(?:py|sh|bash|js|mjs|cjs|ts|mts|rb|pl|php)", re.IGNORECASE
)
_ELSEWHERE = "a file of the workspace is {{ workspace_path }}/NAME"


def command_problems(agent: Mapping[str, JsonValue], place: Place) -> Iterator[Problem]:
    """Everything in the command and the environment that no run could begin with.

    ``place`` is that of ``agent``; files are looked for beside the file that names them.
    """
    command, env = agent.get("command"), agent.get("env")
    if isinstance(command, list):
        beside = place.source.path.parent
        for index, word in enumerate(command):
            if isinstance(word, str):
                yield from _word_problems(word, index, beside, place / "command" / index)
    if isinstance(env, dict):
        for name, value in env.items():
            if not name or "=" in name or "\0" in name:
                yield (place / "env" / name).problem(
                    f"{shown(name)} can be no name of an environment variable", key=True
                )
            elif isinstance(value, str) and "\0" in value:
                yield (place / "env" / name).problem("no environment can hold a NUL character")


def _word_problems(word: str, index: int, beside: Path, place: Place) -> Iterator[Problem]:
    if "\0" in word:
        yield place.problem("no command can hold a NUL character")
    elif index == 0 and not word.strip():
        yield place.problem("this is to be the program, and it is empty")
    elif _names_file(word, index) and not (beside / word).exists():
        yield place.problem(
            f"there is no file {shown(word)} beside the catalog",
            hint=_nearest_file(word, beside) or _ELSEWHERE,
        )


def _names_file(word: str, index: int) -> bool:
    """Whether a word can only be meant as a file here. A model's name may hold ``/`` too."""
    if "{{" in word or "{%" in word or word.startswith("/"):
        return False
    if index == 0 and "/" not in word:
        return bool(_SCRIPT.fullmatch(word)) and shutil.which(word) is None
    return (
        word.startswith(("./", "../"))
        or bool(_SCRIPT.fullmatch(word))
        or (index == 0 and not word.startswith("~"))
    )


def _nearest_file(word: str, beside: Path) -> str | None:
    """A hint with the file that was probably meant, by a path like that of ``word``."""
    directory, slash, name = word.rpartition("/")
    try:
        names = sorted(entry.name for entry in (beside / directory).iterdir() if entry.is_file())
    except OSError:
        return None
    found = nearest(name, names)
    if found is None or not slash:
        return found
    return nearest(word, [f"{directory}/{entry}" for entry in names]) or found
