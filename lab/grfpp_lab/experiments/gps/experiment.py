"""Tab. graph_gps: walks as positional encodings of a graph transformer."""

from dataclasses import asdict, dataclass
from itertools import product

from grfpp._imports import how_to_install, missing_packages
from grfpp_lab.experiments.gps import claims, encodings
from grfpp_lab.experiments.gps.data import TASKS, load, why_absent
from grfpp_lab.experiments.gps.encodings import DIM, ENCODINGS
from grfpp_lab.experiments.measuring import at_hand, pick, seeds
from grfpp_lab.experiments.study.errors import chosen, geometric, listed
from grfpp_lab.harness import experiment as lab

N_WALKS = 16


@dataclass(frozen=True)
class Effort:
    """How much is learned from, and for how long."""

    #: Numbers of graphs.
    n_train: int
    n_val: int
    n_test: int
    #: Of the training.
    epochs: int
    batch_size: int = 16
    rate: float = 5e-3
    #: Of the model.
    channels: int = 32
    n_layers: int = 2
    n_heads: int = 4


@dataclass(frozen=True)
class Parameters:
    """What is run: the effort for each data set, the encodings, and the number of seeds."""

    efforts: dict[str, Effort]
    encodings: tuple[str, ...]
    repeats: int


PARAMETERS = {
    lab.Size.FULL: Parameters(
        {
            "pattern": Effort(220, 80, 150, 12),
            "cluster": Effort(300, 80, 150, 13),
            "mnist": Effort(800, 250, 500, 16),
            "cifar10": Effort(600, 150, 350, 15),
            "peptides-func": Effort(450, 200, 400, 15),
            "peptides-struct": Effort(500, 150, 250, 15),
        },
        ENCODINGS,
        3,
    ),
    lab.Size.QUICK: Parameters(
        {
            "pattern": Effort(48, 24, 24, 4),
            "cluster": Effort(48, 24, 24, 5),
            "mnist": Effort(150, 50, 100, 5),
            "cifar10": Effort(80, 40, 60, 5),
            "peptides-func": Effort(80, 40, 60, 5),
            "peptides-struct": Effort(80, 40, 60, 5),
        },
        ENCODINGS,
        3,
    ),
    lab.Size.TINY: Parameters(
        {"pattern": Effort(6, 3, 3, 1, batch_size=3, channels=16, n_layers=1, n_heads=2)},
        (encodings.NONE, encodings.GRF, encodings.GRF_PP, encodings.NOISE),
        2,
    ),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every data set, encoding and seed."""
    mine, (scale, p_halt) = PARAMETERS[settings.size], chosen(settings)
    described = _described(mine, scale, p_halt)
    missing = missing_packages("torch", "torch_geometric")
    if missing:
        return lab.Plan([], described, {"graph transformers": how_to_install(missing)})
    found, skipped = at_hand(mine.efforts, why_absent)
    cells: list[lab.Cell] = [
        {
            "dataset": name,
            "encoding": encoding,
            "repeat": repeat,
            "n_walks": N_WALKS,
            "scale": scale,
            "termination": geometric(p_halt),
            **asdict(mine.efforts[name]),
            "seed": settings.seed,
        }
        for name, encoding, repeat in product(found, mine.encodings, range(mine.repeats))
    ]
    return lab.Plan(cells, described, {TASKS[name].title: why for name, why in skipped.items()})


def _described(mine: Parameters, scale: float, p_halt: float) -> dict[str, str]:
    efforts = mine.efforts
    first = next(iter(efforts.values()))
    return {
        "graphs to learn from / to choose by / to test on": "; ".join(
            f"{TASKS[name].title} {each.n_train} / {each.n_val} / {each.n_test}"
            for name, each in efforts.items()
        ),
        "model": f"{first.n_layers} GPS layers of {first.channels} channels, gated convolution and "
        f"Performer attention with {first.n_heads} heads",
        "training": f"AdamW, rate {first.rate:g}, batches of {first.batch_size} graphs, "
        f"{listed([each.epochs for each in efforts.values()])} epochs",
        "encodings": f"{listed(mine.encodings)}; {DIM} numbers a node, more for smooth, "
        "contrast and profile, 3 for each feature; all are mapped to as many channels",
        "walks": f"{N_WALKS} a node and factor, geometric lengths with p_halt = {p_halt:g}; exp(W) "
        f"with W = σ² D^-1/2 A D^-1/2, σ² = {scale:g}",
        "seeds": str(mine.repeats),
    }


def run(cell: lab.Cell) -> list[lab.Row]:
    """Train one model with one encoding."""
    from grfpp_lab.experiments.gps.training import Learning, learn

    task = TASKS[cell["dataset"]]
    splits = load(cell["dataset"], cell["n_train"], cell["n_val"], cell["n_test"])
    # The same first weights of the layers and the same batches for all encodings of a seed: they
    # are compared in pairs.
    (seed,) = seeds(1, **pick(cell, "dataset", "repeat", "seed"))
    walks = pick(cell, "n_walks", "scale", "termination")
    parts = splits.like(encodings.encode(splits.everything, cell["encoding"], seed=seed, **walks))
    sizes = pick(cell, "channels", "n_layers", "n_heads")
    learned = learn(
        *(task, parts.train, parts.val, parts.test),
        Learning(**sizes, **pick(cell, "epochs", "batch_size", "rate")),
        flip_signs=cell["encoding"] in encodings.SIGNLESS,
        seed=seed,
    )
    return [
        {
            **pick(cell, "dataset", "encoding", "repeat"),
            "metric": task.metric,
            **asdict(learned),
            **pick(cell, "n_train", "n_test"),
        }
    ]


EXPERIMENT = lab.Experiment(
    name="gps",
    plan=plan,
    run=run,
    claims=[
        lab.Claim(
            "gps", claims.error_panels, claims.judge, (claims.paper_table, claims.pairs_table)
        ),
        lab.Claim(
            "gps-kinds",
            claims.all_error_panels,
            claims.judge_kinds,
            (claims.kinds_table, claims.reference_table),
        ),
        lab.Claim(
            "gps-reference",
            claims.all_error_panels,
            claims.judge_reference,
            (claims.reference_table,),
        ),
    ],
    parts=("tasks", "torch"),
)
