"""An HTML page from titles, prose, tables and pictures; everything it needs is inside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from grfpp.io.atomic import atomic_write


@dataclass(frozen=True)
class Picture:
    """An image with words for those who see it and for those who do not."""

    #: A data address, as `grfpp_lab.report.figures.data_uri` makes it.
    source: str
    #: What it shows, for screen readers.
    alt: str
    #: Words below it, the second smaller.
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a name and the style of its curve."""

    name: str
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side under one caption; half as many in a row on a narrow screen."""

    pictures: Sequence[Picture]
    caption: str = ""
    columns: int = 4
    legend: Sequence[Key] = ()
    kind: str = "gallery"


@dataclass(frozen=True)
class TableGroup:
    """Rows of a table under a heading of their own."""

    title: str
    rows: Sequence[Sequence[str]]
    strong: Sequence[int] = ()


@dataclass(frozen=True)
class Table:
    """A table; columns whose number is in `words` are set left, all others right.

    Columns in `wraps` may break their lines.
    """

    columns: Sequence[str]
    groups: Sequence[TableGroup]
    caption: str = ""
    words: Sequence[int] = (0,)
    wraps: Sequence[int] = ()
    kind: str = "table"


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    title: str
    kind: str = "heading"


@dataclass(frozen=True)
class Facts:
    """Names and values in small print."""

    facts: Sequence[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True)
class Judgement:
    """A claim, what was measured, and whether they agree."""

    #: The answer.
    word: str
    #: ``"good"``, ``"bad"`` or ``"open"``: its colour.
    tone: str
    #: Pairs of who says it and what.
    lines: Sequence[tuple[str, str]]
    kind: str = "judgement"


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs, and what follows them.

    Text in back-ticks is set as code; ``[words](#anchor)`` leads to the section of that `anchor`.
    """

    title: str
    paragraphs: Sequence[str] = ()
    blocks: Sequence[Gallery | Table | Heading | Facts | Judgement] = ()
    anchor: str = ""


def render_page(
    title: str, lead: Sequence[str], sections: Sequence[Section], footer: str = ""
) -> str:
    """Render a whole page as text."""
    from jinja2 import Environment
    from markupsafe import Markup, escape

    def prose(text: str) -> Markup:
        # A line may end before a ±, but not after it.
        text = str(escape(text)).replace("± ", "±\N{NO-BREAK SPACE}")
        code = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
        return Markup(re.sub(r"\[([^\]]+)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', code))

    # No template is looked up at run time, so none can be missing from an odd installation.
    here = files("grfpp_lab.report")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["prose"] = prose
    template = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    return template.render(
        title=title,
        lead=lead,
        sections=sections,
        footer=footer,
        style=Markup((here / "page.css").read_text(encoding="utf-8")),
    )


def write_page(path: Path, html: str) -> None:
    """Write a page, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(html.encode())
