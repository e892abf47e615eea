"""Which executions are asked for. A paid run never starts by accident."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_e2e.catalog import Catalog, environment_key, nearest
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Selection
from runner_e2e.contracts.vocabulary import EXECUTED_STATES
from runner_e2e.errors import NothingSelected, UsageError

DIMENSIONS = ("suite", "group", "profile", "environment", "case", "id")
"""In the order in which they are checked and written down."""

RerunKind = Literal["failed", "unresolved", "flaky"]
RERUN_KINDS: tuple[RerunKind, ...] = ("failed", "unresolved", "flaky")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selectors:
    """What was asked for. Values of one dimension are alternatives, except of ``group``."""

    all_: bool = False
    suite: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    case: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    rerun: str | None = None
    """The id of the campaign whose cells are run again."""

    @classmethod
    def parse(
        cls,
        *,
        all_: bool = False,
        suite: Sequence[str] = (),
        group: Sequence[str] = (),
        profile: Sequence[str] = (),
        environment: Sequence[str] = (),
        case: Sequence[str] = (),
        id: Sequence[str] = (),  # noqa: A002 - the flag is called --id
    ) -> Selectors:
        """Read flags: each may be repeated and hold several values between commas.

        Raises :class:`UsageError` for a blank value, for selectors that exclude each other, and
        when there is none at all.
        """
        selectors = cls(
            all_=all_,
            suite=_values("suite", suite),
            group=_values("group", group),
            profile=_values("profile", profile),
            environment=_values("environment", environment),
            case=_values("case", case),
            id=_values("id", id),
        )
        named = [f"--{name}" for name in DIMENSIONS if getattr(selectors, name)]
        if all_ and named:
            raise UsageError(
                f"--all cannot be combined with {' and '.join(named)}",
                hint="--all means everything; leave it out to select",
            )
        if selectors.id and len(named) > 1:
            others = " and ".join(flag for flag in named if flag != "--id")
            raise UsageError(
                f"--id cannot be combined with {others}",
                hint="a whole execution id says it all; leave the others out",
            )
        if not all_ and not named:
            raise UsageError(
                "nothing says what to run",
                hint="name it with --suite, --group, --profile, --environment, --case or --id; "
                "--all means everything",
            )
        return selectors

    def document(self) -> Selection:
        """The same, as the plan carries it."""
        values: dict[str, object] = {"all": self.all_}
        values |= {name: getattr(self, name) for name in DIMENSIONS}
        if self.rerun is not None:
            values["rerun"] = self.rerun
        return Selection.model_validate(values)


def _values(name: str, flags: Sequence[str]) -> tuple[str, ...]:
    values: list[str] = []
    for flag in flags:
        found = [value.strip() for value in flag.split(",")]
        # "a," is somebody's trailing comma; "," or " " is an input that nobody filled in.
        if not any(found):
            raise UsageError(
                f"--{name} is blank",
                hint=f"leave --{name} out, or name what to run; --all means everything",
            )
        values.extend(value for value in found if value)
    return tuple(dict.fromkeys(values))


def select(
    catalog: Catalog, selectors: Selectors, *, listing: bool = False
) -> tuple[MatrixExecution, ...]:
    """The executions that fit, in catalog order whatever the order of the flags.

    A suite with ``manualOnly`` is left out unless it, or one of its ids, is named. ``listing`` is
    for a table of what there is, and leaves nothing out.
    Raises :class:`UsageError` naming every value that the catalog does not have, and
    :class:`NothingSelected` when each value is known but nothing has them all.
    """
    if not selectors.all_:
        _check_known(catalog.executions, selectors)
    groups = frozenset(selectors.group)
    selected = tuple(
        execution
        for execution in catalog.executions
        if _allows(selectors.suite, execution.suite.id)
        and _allows(selectors.profile, execution.profile.id)
        and _allows_environment(selectors.environment, execution)
        and _allows(selectors.case, execution.task.id)
        and _allows(selectors.id, execution.id)
        and (not groups or groups.issubset(execution.groups))
        and (listing or _is_meant(selectors, execution))
    )
    if not selected:
        raise NothingSelected(
            "no execution fits all selectors" if not selectors.all_ else "the catalog is empty",
            hint="`runner-e2e plan` lists every execution",
        )
    return selected


def _allows(values: tuple[str, ...], value: str) -> bool:
    return not values or value in values


def _is_meant(selectors: Selectors, execution: MatrixExecution) -> bool:
    suite = execution.suite
    return not suite.manual_only or suite.id in selectors.suite or bool(selectors.id)


def _allows_environment(values: tuple[str, ...], execution: MatrixExecution) -> bool:
    environment = execution.environment
    return not values or environment.id in values or environment_key(environment) in values


def _check_known(executions: Iterable[MatrixExecution], selectors: Selectors) -> None:
    known: dict[str, dict[str, None]] = {name: {} for name in DIMENSIONS}
    for execution in executions:
        known["suite"][execution.suite.id] = None
        known["group"].update(dict.fromkeys(execution.groups))
        known["profile"][execution.profile.id] = None
        known["environment"][execution.environment.id] = None
        known["environment"][environment_key(execution.environment)] = None
        known["case"][execution.task.id] = None
        known["id"][execution.id] = None
    messages: list[str] = []
    hints: list[str] = []
    for name in DIMENSIONS:
        unknown = [value for value in getattr(selectors, name) if value not in known[name]]
        if unknown:
            messages.append(f"unknown {_WORDS[name]}: {', '.join(unknown)}")
            hints.extend(_suggestions(unknown, known[name]))
    if messages:
        raise UsageError(
            "; ".join(messages),
            hint="; ".join([*hints, "`runner-e2e plan` lists every execution"]),
        )


_WORDS = {name: name for name in DIMENSIONS} | {"id": "execution id"}


def _suggestions(unknown: Iterable[str], known: Collection[str]) -> list[str]:
    found = (nearest(value, known) for value in unknown)
    return [hint for hint in found if hint is not None]


def parse_only(values: Sequence[str]) -> tuple[RerunKind, ...]:
    """Read ``--only``. Without one, what did not end green: failed and unresolved."""
    names = _values("only", values)
    unknown = [name for name in names if name not in RERUN_KINDS]
    if unknown:
        raise UsageError(
            f"--only takes {', '.join(RERUN_KINDS)}, not {', '.join(unknown)}",
            hint="; ".join(_suggestions(unknown, RERUN_KINDS)) or None,
        )
    return tuple(kind for kind in RERUN_KINDS if kind in names) or ("failed", "unresolved")


def select_rerun(
    catalog: Catalog,
    campaign: Campaign,
    insights: Insights | None = None,
    *,
    only: Collection[RerunKind] = ("failed", "unresolved"),
) -> tuple[MatrixExecution, ...]:
    """The cells of a campaign that ended so, in catalog order.

    A result of attempt 0 never ran: that cell is unresolved. ``insights`` says it more exactly
    where it is at hand. Raises :class:`UsageError` when the catalog has lost such a cell, since
    leaving it out would make the rerun look complete, and :class:`NothingSelected`.
    """
    wanted = _ended_so(campaign, insights, frozenset(only))
    known = {execution.id for execution in catalog.executions}
    lost = sorted(wanted - known)
    if lost:
        raise UsageError(
            f"the catalog no longer has {', '.join(lost[:10])}"
            + (f" and {len(lost) - 10} more" if len(lost) > 10 else ""),  # noqa: PLR2004 - as listed
            hint="plan with the catalog that the campaign was made from, or select with --id",
        )
    selected = tuple(execution for execution in catalog.executions if execution.id in wanted)
    if not selected:
        raise NothingSelected(
            f"campaign {campaign.campaign_id} has no {' or '.join(sorted(only))} executions",
            hint="--allow-empty makes this a success",
        )
    return selected


def _ended_so(
    campaign: Campaign, insights: Insights | None, only: frozenset[RerunKind]
) -> set[str]:
    unresolved = {result.execution_id for result in campaign.results if result.attempt == 0}
    unresolved |= set(campaign.expected) - {result.execution_id for result in campaign.results}
    flaky = {
        result.execution_id for result in campaign.results if result.green and result.attempt > 1
    }
    if insights is not None:
        cells = insights.cells
        unresolved |= {cell.execution_id for cell in cells if cell.state not in EXECUTED_STATES}
        flaky |= {cell.execution_id for cell in cells if cell.flaky}
    failed = {result.execution_id for result in campaign.results if not result.green} - unresolved
    found: set[str] = set()
    for kind, cells_of_kind in (("failed", failed), ("unresolved", unresolved), ("flaky", flaky)):
        if kind in only:
            found |= cells_of_kind
    return found
