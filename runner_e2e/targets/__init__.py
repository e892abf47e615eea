"""The systems under test, each behind the Session protocol."""
