"""A deterministic agent of a real Paperclip server: it does what ``key: value`` lines say.

The server's ``process`` adapter starts it once a run. It keeps nothing between two runs: where it
stands it reads from the task, its comments and its interactions.
"""

import json
import os
import sys
import time
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SERVER = urlsplit(os.environ["PAPERCLIP_API_URL"])
RUN = os.environ["PAPERCLIP_RUN_ID"]


def call(method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send one request as this run. Returns the status and the answer."""
    connection = HTTPConnection(SERVER.netloc)
    connection.request(
        method,
        f"/api{path}",
        None if body is None else json.dumps(body),
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ['PAPERCLIP_API_KEY']}",
            "X-Paperclip-Run-Id": RUN,
            **headers,
        },
    )
    answer = connection.getresponse()
    return answer.status, json.load(answer)


def get(path: str) -> Any:
    """Read something that must be there."""
    status, answer = call("GET", path)
    if status != HTTPStatus.OK:
        sys.exit(f"GET {path} was answered with {status}")
    return answer


def send(method: str, path: str, body: Any) -> Any:
    """Change something that must be possible."""
    status, answer = call(method, path, body)
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        sys.exit(f"{method} {path} was answered with {status}: {answer}")
    return answer


context = get(f"/heartbeat-runs/{RUN}")["contextSnapshot"]
issue = f"/issues/{context['issueId']}"


def orders_of(text: str | None) -> dict[str, str]:
    """The ``key: value`` lines of a text."""
    return dict(line.split(": ", 1) for line in (text or "").splitlines() if ": " in line)


def plan(marker: str, steps: str) -> None:
    """Write the plan, or its next version, and ask for a decision on it."""
    status, before = call("GET", f"{issue}/documents/plan")
    body = "\n".join([f"# {marker}", *(f"{number}. Step" for number in range(1, int(steps) + 1))])
    document = send(
        "PUT",
        f"{issue}/documents/plan",
        {
            "format": "markdown",
            "title": "plan",
            "body": body,
            **({"baseRevisionId": before["latestRevisionId"]} if status == HTTPStatus.OK else {}),
        },
    )
    revision = document["latestRevisionId"]
    ask(
        "request_confirmation",
        f"plan:{revision}",
        prompt="May the plan be carried out?",
        acceptLabel="Approve plan",
        rejectLabel="Request changes",
        rejectRequiresReason=True,
        supersedeOnUserComment=False,
        target={
            "type": "issue_document",
            "issueId": context["issueId"],
            "key": "plan",
            "documentId": document["id"],
            "revisionId": revision,
            "revisionNumber": document["latestRevisionNumber"],
        },
    )


def ask(kind: str, key: str, **payload: Any) -> None:
    """Open an interaction; its answer starts the next run."""
    send(
        "POST",
        f"{issue}/interactions",
        {
            "kind": kind,
            "idempotencyKey": key,
            "title": "Runner",
            "continuationPolicy": "wake_assignee",
            "payload": {"version": 1, **payload},
        },
    )


def question(prompt: str, options: str, identity: str = "colour") -> None:
    """Ask for one of the options."""
    choices = [{"id": option.lower(), "label": option} for option in options.split(", ")]
    one = {"id": identity, "prompt": prompt, "selectionMode": "single", "required": True}
    ask("ask_user_questions", f"{identity}:{RUN}", questions=[{**one, "options": choices}])


def use_tool(name: str, arguments: str) -> bool:
    """Call a governed tool. Returns whether a person has to allow it first."""
    session = send("POST", "/tool-gateway/sessions", {"issueId": context["issueId"]})
    token = {"X-Paperclip-Tool-Gateway-Token": session["token"]}
    _, listed = call("GET", "/tool-gateway/tools", **token)
    tools = listed["tools"] if isinstance(listed, dict) else listed
    wanted = name.replace("_", "-")
    full = next(tool["name"] for tool in tools if tool["name"].endswith(f":{wanted}"))
    status, answer = call(
        "POST",
        "/tool-gateway/tools/call",
        {"tool": full, "parameters": json.loads(arguments), "idempotencyKey": RUN},
        **token,
    )
    if status != HTTPStatus.OK and answer.get("reasonCode") != "approval_required":
        sys.exit(f"the tool was answered with {status}: {answer}")
    return status == HTTPStatus.CONFLICT


def pay(cents: int) -> None:
    """Enter what this run cost into the company's ledger."""
    send(
        "POST",
        f"/companies/{os.environ['PAPERCLIP_COMPANY_ID']}/cost-events",
        {
            "agentId": os.environ["PAPERCLIP_AGENT_ID"],
            "issueId": context["issueId"],
            "provider": "scripted",
            "biller": "scripted",
            "model": "scripted-1",
            "billingType": "metered_api",
            "costStatus": "reported",
            "costCents": cents,
            "inputTokens": 100,
            "cachedInputTokens": 0,
            "outputTokens": 10,
            "occurredAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    )


def rest(status: str, comment: str) -> None:
    """Say something and hand the task back."""
    code, answer = call("PATCH", issue, {"status": status, "comment": comment})
    if code >= HTTPStatus.MULTIPLE_CHOICES:
        sys.exit(f"the status {status} was answered with {code}: {answer}")


def obey(orders: dict[str, str]) -> None:
    """Do what a text says."""
    print(f"orders: {sorted(orders)}", flush=True)
    waits = False
    if "show" in orders:
        print(os.environ[orders["show"]], flush=True)
    if "digest" in orders:
        orders["say"] = sha256(os.environ[orders["digest"]].encode()).hexdigest()
    if "append" in orders:
        with Path(orders["file"]).open("a") as file:
            file.write(orders["append"] + "\n")
    if "cents" in orders:
        pay(int(orders["cents"]))
    if "plan" in orders:
        plan(orders["plan"], orders["steps"])
        waits = True
    if "ask" in orders:
        question(orders["ask"], orders["options"])
        waits = True
    if "call" in orders:
        waits = use_tool(orders["call"], orders["arguments"])
    if "pause" in orders:
        time.sleep(float(orders["pause"]))
    if "exit" in orders:
        sys.exit(int(orders["exit"]))
    hand_back(orders, waits=waits)


def hand_back(orders: dict[str, str], *, waits: bool) -> None:
    """End the run with a comment and a status in which nothing more happens by itself."""
    status = orders.get("status", "in_review" if waits else "done")
    if status != "none":
        rest(status, orders.get("say", "I wait."))
    if "linger" in orders:
        time.sleep(float(orders["linger"]))


first = orders_of(get(issue)["description"])
interaction = context.get("interactionId")
comment = context.get("wakeCommentId")
if interaction:
    found = next(one for one in get(f"{issue}/interactions") if one["id"] == interaction)
    if found["status"] == "rejected" and "toolAction" not in found["payload"]:
        obey(orders_of(found["result"]["reason"]))
    else:
        rest("done", first["then"])
elif comment:
    comments = get(f"{issue}/comments?order=asc")
    obey(orders_of(next(one["body"] for one in comments if one["id"] == comment)))
else:
    obey(first)
