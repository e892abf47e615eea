"""From a template to the bytes of a page: the frame, the policy and the data island."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from runner_e2e import wording
from runner_e2e.contracts.base import canonical_json
from runner_e2e.resources import resource_directory
from runner_e2e.site import text

if TYPE_CHECKING:
    from jinja2 import Environment

_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "img-src 'self' data: file:; style-src {style}; script-src {script}; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

# JSON knows these as escapes inside strings, and outside strings they do not occur. "<" and ">"
# could end the script element or open a comment; the two line ends are not JavaScript.
_ISLAND_ESCAPES = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a page's style and script come from, and the policy that allows only those.

    Either the addresses or the inline texts are set.
    """

    policy: str
    style_href: str | None = None
    script_href: str | None = None
    style: str = ""
    script: str = ""


@cache
def _resource(name: str) -> bytes:
    return (resource_directory("templates") / "site" / name).read_bytes()


def _asset_name(name: str) -> str:
    return f"{hashlib.sha256(_resource(name)).hexdigest()[:16]}.{name.rpartition('.')[2]}"


def assets() -> dict[str, bytes]:
    """The shared files of a published site, named by their content: path and bytes."""
    return {f"assets/{_asset_name(name)}": _resource(name) for name in ("site.css", "site.js")}


def _source_of(inline: str) -> str:
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def frame(base: str | None) -> Frame:
    """The frame of a page.

    ``base`` is the relative address of the ``assets`` directory, without a slash at its end.
    ``None`` puts both texts into the page, which then is one file that stands alone.
    """
    if base is not None:
        # A page opened as a file has no origin of its own, so there "self" matches nothing.
        return Frame(
            policy=_POLICY.format(style="'self' file:", script="'self' file:"),
            style_href=f"{base}/{_asset_name('site.css')}",
            script_href=f"{base}/{_asset_name('site.js')}",
        )
    style, script = _resource("site.css").decode(), _resource("site.js").decode()
    return Frame(
        policy=_POLICY.format(style=_source_of(style), script=_source_of(script)),
        style=style,
        script=script,
    )


def island(data: Any) -> str:
    """JSON that can stand inside a script element, whatever text is in it."""
    return canonical_json(data).decode().translate(_ISLAND_ESCAPES)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(resource_directory("templates") / "site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "cost": wording.cost,
        "day": text.day,
        "duration": wording.duration,
        "moment": text.moment,
        "number": text.number,
        "plural": wording.plural,
        "visible": wording.brief,
    }
    return environment


def render(template: str, *, data: Any, base: str | None, **context: Any) -> bytes:
    """Fill ``templates/site/<template>``; ``data`` becomes the page's one JSON island."""
    from markupsafe import Markup  # noqa: PLC0415

    around = frame(base)
    page = _environment().get_template(template)
    return page.render(
        frame=around,
        style=Markup(around.style),  # noqa: S704 - our own file
        script=Markup(around.script),  # noqa: S704 - our own file
        island=Markup(island(data)),  # noqa: S704 - escaped by island()
        **context,
    ).encode()
