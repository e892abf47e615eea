from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runner_e2e.catalog import load_catalog
from runner_e2e.errors import CatalogError, Problem
from tests.support.catalogs import (
    PROFILE,
    TASK,
    catalog_tree,
    load_tree,
    problems_of,
    put_agent,
    write_catalog,
)

HEADER = """\
import json
from runner_e2e.contracts.catalog import CatalogFile

TREE = json.loads(r'''%s''')
"""


def program(directory: Path, body: str, tree: object = None) -> Path:
    path = directory / "catalog_program.py"
    put_agent(directory)
    path.write_text(HEADER % json.dumps(catalog_tree() if tree is None else tree) + body)
    return path


VALUE = "catalog = CatalogFile.model_validate_json(json.dumps(TREE))\n"
FUNCTION = "def catalog():\n    return CatalogFile.model_validate_json(json.dumps(TREE))\n"


@pytest.mark.parametrize("body", [VALUE, FUNCTION])
def test_a_program_builds_the_same_catalog(tmp_path: Path, body: str) -> None:
    written = load_catalog(program(tmp_path, body))
    assert written.fingerprint == load_tree(tmp_path, catalog_tree()).fingerprint


def test_a_program_may_compute_its_parts_and_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_a_catalog.py").write_text("NAMES = ['one', 'two']\n")
    body = (
        "from neighbour_of_a_catalog import NAMES\n"
        "TREE['tasks'] = [{**TREE['tasks'][0], 'id': name} for name in NAMES]\n"
        "TREE['suites'][0] |= {'tasks': NAMES, 'expectedMatrixSize': 2}\n" + VALUE
    )
    catalog = load_catalog(program(tmp_path, body))
    assert [item.id for item in catalog.executions] == [
        "smoke.scripted.local.one",
        "smoke.scripted.local.two",
    ]
    assert str(tmp_path) not in sys.path
    assert not (tmp_path / "__pycache__").exists()


def test_a_catalog_in_yaml_may_include_a_program(tmp_path: Path) -> None:
    program(tmp_path, VALUE, {**catalog_tree(suites=[], profiles=[])})
    tree = catalog_tree(tasks=[], include=["catalog_program.py"])
    assert len(load_tree(tmp_path, tree).executions) == 1


def problem(path: Path) -> Problem:
    (found,) = problems_of(lambda: load_catalog(path))
    return found


def line_of(path: Path, text: str) -> int:
    content = path.read_text()
    return content[: content.index(text)].count("\n") + 1


def test_a_fault_points_at_the_part_it_is_in(tmp_path: Path) -> None:
    path = tmp_path / "catalog_program.py"
    put_agent(tmp_path)
    path.write_text(
        "from runner_e2e.contracts.catalog import CatalogFile\n"
        f"TASK = {TASK!r}\n"
        "OTHER = TASK | {\n"
        "    'id': 'other',\n"
        "    'prompt': '{{ nonse }}',\n"
        "}\n"
        f"TREE = {catalog_tree()!r} | {{'tasks': [TASK, OTHER]}}\n"
        "import json\n" + VALUE
    )
    found = problem(path)
    assert "the template names 'nonse'" in found.message
    assert found.line == line_of(path, "'{{ nonse }}'")


def test_a_shape_that_the_models_refuse_points_at_the_line_that_built_it(tmp_path: Path) -> None:
    tree = catalog_tree(profiles=[{**PROFILE, "modle": "x"}])
    path = program(tmp_path, VALUE, tree)
    found = problem(path)
    assert "modle" in found.message
    assert found.line == line_of(path, "catalog =")


@pytest.mark.parametrize(
    ("body", "expected", "at"),
    [
        ("def broken(:\n", "not Python", "def broken"),
        ("1 / 0\n", "the program failed: ZeroDivisionError", "1 / 0"),
        ("import nowhere_to_be_found\n", "ModuleNotFoundError", "import nowhere"),
        ("def catalog():\n    raise KeyError('x')\n", "KeyError", "raise KeyError"),
        ("import sys\nsys.exit()\n", "ended itself with sys.exit(None)", "sys.exit"),
        ("def catalog():\n    raise SystemExit(3)\n", "sys.exit(3)", "raise SystemExit"),
        ("quit('no')\n", "ended itself with sys.exit('no')", "quit"),
        ("catalog = {}\n", "the program has no CatalogFile named 'catalog'", "import json"),
        ("", "the program has no CatalogFile named 'catalog'", "import json"),
    ],
)
def test_a_program_that_makes_no_catalog_is_one_problem(
    tmp_path: Path, body: str, expected: str, at: str
) -> None:
    path = program(tmp_path, body)
    found = problem(path)
    assert expected in found.message
    assert found.line == line_of(path, at)


