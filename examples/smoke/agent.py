"""A scripted agent: it follows a few plain instructions and needs no account.

It stands where a real agent would: a program that reads its task on stdin, works in the current
directory and prints its answer. What it understands, one instruction a line:

    Write TEXT to the file NAME.
    Add the numbers A, B and C.        -> keeps the sum for "the sum" in a later line
    Reply with exactly: TEXT           -> the answer; "{sum}" in it becomes the sum
"""

import re
import sys
from pathlib import Path

WRITE = re.compile(r"^Write (?P<text>.+) to the file (?P<name>[\w.-]+)\.$")
ADD = re.compile(r"^Add the numbers (?P<numbers>.+)\.$")
REPLY = re.compile(r"^Reply with exactly: (?P<text>.+)$")


def follow(task: str) -> str | None:
    """Do what the task says and return the answer, if it asked for one."""
    total, answer = 0, None
    for line in map(str.strip, task.splitlines()):
        if found := WRITE.match(line):
            Path(found["name"]).write_text(found["text"] + "\n", encoding="utf-8")
        elif found := ADD.match(line):
            total = sum(int(number) for number in re.findall(r"-?\d+", found["numbers"]))
        elif found := REPLY.match(line):
            answer = found["text"].replace("{sum}", str(total))
    return answer


def main() -> int:
    """Answer on stdout; without an answer say so and fail, as an agent should."""
    answer = follow(sys.stdin.read())
    if answer is None:
        print("I was not asked for a reply.", file=sys.stderr)
        return 1
    print(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
