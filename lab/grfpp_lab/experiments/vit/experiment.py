"""Tab. vit_swing_results: a vision transformer with and without a mask on its attention."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from grfpp._imports import how_to_install, missing_packages
from grfpp_lab.experiments.measuring import at_hand, pick, seeds
from grfpp_lab.experiments.study.errors import chosen, geometric
from grfpp_lab.experiments.vit import claims, data
from grfpp_lab.experiments.vit.data import DEGREE, LAM, LEARNED, METHODS, PLAIN
from grfpp_lab.harness import experiment as lab

N_WALKS = 64


@dataclass(frozen=True)
class Parameters:
    """How much is trained."""

    #: By data set: pictures to learn from, to test on, and how often each of the first is seen.
    sets: dict[str, tuple[int, int, int]]
    #: Trainings of every method, with other weights, another order of the pictures, other walks.
    repeats: int
    #: As many of them have a learned λ too.
    learned: int
    #: Sizes of the transformer: see `grfpp_lab.experiments.vit.small_vit.SmallViT`.
    model: dict[str, int]


MODEL = {"dim": 64, "depth": 4, "heads": 4, "hidden": 128}
PARAMETERS = {
    lab.Size.FULL: Parameters(
        {
            "mnist": (8000, 4000, 4),
            "cifar10": (8000, 2000, 7),
            **dict.fromkeys(data.FOLDERS, (8000, 500, 7)),
        },
        3,
        3,
        MODEL,
    ),
    lab.Size.QUICK: Parameters(
        {"mnist": (2000, 1000, 5), "cifar10": (2000, 1000, 4)}, 3, 0, {**MODEL, "depth": 2}
    ),
    lab.Size.TINY: Parameters(
        {data.STRIPES: (200, 100, 2)}, 3, 3, {"dim": 16, "depth": 2, "heads": 2, "hidden": 32}
    ),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every data set, method and repeat."""
    mine, (scale, p_halt) = PARAMETERS[settings.size], chosen(settings)
    missing = missing_packages("torch")
    if missing:
        return lab.Plan([], {}, {"vit": how_to_install(missing)})
    found, absent = at_hand(mine.sets, data.why_absent)
    skipped = {data.TITLES[name]: why for name, why in absent.items()}
    if not found:
        # Without data, the generated images of the smallest size.
        return replace(plan(replace(settings, size=lab.Size.TINY)), skipped=skipped)
    walks = {"scale": scale, "termination": geometric(p_halt), "n_walks": N_WALKS}
    cells: list[lab.Cell] = []
    for name, method, repeat in product(found, METHODS, range(mine.repeats)):
        if method == LEARNED and repeat >= mine.learned:
            continue
        n_train, n_test, epochs = mine.sets[name]
        cells.append(
            {
                "dataset": name,
                "method": method,
                "repeat": repeat,
                "n_train": n_train,
                "n_test": n_test,
                "epochs": epochs,
                **mine.model,
                **({} if method == PLAIN else walks),
                "seed": settings.seed,
            }
        )
    return lab.Plan(cells, _parameters(mine, found, scale, p_halt), skipped)


def _parameters(mine: Parameters, found: list[str], scale: float, p_halt: float) -> dict[str, str]:
    model = mine.model
    return {
        "model": f"patches of 4 x 4 pixels, a class token, {model['depth']} layers of width "
        f"{model['dim']}, {model['heads']} heads, {model['hidden']} hidden units",
        "mask": f"exp(W), W = σ² D^-1/2 A D^-1/2 of the lattice of patches, σ² = {scale:g}; "
        f"degree {DEGREE}, {N_WALKS} walks, geometric lengths with p_halt = {p_halt:g}; divided by "
        f"the roots of the diagonal; zero for the class token; λ = {LAM:g}, or learned from there",
        "training": "AdamW, cosine schedule, batches of 32, shifts by up to 2 pixels, flips of "
        "colour pictures; "
        + ", ".join(
            f"{name}: {n_train:,} pictures {epochs} times, {n_test:,} to test on"
            for name, (n_train, n_test, epochs) in mine.sets.items()
            if name in found
        ),
        "repeats": f"{mine.repeats}, {mine.learned} with λ learned; those of one number share the "
        "weights that they begin with, and order and shifts of the pictures, so that differences "
        "are taken pair by pair",
        "budget": "the whole experiment is cut to a quarter of an hour on two cores, without a "
        "GPU; each training runs on one",
    }


def run(cell: lab.Cell) -> list[lab.Row]:
    """Train once."""
    from grfpp_lab.experiments.vit.training import train

    images = data.load_images(cell["dataset"], cell["n_train"], cell["n_test"])
    (seed,) = seeds(1, **pick(cell, "dataset", "repeat", "seed"))
    mask: dict[str, Any] | None = None
    if cell["method"] != PLAIN:
        mask = {
            "lam": LAM,
            "learn": cell["method"] == LEARNED,
            "degree": DEGREE,
            "scale": cell["scale"],
            **pick(cell, "n_walks", "termination"),
            "walks": "independent",
            "seed": seed,
        }
    found = train(images, cell["epochs"], seed, mask, **pick(cell, *MODEL))
    height, width = images.train.shape[1:3]
    return [
        {
            **pick(cell, "dataset", "method", "repeat", "n_train", "n_test", "epochs"),
            "n_tokens": 1 + (height // images.patch) * (width // images.patch),
            **row,
        }
        for row in found
    ]


EXPERIMENT = lab.Experiment(
    name="vit",
    plan=plan,
    run=run,
    claims=[lab.Claim("vit", claims.panels, claims.judge, (claims.table,))],
    parts=("torch",),
)
