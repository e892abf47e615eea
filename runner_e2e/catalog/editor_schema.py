"""The JSON Schema of a catalog, for editors."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from runner_e2e.contracts.catalog import CATALOG_V1, CatalogFile

SCHEMA_ID = "urn:runner-e2e:catalog:v1"
"""A name, not an address: nothing is fetched from there."""


def catalog_json_schema() -> dict[str, Any]:
    """Draft 2020-12, made from the models. It knows shapes; the rules need the whole catalog.

    ``target`` is not required in it, because an included file may leave it out.
    """
    schema = CatalogFile.model_json_schema(schema_generator=GenerateJsonSchema)
    schema["required"] = [name for name in schema["required"] if name != "target"]
    # pydantic names this type without a word about it.
    schema["$defs"]["JsonValue"] = {"description": "Any JSON value; numbers are finite."}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": SCHEMA_ID,
        "title": CATALOG_V1,
        **{key: value for key, value in schema.items() if key != "title"},
    }
