"""A complete agent for runner-e2e: it does what the ``key: value`` lines of its text say."""

import json
import os
from pathlib import Path

turn = json.loads(Path(os.environ["RUNNER_E2E_TURN_FILE"]).read_text())
memory = Path(os.environ["RUNNER_E2E_STATE_DIR"], "orders.json")


def emit(kind: str, **fields: object) -> None:
    """Append one event."""
    with Path(os.environ["RUNNER_E2E_EVENTS"]).open("a") as events:
        events.write(json.dumps({"type": kind, **fields}) + "\n")


def obey(orders: dict[str, str]) -> None:
    """Do what was asked for in this turn."""
    if "append" in orders:
        with Path(orders["file"]).open("a") as file:
            file.write(orders["append"] + "\n")
    if "status" in orders:
        emit("status", issue=orders["status"])
    if "plan" in orders:
        steps = [f"{number}. Step" for number in range(1, int(orders["steps"]) + 1)]
        emit("plan", body="\n".join([f"# {orders['plan']}", *steps]))
    if "ask" in orders:
        emit("question", id="colour", prompt=orders["ask"], options=orders["options"].split(", "))
    if "call" in orders:
        emit("tool_request", tool=orders["call"], arguments={"to": orders["to"]})
    if "say" in orders:
        emit("message", text=orders["say"])


def go_on(known: dict[str, str]) -> None:
    """Finish what an earlier turn began, now that somebody has decided."""
    if turn["cause"] == "tool_executed" and "again" in known:
        emit("tool_request", tool=known["call"], arguments={"to": known["again"]})
    emit("message", text=known["then"])


orders = dict(line.split(": ", 1) for line in turn["text"].splitlines() if ": " in line)
known = json.loads(memory.read_text()) if memory.exists() else {}
memory.write_text(json.dumps(known | orders))
emit("usage", inputTokens=len(turn["text"]), outputTokens=1, costUsd=0.0001)
if turn["cause"] in {"assigned", "rejected", "message"}:
    obey(orders)
else:
    go_on(known | orders)
