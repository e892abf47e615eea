from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.evidence import PNG_SIGNATURE, png_problem
from tests.e2e.publishing.support import make_png


@given(st.binary(max_size=200))
def test_no_bytes_whatever_break_the_check_of_a_picture(data: bytes) -> None:
    assert png_problem(data) is not None
    assert png_problem(make_png() + data) == ("something is appended to the PNG" if data else None)
    assert png_problem(PNG_SIGNATURE + data) is not None
