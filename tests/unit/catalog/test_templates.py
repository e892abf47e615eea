from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.catalog import templates
from runner_e2e.catalog.templates import (
    VARIABLES,
    TemplateFault,
    render_json,
    render_text,
    variables_of,
)
from runner_e2e.contracts.scalars import JsonValue

VALUES = {name: f"<{name}>" for name in VARIABLES}

PIECES = st.sampled_from(
    [
        *(f"{{{{ {name} }}}}" for name in VARIABLES),
        "{{nonce}}",
        "{{  nonce  }}",
        "{{- nonce -}}",
        "{{ nonce | upper }}",
        "{{ nonce",
        "}}",
        "{",
        "}",
        "{%",
        "%}",
        "{# note #}",
        "{% if nonce %}yes{% endif %}",
        "{{ true }}",
        "{{ nonse }}",
        "{{}}",
        "\n",
        " ",
        "text",
        "$",
    ]
)


def outcome(text: str, *, quick: bool) -> str | None:
    """What becomes of a text, ``None`` for a fault; with or without the short way."""
    try:
        return render_text(text, VALUES) if quick else templates._render_with_jinja(text, VALUES)
    except TemplateFault:
        return None


@given(st.lists(PIECES, max_size=6).map("".join))
def test_the_short_way_has_the_outcome_of_jinja(text: str) -> None:
    assert outcome(text, quick=True) == outcome(text, quick=False)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_the_short_way_sees_the_names_that_jinja_sees(text: str) -> None:
    try:
        expected: frozenset[str] | None = templates._jinja_variables(text)
    except TemplateFault:
        expected = None
    try:
        found: frozenset[str] | None = variables_of(text)
    except TemplateFault:
        found = None
    assert found == expected


def test_text_without_markup_is_left_byte_for_byte() -> None:
    text = "a {b} $c \r\n\t'\"<>& \n"
    assert render_text(text, VALUES) == text


@pytest.mark.parametrize(
    "text",
    [
        "{{ unknown }}",
        "{{ nonce",
        "{% if %}",
        "{{ nonce + 1 }}",
        "{{ 1 / 0 }}",
        "{{ nonce.nope.deeper }}",
        "{{ [][3] }}",
        "{% include 'x' %}",
        "{{ nonce | nofilter }}",
    ],
)
def test_what_cannot_be_filled_in_is_a_fault(text: str) -> None:
    with pytest.raises(TemplateFault):
        render_text(text, VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "{{ nonce.__class__.__mro__ }}",
        "{{ ''.__class__ }}",
        "{{ nonce.format.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(nonce) }}",
        "{{ range(10 ** 9) | list }}",
    ],
)
def test_a_template_cannot_leave_its_sandbox(text: str) -> None:
    with pytest.raises(TemplateFault):
        render_text(text, VALUES)


@pytest.mark.parametrize("text", ["{{ [1, 2] | random }}", "{{ lipsum() }}"])
def test_chance_has_no_place_in_a_template(text: str) -> None:
    with pytest.raises(TemplateFault):
        render_text(text, VALUES)


def test_markup_in_a_value_is_not_filled_in_again() -> None:
    values = {**VALUES, "nonce": "{{ marker }}"}
    assert render_text("{{ nonce }}", values) == "{{ marker }}"
    assert render_text("{{ nonce | trim }}", values) == "{{ marker }}"


def test_keys_and_names_of_secrets_are_left_alone() -> None:
    value: JsonValue = {"{{ nonce }}": ["{{ nonce }}", 1, None, {"$secretRef": "{{ nonce }}"}]}
    assert render_json(value, VALUES) == {
        "{{ nonce }}": ["<nonce>", 1, None, {"$secretRef": "{{ nonce }}"}]
    }
