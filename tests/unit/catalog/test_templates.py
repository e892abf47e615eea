from __future__ import annotations

from contextlib import suppress

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


BIG = "9999999999"
GREEDY = [
    f"{{{{ 'x' * {BIG} }}}}",
    f"{{{{ {BIG} * nonce }}}}",
    f"{{{{ [1] * {BIG} }}}}",
    "{{ 9 ** 9 ** 9 }}",
    f"{{{{ '%{BIG}s' % nonce }}}}",
    f"{{{{ '%{BIG}s' | format(nonce) }}}}",
    f"{{{{ '{{:>{BIG}}}'.format(nonce) }}}}",
    f"{{{{ nonce | center({BIG}) }}}}",
    f"{{{{ nonce | indent({BIG}, true) }}}}",
    f"{{{{ [nonce] | tojson(indent={BIG}) }}}}",
    f"{{{{ [nonce] | batch({BIG}, 'x') | list }}}}",
    f"{{{{ nonce | slice({BIG}) | list }}}}",
    f"{{{{ nonce.ljust({BIG}) }}}}",
    f"{{{{ nonce['zfill']({BIG}) }}}}",
    "{{ nonce | attr('rjust') }}",
    "{{ ('x' * 99).replace('x', 'y' * 99) }}",
    "{{ '" + "x" * 1000 + "' | replace('x', '" + "y" * 1000 + "') }}",
    "{{ '" + "x" * 1000 + "' | join('" + "y" * 1000 + "') }}",
    "{{ 'x'" + " | replace('x', 'xxxxxxxx')" * 20 + " }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "{% for a in 'xxxxxxxxxx' %}{% for b in 'xxxxxxxxxx' %}x{% endfor %}{% endfor %}",
    "{% set x = 'xxxx' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    "{% set x %}x{% endset %}{{ x }}",
    "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}",
    "{{ range(99999) | list }}",
    "{{ dict(a=1) }}",
    "{{ " + "9" * 10_000 + " }}",
    "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
    "{{ " + "not " * 5_000 + "1 }}",
    "{{ "
    + " ~ ".join(["nonce"] * 10 + ["('x' | replace('x', '" + "y" * 60_000 + "'))"] * 20)
    + " }}",
]


@pytest.mark.parametrize("text", GREEDY, ids=range(len(GREEDY)))
def test_a_short_template_can_neither_hang_nor_fill_the_memory(text: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        render_text(text, VALUES)

    assert len(caught.value.message) < 500


@pytest.mark.parametrize("text", GREEDY, ids=range(len(GREEDY)))
def test_reading_the_names_in_a_greedy_template_does_not_evaluate_it(text: str) -> None:
    with suppress(TemplateFault):
        assert variables_of(text) <= set(VARIABLES)


@pytest.mark.parametrize("text", ["{{ nonce.upper }}", "{{ nonce['upper'] }}", "{{ self }}"])
def test_a_template_has_no_attributes(text: str) -> None:
    with pytest.raises(TemplateFault, match=r"uses an attribute|names 'self'"):
        render_text(text, VALUES)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ nonce | replace('<', '') | upper }}", "NONCE>"),
        ("{{ nonce | replace('n', 'm', 1) }}", "<monce>"),
        ("{{ nonce[1:3] ~ nonce[0] ~ nonce[-1] }}", "no<>"),
        ("{{ [nonce, 'a'] | join('-') }}", "<nonce>-a"),
        ("{% if nonce in ['a'] %}x{% elif not marker %}y{% else %}{{ 1 + 2 - 3 }}{% endif %}", "0"),
        ("{{ 'a' if nonce is defined else 'b' }}", "a"),
        ("{{ daytona_image | default('none', true) | trim | length }}", "15"),
        ("{# a note #}{% raw %}{{ 'x' * 9 }}{% endraw %}", "{{ 'x' * 9 }}"),
    ],
)
def test_a_template_chooses_and_joins(text: str, filled: str) -> None:
    assert render_text(text, VALUES) == filled


def test_the_filter_that_was_meant_is_named() -> None:
    with pytest.raises(TemplateFault, match=r"uses the filter 'uper' \(did you mean 'upper'"):
        variables_of("{{ nonce | uper }}")
