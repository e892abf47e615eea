"""``python -m runner_e2e``."""

from runner_e2e.cli.main import main

main()
