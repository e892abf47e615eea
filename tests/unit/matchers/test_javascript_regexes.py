"""What a regex of a catalog means: what it means in JavaScript, or it is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner_e2e.catalog.expressions import ExpressionError
from runner_e2e.catalog.regexes import compile_regex


def finds(pattern: str, text: str, flags: str = "") -> bool:
    return compile_regex(pattern, flags).search(text, timeout=5) is not None


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "found"),
    [
        # Flags.
        ("abc", "i", "xABCx", True),
        ("é", "i", "É", True),
        ("abc", "", "ABC", False),
        ("^b", "m", "a\nb", True),
        ("^b", "", "a\nb", False),
        ("a$", "m", "a\nb", True),
        ("a$", "m", "a\u2028b", True),
        ("a$", "", "a\n", False),
        ("a$", "", "a", True),
        ("a.b", "", "a\nb", False),
        ("a.b", "", "a\u2029b", False),
        ("a.b", "s", "a\nb", True),
        ("a", "gyd", "a", True),
        # Classes are ASCII, white space is not.
        (r"^\d$", "", "٣", False),
        (r"^\D$", "", "٣", True),
        (r"^\w$", "", "é", False),
        (r"^\w$", "i", "\u017f", False),
        (r"^[^\W]$", "", "é", False),
        (r"\bb", "", "éb", True),
        (r"\Bb", "", "éb", False),
        (r"^\s$", "", "\u00a0", True),
        (r"^\s$", "", "\ufeff", True),
        (r"^[\S]$", "", "\ufeff", False),
        # Escapes.
        (r"^\/\-\.$", "", "/-.", True),
        (r"^\x41\u0042$", "", "AB", True),
        (r"^\ud83d\ude00$", "", "😀", True),
        (r"^\u{1F600}$", "u", "😀", True),
        (r"^u{3}$", "", "uuu", True),
        (r"^\cA$", "", "\x01", True),
        (r"^\0$", "", "\0", True),
        (r"^\t\n\v\f\r$", "", "\t\n\v\f\r", True),
        (r"^\p{Lu}$", "u", "Ä", True),
        (r"^\P{Lu}$", "u", "Ä", False),
        (r"^[\p{Lu}x]+$", "u", "Äx", True),
        (r"^\p{1}$", "", "p", True),
        (r"^\q\Z\A$", "", "qZA", True),
        # Braces that are no repeat are characters.
        ("^a{,3}$", "", "a{,3}", True),
        ("^a{$", "", "a{", True),
        ("^{}$", "", "{}", True),
        ("^(?:ab){e<=1}$", "", "ab{e<=1}", True),
        ("^a{2}$", "", "aa", True),
        ("^a{2,}$", "", "aaaa", True),
        ("^a{0,1}?$", "", "a", True),
        # Brackets.
        ("a[]", "", "a", False),
        ("a[^]", "", "a\n", True),
        ("^[[a]$", "", "[", True),
        ("^[a&&b]+$", "", "a&b", True),
        ("^[a||b~~]+$", "", "|~", True),
        (r"^[\b]$", "", "\b", True),
        (r"^[\]\\]+$", "", "]\\", True),
        ("^[a-]+$", "", "a-", True),
        (r"^[\w-.]+$", "", "a-.", True),
        ("^]$", "", "]", True),
        # Groups.
        (r"^(?<year>\d{4})-\k<year>$", "", "2026-2026", True),
        (r"^(?<a$b>x)\k<a$b>$", "", "xx", True),
        (r"^(a)?b\1c$", "", "bc", True),
        (r"^(a)\1$", "", "aa", True),
        (r"\k<x>", "", "k<x>", True),
        (r"(?<=\$)\d+", "", "$12", True),
        (r"(?<!\$)\b\d+", "", "$12", False),
        (r"a(?=b)", "", "ab", True),
        (r"a(?!b)", "", "ab", False),
        (r"^(a>b)$", "", "a>b", True),
        (r"^(?:\(|[(])+$", "", "((", True),
        # Nothing of the other dialect's comments or blanks.
        ("a #b", "", "a #b", True),
    ],
)
def test_a_pattern_means_what_it_means_in_javascript(
    pattern: str, flags: str, text: str, found: bool
) -> None:
    assert finds(pattern, text, flags) is found


@pytest.mark.parametrize(
    ("pattern", "flags", "reason"),
    [
        ("a", "v", "'v' is not supported"),
        ("a", "x", "no regex flag"),
        ("a", "gg", "given twice"),
        ("(", "", "not closed"),
        (")", "", "not opened"),
        ("[a", "", "not closed"),
        ("a\\", "", "ends in a backslash"),
        ("*a", "", "nothing to repeat"),
        ("a**", "", "nothing to repeat"),
        ("a++", "", "nothing to repeat"),
        ("a|+", "", "nothing to repeat"),
        ("^*", "", "nothing to repeat"),
        ("(?:*)", "", "nothing to repeat"),
        ("a{2,1}", "", "counts down"),
        ("a{99999999999999999999}", "", "repeats too often"),
        ("[z-a]", "", "counts down"),
        (r"[\w-z]", "u", "character to character"),
        (r"(a)\2", "", "no group 2"),
        (r"(?<a>x)\k<b>", "", "no group is called"),
        ("(?<a>x)(?<a>y)", "", "two groups"),
        ("(?<1a>x)", "", "no name"),
        ("(?<>x)", "", "no name"),
        ("(?P<a>x)", "", "no group that begins"),
        ("(?i:a)", "", "no group that begins"),
        ("(?>a)", "", "no group that begins"),
        ("(?#a)", "", "no group that begins"),
        ("(?R)", "", "no group that begins"),
        (r"\q", "u", "means nothing"),
        (r"\p{Nonsense}", "u", "is wrong"),
        (r"\u{110000}", "u", "last code point"),
        ("{", "u", "must be escaped"),
        ("]", "u", "must be escaped"),
        ("a" * 10_001, "", "longer than"),
        ("(" * 101 + ")" * 101, "", "nested deeper"),
        ("(?:a{9999}){9999}", "", "repeats come to more"),
        ("((a{999}){99}){9}", "", "repeats come to more"),
        ("a{999999}", "", "repeats come to more"),
    ],
)
def test_what_javascript_refuses_or_would_eat_the_machine_is_refused(
    pattern: str, flags: str, reason: str
) -> None:
    with pytest.raises(ExpressionError, match=reason):
        compile_regex(pattern, flags)


def test_a_wide_repeat_without_a_great_minimum_is_fine() -> None:
    assert finds("^.{0,90000}$", "x" * 80_000)


@given(
    pattern=st.text(alphabet="ab()[]{}?*+|\\^$.,-<>=!:1 2dwskpuxc", max_size=24),
    flags=st.sampled_from(["", "u", "im", "su"]),
)
@settings(max_examples=400)
def test_any_text_is_either_a_regex_or_refused(pattern: str, flags: str) -> None:
    try:
        compiled = compile_regex(pattern, flags)
    except ExpressionError:
        return
    compiled.search("ab1 " * 3, timeout=5)


@given(text=st.text(min_size=1, max_size=12))
def test_an_escaped_text_finds_itself(text: str) -> None:
    pattern = "".join(f"\\{c}" if c in r"\^$.*+?()[]{}|/" else c for c in text)
    assert finds(f"^(?:{pattern})$", text)
