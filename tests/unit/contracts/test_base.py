"""The one reader and the one serializer."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError, create_model

from runner_e2e.contracts import scalars
from runner_e2e.contracts.base import (
    MAX_REASONS,
    CatalogModel,
    Document,
    Omittable,
    _AbsentNotNull,
    canonical_json,
    digest,
    dump,
    dump_tree,
    parse,
)
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.scalars import Amount, Count, JsonObject, JsonValue
from runner_e2e.contracts.task import ChatOptions
from runner_e2e.errors import DocumentError
from tests.support.documents import make_campaign, make_result


class Sample(Document):
    always: int
    nullable: int | None
    omittable: Omittable[int] = None
    open_null: int | None = None
    amount: Omittable[Amount] = None
    free: JsonValue = 0
    usage: JsonObject | None = None
    words: Omittable[dict[str, Count]] = None


SMALLEST = b'{"always":1,"nullable":null}'


def read(text: str | bytes) -> Sample:
    return parse(Sample, text if isinstance(text, bytes) else text.encode(), "sample.json")


def reason(text: str | bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        read(text)
    assert caught.value.source == "sample.json"
    assert str(caught.value) == f"sample.json: {caught.value.reason}"
    assert "\n" not in str(caught.value)
    return caught.value.reason


def with_free(value: str) -> str:
    return f'{{"always":1,"nullable":null,"free":{value}}}'


# Optionality


def test_a_nullable_field_is_always_written() -> None:
    assert dump(Sample(always=1, nullable=None)) == SMALLEST + b"\n"


def test_a_nullable_field_must_be_there() -> None:
    assert reason('{"always":1}') == "nullable: field required"


def test_an_omittable_field_set_to_none_is_not_written() -> None:
    assert dump(Sample(always=1, nullable=None, omittable=None)) == SMALLEST + b"\n"
    assert dump_tree(Sample(always=1, nullable=None, omittable=None)) == json.loads(SMALLEST)


def test_an_omittable_field_keeps_a_zero() -> None:
    assert dump_tree(Sample(always=1, nullable=0, omittable=0))["omittable"] == 0


def test_an_omittable_field_refuses_null_in_json() -> None:
    assert reason('{"always":1,"nullable":null,"omittable":null}').startswith("omittable: ")


def test_an_open_null_is_written_exactly_if_it_was_set() -> None:
    assert dump(Sample(always=1, nullable=None, open_null=None)) == (
        b'{"always":1,"nullable":null,"openNull":null}\n'
    )
    assert dump(read(SMALLEST)) == SMALLEST + b"\n"
    unset_in_code = Result.model_validate(make_result("smoke.scripted.local.hello"))
    assert "issueIdentifier" not in dump_tree(unset_in_code)


def test_omittable_refuses_a_type_that_is_never_none() -> None:

    with pytest.raises(TypeError, match="optional type"):
        TypeAdapter(Annotated[int, _AbsentNotNull()])


# Strictness


@pytest.mark.parametrize("value", ['"1"', "1.0", "true", "null", "[1]", "1e0"])
def test_a_whole_number_is_nothing_else(value: str) -> None:
    assert reason(f'{{"always":{value},"nullable":null}}').startswith("always: ")


def test_documents_are_frozen() -> None:
    sample = read(SMALLEST)
    with pytest.raises(ValidationError, match="frozen"):
        sample.always = 2


def test_a_person_may_not_write_an_unknown_field_and_a_machine_may() -> None:
    class Written(CatalogModel):
        name: str

    with pytest.raises(ValidationError, match="nmae"):
        Written.model_validate_json('{"name":"x","nmae":"y"}')
    assert read('{"always":1,"nullable":null,"future":{"x":[1]}}') == read(SMALLEST)


def test_what_a_person_wrote_may_have_grown_inside_a_document() -> None:
    tree = json.loads(dump(make_result("smoke.scripted.local.hello")))
    tree["matcherResults"] = [
        {
            "matcher": {"kind": "file_exists", "path": "a", "future": 1},
            "passed": True,
            "detail": "",
        }
    ]
    (seen,) = parse(Result, json.dumps(tree).encode(), "result.json").matcher_results or ()
    assert seen.matcher.kind == "file_exists"


# Bytes


def test_a_byte_order_mark_and_carriage_returns_are_tolerated() -> None:
    text = b'\xef\xbb\xbf{\r\n  "always": 1,\r\n  "nullable": null\r\n}\r\n'
    assert read(text) == read(SMALLEST)


def test_of_a_key_that_occurs_twice_the_last_counts() -> None:
    assert read('{"always":1,"nullable":null,"always":2}').always == 2
    assert reason('{"always":1,"nullable":null,"always":"x"}').startswith("always: ")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    "place",
    [
        '{"always":@,"nullable":null}',
        '{"always":1,"nullable":@}',
        '{"always":1,"nullable":null,"amount":@}',
        '{"always":1,"nullable":null,"free":@}',
        '{"always":1,"nullable":null,"free":[{"deep":[@]}]}',
        '{"always":1,"nullable":null,"usage":{"cost":@}}',
        '{"always":1,"nullable":null,"unknownField":@}',
        '{"always":1,"nullable":null,"unknownField":[{"deep":@}]}',
    ],
)
def test_numbers_that_json_has_no_word_for_are_refused_everywhere(place: str, word: str) -> None:
    assert reason(place.replace("@", word))


def test_those_words_are_fine_inside_text() -> None:
    assert read(with_free('"NaN, -Infinity"')).free == "NaN, -Infinity"


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_big_for_a_double_is_refused(number: str) -> None:
    assert reason(with_free(number)) == "free: a number must be finite"
    assert reason(f'{{"always":1,"nullable":null,"amount":{number}}}').startswith("amount: ")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan")], {"x": 2**64}])
def test_code_cannot_build_what_could_not_be_read(value: Any) -> None:
    with pytest.raises(ValidationError):
        Sample(always=1, nullable=None, free=value)
    with pytest.raises(ValidationError):
        Sample(always=1, nullable=None, usage={"x": value})


def test_integers_of_64_bits_survive_and_longer_ones_are_refused() -> None:
    for number in (-(2**63), 2**63 - 1, 2**64 - 1):
        assert dump_tree(read(with_free(str(number))))["free"] == number
    assert reason(with_free(str(2**64))) == "free: an integer must fit in 64 bits"
    assert reason(with_free("9" * 5_000)).startswith("invalid JSON: number out of range")


def test_free_json_is_as_deep_as_a_campaign_can_carry() -> None:
    assert isinstance(read(with_free("[" * 99 + "1" + "]" * 99)).free, list)
    assert (
        reason(with_free("[" * 100 + "1" + "]" * 100))
        == "free: at most 100 levels of JSON fit here"
    )
    result = json.loads(dump(make_result("smoke.scripted.local.hello")))
    result["usage"] = json.loads('{"x":' * 99 + "1" + "}" * 99)
    campaign = make_campaign([parse(Result, json.dumps(result).encode(), "result.json")])
    assert parse(Campaign, dump(campaign), "campaign.json") == campaign


@pytest.mark.parametrize("depth", [300, 5_000, 200_000])
@pytest.mark.parametrize("place", ["free", "unknownField", "always"])
def test_bottomless_json_is_an_error_like_any_other(depth: int, place: str) -> None:
    text = f'{{"always":1,"nullable":null,"{place}":{"[" * depth}{"]" * depth}}}'
    assert reason(text).startswith("invalid JSON: recursion limit exceeded at line 1 column ")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b'{"always":1,', "line 1 column 12; it begins with '{\"always\":1,'"),
        (b'{"always":1}}', "trailing characters at line 1 column 13"),
        (b"<!doctype html><title>502", "it begins with '<!doctype html><title>502'"),
        (b"\xff\xfe{\x00", r"it begins with '\\xff\\xfe{\x00'"),
        (b'{"always":1,"nullable":null,"free":"\xff"}', "invalid unicode"),
        (b'{"always":1,"nullable":null,"free":"\\ud800"}', "line 1 column"),
        (b"\x00" * 10, "it begins with"),
    ],
)
def test_what_is_no_json_is_described_by_place_and_beginning(data: bytes, said: str) -> None:
    assert said in reason(data)


def test_a_truncated_document_is_no_document_wherever_it_ends() -> None:
    whole = dump(make_result("smoke.scripted.local.hello")).rstrip()
    for end in range(len(whole)):
        with pytest.raises(
            DocumentError, match=r"^result.json: invalid JSON: .* at line 1 column|empty"
        ):
            parse(Result, whole[:end], "result.json")


@pytest.mark.parametrize("data", [b"null", b"[]", b"1", b'"text"', b"true"])
def test_what_is_json_but_no_object_is_named_as_such(data: bytes) -> None:
    assert reason(data).startswith("the document: input should be an object")


def test_our_own_names_of_fields_are_unknown_on_the_wire() -> None:
    assert read('{"always":1,"nullable":null,"open_null":5}').open_null is None
    assert Sample(always=1, nullable=None, open_null=5).open_null == 5


def test_half_of_a_surrogate_pair_does_not_cost_the_document() -> None:
    broken = Sample(
        always=1,
        nullable=None,
        amount=1e30,
        free=["\udcff.txt", {"\U0001f9ea": "\u00e9\ud800"}],
        usage={"\ud800": 1.5},
    )
    whole = read(dump(broken))
    assert whole.free == ["\ufffd.txt", {"\U0001f9ea": "\u00e9\ufffd"}]
    assert whole.usage
    assert set("".join(whole.usage)) == {"\ufffd"}
    assert dump(whole) == dump(broken)


# Paths


def campaign_tree() -> dict[str, Any]:
    result = json.loads(dump(make_result("smoke.scripted.local.hello")))
    result["turnTimings"] = [
        {
            "turn": 1,
            "submittedAt": "2026-11-30T02:00:00.000Z",
            "runStartedAt": None,
            "runFinishedAt": None,
            "schedulerLatencyMs": None,
            "runDurationMs": None,
            "responseLatencyMs": None,
            "runId": "r",
            "leaseAcquisitionOutcome": "created",
        }
    ]
    result["matcherResults"] = [
        {"matcher": {"kind": "message_ordered", "expected": ["a"]}, "passed": True, "detail": ""}
    ]
    tree: dict[str, Any] = json.loads(dump(make_campaign()))
    tree["results"] = [result, json.loads(json.dumps(result))]
    return tree


def campaign_reason(tree: dict[str, Any]) -> str:
    with pytest.raises(DocumentError) as caught:
        parse(Campaign, json.dumps(tree).encode(), "campaign.json")
    return caught.value.reason


def test_the_tree_of_these_tests_is_sound() -> None:
    campaign = parse(Campaign, json.dumps(campaign_tree()).encode(), "campaign.json")
    assert len(campaign.results) == 2


def test_a_bad_value_is_named_by_its_path() -> None:
    tree = campaign_tree()
    tree["results"][1]["turnTimings"][0]["turn"] = 0
    assert campaign_reason(tree) == (
        "results[1].turnTimings[0].turn: input should be greater than or equal to 1"
    )


def test_a_number_of_two_kinds_has_one_message() -> None:
    tree = campaign_tree()
    tree["results"][0]["durationMs"] = "12"
    assert campaign_reason(tree) == "results[0].durationMs: input should be a number from 0"


def test_the_path_shows_no_member_of_a_union() -> None:
    tree = campaign_tree()
    del tree["results"][0]["matcherResults"][0]["matcher"]["expected"]
    tree["results"][1]["matcherResults"][0]["matcher"]["expected"][0] = 7
    assert campaign_reason(tree) == (
        "results[0].matcherResults[0].matcher.expected: field required; "
        "results[1].matcherResults[0].matcher.expected[0]: input should be a valid string"
    )


def test_an_unknown_kind_names_the_kinds_that_there_are() -> None:
    tree = campaign_tree()
    tree["results"][0]["matcherResults"][0]["matcher"]["kind"] = "vibes"
    told = campaign_reason(tree)
    assert told.startswith("results[0].matcherResults[0].matcher: input tag 'vibes' ")
    assert "'message_exact'" in told


def test_many_bad_values_are_counted_not_listed() -> None:
    words = {f"w{index}": -1 for index in range(MAX_REASONS + 5)}
    told = reason(json.dumps({"always": 1, "nullable": None, "words": words}))
    assert told.count("words.w") == MAX_REASONS
    assert told.endswith("; and 5 more")


@pytest.mark.parametrize("key", ["\n::error::forged", "\x1b[31m", "x" * 100_000, "a b", "\u202e"])
def test_a_hostile_key_cannot_forge_a_line_or_flood_the_log(key: str) -> None:
    told = reason(json.dumps({"always": 1, "nullable": None, "words": {key: -1}}))
    assert told.isascii()
    assert told.isprintable()
    assert len(told) < 700
    assert told.startswith("words[")


def test_a_hostile_tag_cannot_forge_a_line_either() -> None:
    tree = campaign_tree()
    tree["results"][0]["matcherResults"][0]["matcher"]["kind"] = "\n::error::" + "x" * 100_000
    told = campaign_reason(tree)
    assert told.isprintable()
    assert len(told) < 500


@pytest.mark.parametrize("step", ["say", 7, None, [], ["say"], {}, {"sing": "x"}])
def test_a_chat_step_that_is_none_is_told_the_steps_that_there_are(step: object) -> None:
    with pytest.raises(ValidationError, match="a step is one of say, expect_idle"):
        ChatOptions.model_validate_json(json.dumps({"script": [step]}))


# Digests


def test_canonical_json_sorts_keys_and_keeps_lists() -> None:
    assert canonical_json({"b": [2, 1], "a": {"d": "\u00e9", "c": None}}) == (
        b'{"a":{"c":null,"d":"\xc3\xa9"},"b":[2,1]}'
    )
    # The SHA-256 of `{"a":1,"b":2}` as sha256sum prints it.
    assert digest({"b": 2, "a": 1}) == (
        "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
    )


def test_the_kinds_of_matchers_are_the_contracts_fifteen() -> None:
    schema = TypeAdapter(Matcher).json_schema()
    assert len(schema["discriminator"]["mapping"]) == 15
    assert all(re.fullmatch(r"[a-z_]+", kind) for kind in schema["discriminator"]["mapping"])


WRONG = "2026-13-01T00:00:00.000Z"
SAID = {
    scalars.Timestamp: "a timestamp such as 2026-11-30T20:05:42.123Z",
    scalars.HttpUrl: "an http or https address",
    scalars.Sha256: "64 lower-case hex digits",
    scalars.ItemId: "an id of lower-case letters",
    scalars.ExecutionId: "suite.profile.environment.case",
    scalars.ResultExecutionId: "suite.profile.environment.case",
    scalars.CampaignId: "a campaign id",
    scalars.RelativePath: "a relative path",
}


@pytest.mark.parametrize("kind", SAID, ids=list(SAID.values()))
def test_what_a_text_must_be_is_told_in_words_and_not_as_a_pattern(kind: Any) -> None:
    model = create_model("Holder", __base__=Document, value=(kind, ...))
    wrong = "/" if kind is scalars.CampaignId else f"/{WRONG}"
    with pytest.raises(DocumentError) as caught:
        parse(model, json.dumps({"value": wrong}).encode(), "x.json")

    assert SAID[kind] in caught.value.message
    assert "pattern" not in caught.value.message


def test_what_is_no_list_or_too_short_a_list_is_told_in_words_of_json() -> None:
    kind = Annotated[tuple[int, ...], Field(min_length=1, max_length=2)]
    model = create_model("Holder", __base__=Document, value=(kind, ...))
    for value, words in (("x", "a list"), ([], "at least 1 item"), ([1, 2, 3], "at most 2 items")):
        with pytest.raises(DocumentError, match=f"{words}$"):
            parse(model, json.dumps({"value": value}).encode(), "x.json")