def test_a_program_that_nests_beyond_reason_is_refused(tmp_path: Path) -> None:
    body = (
        "deep = []\nfor _ in range(150):\n    deep = [deep]\n"
        "TREE['profiles'][0]['agent']['deep'] = deep\n" + VALUE
    )
    assert "at most 100 levels" in problem(program(tmp_path, body)).message


def test_a_null_byte_is_a_problem_too(tmp_path: Path) -> None:
    path = tmp_path / "c.py"
    path.write_bytes(b"a = '\0'\n")
    with pytest.raises(CatalogError, match="not Python"):
        load_catalog(path)


def test_the_command_lies_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    written = load_catalog(program(tmp_path, VALUE))
    as_yaml = load_catalog(write_catalog(tmp_path, catalog_tree()))
    assert written.file.profiles == as_yaml.file.profiles


SAYING = """
import subprocess
print("said by print")
sys.__stdout__.write("said by write\\n")
subprocess.run([sys.executable, "-c", "print('said by a child')"], check=True)
def catalog():
    print("said in the function")
    return CatalogFile.model_validate_json(json.dumps(TREE))
"""


def test_what_a_program_prints_is_no_part_of_an_answer(tmp_path: Path) -> None:
    path = program(tmp_path, "import sys\n" + SAYING)
    reader = (
        "import sys; from pathlib import Path; from runner_e2e.catalog import load_catalog\n"
        "print('before'); print(load_catalog(Path(sys.argv[1])).executions[0].id)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", reader, str(path)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "before\nsmoke.scripted.local.hello\n"
    assert set(run.stderr.split("\n")[:-1]) == {
        "said by print",
        "said by write",
        "said by a child",
        "said in the function",
    }


def test_a_program_is_read_where_there_is_no_output_at_all(tmp_path: Path) -> None:
    reader = (
        "import os, sys; from pathlib import Path; from runner_e2e.catalog import load_catalog\n"
        "load_catalog(Path(sys.argv[1])); os._exit(7)\n"
    )
    closed = [sys.executable, "-c", reader, str(program(tmp_path, VALUE))]
    run = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *closed], check=False)
    assert run.returncode == 7


def checkout(directory: Path, command: list[str], *, content: str = "pass") -> str:
    """The fingerprint of a catalog in a repository of its own, ``HERE`` being its directory."""
    (directory / "e2e").mkdir(parents=True)
    (directory / ".git").mkdir()
    (directory / "tools").mkdir()
    for name in ("e2e/agent.py", "tools/agent.py"):
        (directory / name).write_text(content)
    here = str(directory / "e2e")
    profile = {**PROFILE, "agent": {"command": [part.replace("HERE", here) for part in command]}}
    catalog = load_tree(directory / "e2e", catalog_tree(profiles=[profile]))
    (found,) = catalog.command_files["scripted"]
    assert catalog.file.profiles[0].agent["command"] == [
        "python",
        str(directory / "e2e" / found.path).replace("/e2e/../", "/"),
    ]
    return catalog.fingerprint


@pytest.mark.parametrize(
    ("absolute", "relative"),
    [("HERE/agent.py", "agent.py"), ("HERE/../tools/agent.py", "../tools/agent.py")],
)
def test_an_absolute_path_into_the_repository_is_the_same_in_every_checkout(
    tmp_path: Path, absolute: str, relative: str
) -> None:
    first = checkout(tmp_path / "first", ["python", absolute])
    assert checkout(tmp_path / "second", ["python", absolute]) == first
    assert checkout(tmp_path / "third", ["python", relative]) == first
    assert checkout(tmp_path / "fourth", ["python", absolute], content="1") != first


def test_a_program_of_the_machine_counts_as_it_is_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("")
    profile = {**PROFILE, "agent": {"command": [sys.executable, str(outside)]}}
    (tmp_path / "in").mkdir()
    catalog = load_tree(tmp_path / "in", catalog_tree(profiles=[profile]))
    assert catalog.command_files["scripted"] == ()
    assert catalog.file.profiles[0].agent["command"] == [sys.executable, str(outside)]


def test_a_checkout_that_is_reached_by_a_link_is_the_same_one(tmp_path: Path) -> None:
    real = tmp_path / "real"
    first = checkout(real, ["python", "HERE/agent.py"])
    (tmp_path / "link").symlink_to(real)
    assert load_catalog(tmp_path / "link" / "e2e" / "runner-e2e.yaml").fingerprint == first
