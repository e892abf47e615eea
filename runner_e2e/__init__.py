"""Plan, run, judge and publish paid end-to-end campaigns of AI agents."""

__version__ = "0.1.0"
