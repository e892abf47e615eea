"""Many documents in memory, without Python going through all of them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_search() -> Iterator[None]:
    """Keep Python from searching for garbage while documents pile up.

    All of them stay and none refers back to another, so every search is in vain; together the
    searches took as long as reading 10,000 results. What is not referred to any more is freed all
    the same. May be nested.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
