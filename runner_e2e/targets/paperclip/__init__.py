"""The Paperclip target: a real server per execution, driven over HTTP."""

from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.package import DIRECTORY, find_installation, package_directory
from runner_e2e.targets.paperclip.place import PaperclipPlace
from runner_e2e.targets.paperclip.records import FIXTURES_FILE
from runner_e2e.targets.paperclip.session import PaperclipSession

__all__ = [
    "DIRECTORY",
    "FIXTURES_FILE",
    "Account",
    "PaperclipPlace",
    "PaperclipSession",
    "find_installation",
    "package_directory",
]
