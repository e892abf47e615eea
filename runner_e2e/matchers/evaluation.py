"""The fifteen matchers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from runner_e2e.catalog.expressions import ExpressionError, parse_path
from runner_e2e.catalog.regexes import compile_regex
from runner_e2e.contracts.base import dump_tree
from runner_e2e.contracts.matcher import (
    ArtifactExists,
    EnvironmentMatcher,
    FileContains,
    FileExact,
    FileExists,
    IssueStatus,
    JsonPath,
    JsonSchema,
    Matcher,
    MessageContains,
    MessageExact,
    MessageOccurrences,
    MessageOrdered,
    MessageRegex,
    RunStatus,
    RuntimeMode,
)
from runner_e2e.contracts.result import MatcherResult
from runner_e2e.matchers.observed import FileRefused, Observed
from runner_e2e.matchers.structure import equality_key, values_at
from runner_e2e.matchers.text import cap, normalise

SECONDS = 2.0
"""How long one regex or schema may take. A useful one takes milliseconds."""

SHOWN = 600
"""Characters of an observed text in a detail; the cap on the whole stands in ``text``."""

SHOWN_FAULT = 200
"""The same of one place where a value does not fit a schema."""

MATCHED = "matched"
UNOBSERVED = "not observed by this target"


Quote = Callable[[str], str]
"""Takes secrets out of a text that is whole; half of one would be found by nobody."""


class Said(NamedTuple):
    """What a matcher says, read only where it did not pass.

    ``detail`` is in our words; ``seen`` and ``faults`` quote what was observed, whole.
    """

    passed: bool
    detail: str = ""
    seen: str | None = None
    faults: tuple[str, ...] = ()

    def words(self, quote: Quote) -> str:
        """Say it in short."""
        if self.seen is not None:
            return f"observed {cap(quote(self.seen), SHOWN)!r}"
        return "; ".join(cap(quote(one), SHOWN_FAULT) for one in self.faults) or quote(self.detail)


def evaluate(
    matchers: Sequence[Matcher], observed: Observed, quote: Quote
) -> tuple[MatcherResult, ...]:
    """Judge an execution by its matchers, in their order. Never raises and never hangs.

    They see what was really observed; only what a detail shows of it goes through ``quote``.
    """
    return tuple(_judge(matcher, observed, quote) for matcher in matchers)


def _judge(matcher: Matcher, observed: Observed, quote: Quote) -> MatcherResult:
    try:
        said = _say(matcher, observed)
    except TimeoutError:
        said = Said(False, f"took longer than {SECONDS:g} s and was stopped")
    except (ExpressionError, FileRefused) as error:
        said = Said(False, str(error))
    detail = MATCHED if said.passed else f"{_shown(matcher, quote)}: {said.words(quote)}"
    return MatcherResult(matcher=matcher, passed=said.passed, detail=cap(detail))


def _shown(matcher: Matcher, quote: Quote) -> str:
    return cap(quote(json.dumps(dump_tree(matcher), ensure_ascii=False)), SHOWN)


def _say(matcher: Matcher, observed: Observed) -> Said:
    for kinds, what, judge in _RULES:
        if isinstance(matcher, kinds):
            seen = what(observed)
            return Said(False, UNOBSERVED) if seen is None else judge(matcher, seen)
    raise AssertionError(f"no rule for {type(matcher).__name__}")


def _compared(passed: bool, seen: Any) -> Said:
    text = seen if isinstance(seen, str) else json.dumps(seen, ensure_ascii=False)
    return Said(passed, seen=text)


def _message_exact(matcher: MessageExact, message: str) -> Said:
    return _compared(normalise(message) == normalise(matcher.expected), message)


def _message_contains(matcher: MessageContains, message: str) -> Said:
    return _compared(normalise(matcher.expected) in normalise(message), message)


def _message_occurrences(matcher: MessageOccurrences, message: str) -> Said:
    expected = normalise(matcher.expected)
    # Python finds the empty text between all characters; nobody means that.
    count = normalise(message).count(expected) if expected else 0
    return Said(count == matcher.count, f"observed {count} times")


def _message_regex(matcher: MessageRegex, message: str) -> Said:
    pattern = compile_regex(matcher.pattern, matcher.flags or "")
    found = pattern.search(normalise(message), timeout=SECONDS) is not None
    return _compared(found, message)


def _message_ordered(matcher: MessageOrdered, message: str) -> Said:
    text = normalise(message)
    position = 0
    for number, fragment in enumerate(matcher.expected, 1):
        expected = normalise(fragment)
        found = text.find(expected, position)
        if found < 0:
            return Said(False, f"fragment {number} is not there or comes too early")
        position = found + len(expected)
    return Said(True, MATCHED)


def _run_status(matcher: RunStatus, statuses: tuple[str, ...]) -> Said:
    if not statuses:
        return Said(False, "there was no run")
    return _compared(set(statuses) == {matcher.expected}, ", ".join(statuses))


def _equal(matcher: IssueStatus | RuntimeMode | EnvironmentMatcher, seen: str) -> Said:
    return _compared(seen == matcher.expected, seen)


def _file_exists(matcher: FileExists, files: Any) -> Said:
    return Said(files.has_file(matcher.path), "there is no such file")


def _file_content(matcher: FileExact | FileContains, files: Any) -> Said:
    data = files.read_file(matcher.path)
    if data is None:
        return Said(False, "there is no such file")
    expected = matcher.expected.encode("utf-8", "surrogatepass")
    passed = data == expected if isinstance(matcher, FileExact) else expected in data
    return _compared(passed, data.decode("utf-8", "replace"))


def _artifact_exists(matcher: ArtifactExists, artifacts: Any) -> Said:
    passed = any(
        artifact.name == matcher.name and matcher.mime_type in {None, artifact.mime_type}
        for artifact in artifacts
    )
    return _compared(passed, [f"{item.name} ({item.mime_type})" for item in artifacts[:20]])


def _json_path(matcher: JsonPath, value: Any) -> Said:
    """Compare what a path leads to; with a wildcard every value must be equal, and one be there."""
    found = values_at(value, parse_path(matcher.path))
    if not found:
        return Said(False, "nothing is there")
    expected = equality_key(matcher.expected)
    wrong = [item for item in found if equality_key(item) != expected]
    return _compared(not wrong, wrong[:3])


def _json_schema(matcher: JsonSchema, value: Any) -> Said:
    # Few catalogs have a schema, and its library is slow to load.
    from runner_e2e.matchers.schema import schema_errors  # noqa: PLC0415 - as just said

    errors = schema_errors(value, matcher.schema_, SECONDS)
    return Said(not errors, faults=tuple(errors))


Rule = tuple[tuple[type[Any], ...], Callable[[Observed], Any], Callable[[Any, Any], Said]]

_RULES: tuple[Rule, ...] = (
    ((MessageExact,), lambda seen: seen.last_run_message, _message_exact),
    ((MessageContains,), lambda seen: seen.message, _message_contains),
    ((MessageOccurrences,), lambda seen: seen.message, _message_occurrences),
    ((MessageRegex,), lambda seen: seen.message, _message_regex),
    ((MessageOrdered,), lambda seen: seen.message, _message_ordered),
    ((IssueStatus,), lambda seen: seen.issue_status, _equal),
    ((RunStatus,), lambda seen: seen.run_statuses, _run_status),
    ((RuntimeMode,), lambda seen: seen.runtime_mode, _equal),
    ((EnvironmentMatcher,), lambda seen: seen.environment, _equal),
    ((FileExists,), lambda seen: seen.files, _file_exists),
    ((FileExact, FileContains), lambda seen: seen.files, _file_content),
    ((ArtifactExists,), lambda seen: seen.artifacts, _artifact_exists),
    ((JsonPath,), lambda seen: seen.json, _json_path),
    ((JsonSchema,), lambda seen: seen.json, _json_schema),
)
"""Which part of the observation each matcher looks at, and what it asks of it."""
