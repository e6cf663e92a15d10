"""Tab. vit_swing_results: a vision transformer with and without a mask on its attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from grfpp.imports.optional import how_to_install, missing_packages
from grfpp_lab.experiments.graphs import at_hand
from grfpp_lab.experiments.measuring import pick, seeds
from grfpp_lab.experiments.study.grid import chosen, geometric
from grfpp_lab.experiments.vit import data, verdicts, views
from grfpp_lab.experiments.vit.paper import DEGREE, LAM, LEARNED, METHODS, PLAIN
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
    #: Sizes of the transformer: see `grfpp.torch.attention.small_vit.SmallViT`.
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
        {"mnist": (2000, 1000, 5), "cifar10": (2000, 1000, 4)},
        3,
        0,
        {**MODEL, "depth": 2},
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
        # Something to look at, even where there are no data.
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


def cost(cell: lab.Cell) -> float:
    """A guess of the seconds that a cell takes."""
    slower = 1.3 if cell["method"] == LEARNED else 1.0
    return float(2 + 6e-4 * slower * cell["depth"] * cell["epochs"] * cell["n_train"])


EXPERIMENT = lab.Experiment(
    name="vit",
    title="Attention masks",
    source="Tab. vit_swing_results",
    about=[
        "The paper adds an estimated diffusion kernel on the lattice of patches to the logits of "
        f"attention, `softmax(Q Kᵀ / √d + λ M) V` with λ = {LAM:g}, and reports a fifth to a "
        "quarter of a point more on ImageNet and Places365. Those need more than a CPU: here the "
        "same small transformer is trained with and without the mask, on MNIST and on a tenth of "
        "CIFAR-10. So the numbers are not comparable with the paper's; the sign of the difference "
        "is. The claim holds where the mask is above on all data by more than chance (a paired "
        "t-test over seeds), holds within noise where it is above but by no more than that, and "
        "does not hold where it is below by more than chance; otherwise nothing is said. Seeds "
        "share the pictures, so p-values speak of the chance in training alone.",
        "Whoever has ImageNet or Places365 unpacked below `images/imagenet` or `images/places365` "
        "in `GRFPP_DATA` (`train` and `val`, a folder a class) gets ten of their classes as well, "
        "at 64 x 64 pixels.",
        "The paper does not say how it normalises the kernel, nor what the class token gets.",
    ],
    plan=plan,
    run=run,
    claims=[
        lab.Claim(
            "vit",
            "With and without the mask",
            "Error on test pictures during training, mean and standard error over seeds.",
            views.panels,
            verdicts.judge,
            (views.table,),
        ),
    ],
    cost=cost,
    parts=("torch",),
)
