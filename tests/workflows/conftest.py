from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflows.act import Forge, for_act
from tests.workflows.catalog import catalog_files
from tests.workflows.toolbox import CALLABLE, PROJECT, Language


@pytest.fixture(scope="session")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture(scope="session")
def app(forge: Forge) -> Path:
    """A repository with a catalog and the callable workflows in it, as ours is one."""
    workflows = {
        f".github/workflows/{name}": for_act((PROJECT / "workflows" / name).read_text("utf-8"))
        for name in CALLABLE
    }
    return forge.repository("acme/app", catalog_files() | workflows)


@pytest.fixture(scope="session")
def language(tmp_path_factory: pytest.TempPathFactory) -> Language:
    return Language(tmp_path_factory.mktemp("language") / "language.mjs")
