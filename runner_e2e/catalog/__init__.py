"""From YAML or Python to a catalog that was checked whole: cells, texts and fingerprints."""

from runner_e2e.catalog.capabilities import ENVIRONMENTS, OFFERED, Capability, needs_of
from runner_e2e.catalog.capture import fetch_ranking, profiles_file, snapshot_of
from runner_e2e.catalog.command_files import ADAPTER_PACKAGE, CommandFile
from runner_e2e.catalog.editor_schema import catalog_json_schema
from runner_e2e.catalog.expansion import environment_key
from runner_e2e.catalog.fingerprints import SAMPLE_IMAGE
from runner_e2e.catalog.images import is_immutable_image
from runner_e2e.catalog.loading import Catalog, explain_fingerprint, load_catalog
from runner_e2e.catalog.rankings import RankingSnapshot, models_hash, read_ranking
from runner_e2e.catalog.rendering import RenderedTask, Variables, render_agent, render_task
from runner_e2e.catalog.secrets import secret_names
from runner_e2e.catalog.templates import TemplateFault
from runner_e2e.catalog.wording import listed, nearest

__all__ = [
    "ADAPTER_PACKAGE",
    "ENVIRONMENTS",
    "OFFERED",
    "SAMPLE_IMAGE",
    "Capability",
    "Catalog",
    "CommandFile",
    "RankingSnapshot",
    "RenderedTask",
    "TemplateFault",
    "Variables",
    "catalog_json_schema",
    "environment_key",
    "explain_fingerprint",
    "fetch_ranking",
    "is_immutable_image",
    "listed",
    "load_catalog",
    "models_hash",
    "nearest",
    "needs_of",
    "profiles_file",
    "read_ranking",
    "render_agent",
    "render_task",
    "secret_names",
    "snapshot_of",
]
