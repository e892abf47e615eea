"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the fact holds.
settings.register_profile("runner-e2e", deadline=None)
settings.load_profile("runner-e2e")
