"""The page: every figure beside its verdict, and all that is needed to make it again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grfpp
from grfpp.io.atomic import atomic_write
from grfpp_lab.experiments.measuring import title_of
from grfpp_lab.harness.experiment import FEWEST, Holds
from grfpp_lab.harness.machine import hardware, versions
from grfpp_lab.harness.runner import Outcome
from grfpp_lab.report import page as parts
from grfpp_lab.report.figures import gallery, panels_figure
from grfpp_lab.report.page import Section, Table, TableGroup
from grfpp_lab.report.surfaces import image_bytes

_SIGNS = {Holds.YES: "✓", Holds.NOISE: "≈", Holds.NO: "✗"}
_TONES = {Holds.YES: "good", Holds.NOISE: "good", Holds.NO: "bad"}
_ERRORS_SHOWN = 5


def write_report(folder: Path, outcomes: Sequence[Outcome], meta: dict[str, Any]) -> list[Path]:
    """Write ``index.html``, and every figure as PDF and PNG below ``figures``."""
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    written = []
    for outcome in outcomes:
        for claim in outcome.experiment.claims:
            panels = claim.panels(outcome.rows) if outcome.rows else []
            if not panels:
                continue
            drawing = panels_figure(panels)
            for kind in ("pdf", "png"):
                path = figures / f"{claim.name}.{kind}"
                with atomic_write(path) as stream:
                    stream.write(image_bytes(drawing, kind, dpi=160))
                written.append(path)
    page = folder / "index.html"
    parts.write_page(page, report_page(outcomes, meta))
    return [page, *written]


def report_page(outcomes: Sequence[Outcome], meta: dict[str, Any]) -> str:
    """The whole page as text."""
    lead = [
        "Experiments of the paper “Computationally-efficient Graph Modeling with "
        "Refined Graph Random Features”, run again with `grfpp`. Every figure stands beside what "
        "the paper says and what was measured here; where the two differ, the numbers tell how "
        "much."
    ]
    sections = [_summary(outcomes, meta), *(_section(outcome) for outcome in outcomes)]
    skipped = {name: why for outcome in outcomes for name, why in outcome.plan.skipped.items()}
    if skipped:
        lines = [[title_of(name), why] for name, why in skipped.items()]
        table = Table(["data", "why"], [TableGroup("", lines)], words=(0, 1), wraps=(1,))
        note = "These data were not at hand, so the figures leave them out."
        sections.append(Section("Left out", [note], [table], "left-out"))
    sections.append(_how(meta))
    footer = f"Made by grfpp {grfpp.__version__}."
    return parts.render_page("The paper's experiments, run again", lead, sections, footer)


def _summary(outcomes: Sequence[Outcome], meta: dict[str, Any]) -> Section:
    lines = []
    for outcome in outcomes:
        experiment = outcome.experiment
        for number, claim in enumerate(experiment.claims):
            holds = claim.verdict(outcome.rows).holds
            first = number == 0
            lines.append(
                [
                    f"[{experiment.name}](#{experiment.name})" if first else "",
                    f"{claim.title} ({experiment.source})" if first else claim.title,
                    f"{_SIGNS.get(holds, '–')} {holds}",
                    duration(outcome.seconds) if first else "",
                ]
            )
    n_errors = sum(len(outcome.errors) for outcome in outcomes)
    paragraphs = [
        "Verdicts are computed from the rows. “Holds within noise”: there are exceptions, but few, "
        "and none larger than three standard errors. “Not enough data”: what was judged are fewer "
        f"than {FEWEST} graphs, meshes or data sets."
    ]
    if n_errors:
        paragraphs.append(f"{n_errors} cells failed; see below what happened to them.")
    if meta["size"] != "full":
        paragraphs.append(
            "This is the short form: fewer repeats, fewer numbers of walks, smaller graphs."
        )
    table = Table(
        ["experiment", "claim", "verdict", "work"],
        [TableGroup("", lines)],
        "Work: the time of all cells together, each on one core. Times are longer where the load, "
        f"which each experiment tells, is above the machine's {meta['machine']['cores']} cores.",
        words=(0, 1, 2),
        wraps=(1, 2),
    )
    return Section("In short", paragraphs, [table])


def _section(outcome: Outcome) -> Section:
    experiment = outcome.experiment
    blocks: list[Any] = []
    for claim in experiment.claims:
        if len(experiment.claims) > 1:
            blocks.append(parts.Heading(claim.title))
        verdict = claim.verdict(outcome.rows)
        blocks.append(
            parts.Judgement(
                str(verdict.holds).capitalize(),
                _TONES.get(verdict.holds, "open"),
                [("Paper says:", verdict.paper), ("Measured:", verdict.measured)],
            )
        )
        panels = claim.panels(outcome.rows) if outcome.rows else []
        if panels:
            columns = min(4, max(3, len(panels)))
            blocks.append(gallery(panels, claim.caption, claim.title, columns))
            blocks += [table(outcome.rows) for table in claim.tables]
    facts = [*outcome.plan.parameters.items()]
    facts.append(("work", f"{len(outcome.plan.cells)} cells, {duration(outcome.seconds)}"))
    if outcome.loads:
        low, high = min(outcome.loads), max(outcome.loads)
        facts.append(("load", f"{low:.1f} to {high:.1f} processes at work on the machine"))
    if outcome.plan.skipped:
        facts.append(("left out", ", ".join(map(title_of, outcome.plan.skipped))))
    blocks.append(parts.Facts(facts))
    if outcome.errors:
        lines = [[each.cell, each.error] for each in outcome.errors[:_ERRORS_SHOWN]]
        more = len(outcome.errors) - _ERRORS_SHOWN
        blocks.append(
            Table(
                ["failed cell", "error"],
                [TableGroup(f"{len(outcome.errors)} cells failed", lines)],
                f"And {more} more, in rows.json." if more > 0 else "",
                words=(0, 1),
                wraps=(0, 1),
            )
        )
    title = f"{experiment.title} ({experiment.source})"
    return Section(title, experiment.about, blocks, experiment.name)


def _how(meta: dict[str, Any]) -> Section:
    machine = meta["machine"]
    facts = [
        ["command", f"`{meta['command']}`"],
        ["seed", str(meta["seed"])],
        ["grfpp", f"{grfpp.__version__}, code {meta['code']}"],
        ["versions", versions(machine)],
        ["machine", f"{hardware(machine)}, {machine['system']}"],
        [
            "time",
            f"{duration(meta['seconds'])} for this run on {meta['jobs']} processes; "
            f"{meta['n_found']} of {meta['n_cells']} cells were found finished",
        ],
    ]
    return Section(
        "How this was made",
        [
            "Finished cells are kept in `cells`; the same command goes on where it stopped. "
            "`rows.csv` has what the seed determines, `timings.csv` the measured times, "
            "`rows.json` everything, `figures` each figure as PDF and PNG.",
            "Repeats are independent estimates with seeds of their own; bars and ± are standard "
            "errors of means, but those of quoted numbers, which are the paper's standard "
            "deviations. Generated graphs are the same for all seeds.",
        ],
        [Table(["", ""], [TableGroup("", facts)], words=(0, 1), wraps=(1,))],
        "how",
    )


def duration(seconds: float) -> str:
    """A time for people, on one line.

    Examples
    --------
    >>> [duration(s).replace("\N{NO-BREAK SPACE}", " ") for s in (0.04, 12.3, 150)]
    ['0.0 s', '12 s', '2.5 min']
    """
    if seconds < 100:
        return f"{seconds:.{1 if seconds < 10 else 0}f}\N{NO-BREAK SPACE}s"
    return f"{seconds / 60:.1f}\N{NO-BREAK SPACE}min"
