"""Train a small vision transformer, with or without a mask: the same for the same seed.

This module needs torch; it is imported by the process that trains.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from grfpp.torch import add_mask, patch_grid_mask
from grfpp_lab.experiments.training import learning_rate, repeatable
from grfpp_lab.experiments.vit.data import ImageSet
from grfpp_lab.experiments.vit.small_vit import SmallViT

BATCH = 32
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.05
#: Largest shift of the training pictures, in pixels.
SHIFT = 2
#: Number of evaluations on the test pictures during training.
LOOKS = 6


def train(
    images: ImageSet, epochs: int, seed: int, mask: Mapping[str, Any] | None = None, **model: Any
) -> list[dict[str, Any]]:
    """Accuracies on the test pictures during training and after it.

    Parameters
    ----------
    images
        What to learn from and to test on.
    epochs
        How often every picture is seen.
    seed
        Of the weights, of the order of the pictures and of their shifts: the same for all masks.
    mask
        Options of `patch_grid_mask`, with ``lam`` and ``learn`` for `add_mask`; no mask without.
    model
        Options of `SmallViT`.
    """
    with repeatable(seed):
        height, width, channels = images.train.shape[1:]
        net = SmallViT((height, width), channels, images.n_classes, patch=images.patch, **model)
        added = None
        if mask is not None:
            options = dict(mask)
            lam, learn = options.pop("lam"), options.pop("learn")
            grid_mask = patch_grid_mask(*net.grid, class_token=True, n_jobs=1, **options)
            added = add_mask(net, grid_mask, lam, learn)
        # The same random numbers from here on, with and without a mask.
        rng = torch.Generator().manual_seed(seed)
        pixels, test = _pixels(images)
        labels, truth = map(torch.from_numpy, (images.train_labels, images.test_labels))
        found = []
        for epoch, loss in _epochs(net, pixels, labels, epochs, rng):
            if epoch % max(1, epochs // LOOKS) == 0 or epoch == epochs:
                found.append(
                    {
                        "epoch": epoch,
                        "accuracy": _accuracy(net, test, truth),
                        "train_loss": loss,
                        "lam": None if added is None else added.lam,
                        "n_parameters": sum(each.numel() for each in net.parameters()),
                    }
                )
        return found


def _epochs(
    net: nn.Module, pixels: torch.Tensor, labels: torch.Tensor, epochs: int, rng: torch.Generator
) -> Iterator[tuple[int, float]]:
    """Train; yield the number and the mean loss of every epoch."""
    n_steps = epochs * math.ceil(len(pixels) / BATCH)
    optimizer = torch.optim.AdamW(_groups(net), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate(step / n_steps)
    )
    for epoch in range(1, epochs + 1):
        net.train()
        total = 0.0
        for chosen in torch.randperm(len(pixels), generator=rng).split(BATCH):
            scores = net(_varied(pixels[chosen], rng))
            loss = nn.functional.cross_entropy(scores, labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(chosen)
        yield epoch, total / len(pixels)


def _groups(net: nn.Module) -> list[dict[str, Any]]:
    """Parameter groups: scalars, such as the strength of a mask, have no weight decay."""
    return [
        {"params": [each for each in net.parameters() if each.ndim]},
        {"params": [each for each in net.parameters() if not each.ndim], "weight_decay": 0.0},
    ]


def _accuracy(net: nn.Module, pixels: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the pictures that are put into their class."""
    net.eval()
    with torch.inference_mode():
        n_right = sum(
            int((net(part.movedim(-1, 1)).argmax(1) == truth).sum())
            for part, truth in zip(pixels.split(500), labels.split(500), strict=True)
        )
    return n_right / len(labels)


def _pixels(images: ImageSet) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures as numbers: mean 0, deviation 1 in each channel of those to learn from."""
    train, test = (
        torch.from_numpy(part.astype("float32") / 255) for part in (images.train, images.test)
    )
    deviation, mean = torch.std_mean(train, (0, 1, 2))
    return (train - mean) / (deviation + 1e-6), (test - mean) / (deviation + 1e-6)


def _varied(pixels: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Pictures shifted a little, coloured ones also flipped, channels first."""
    n, height, width, channels = pixels.shape
    wide = nn.functional.pad(pixels, (0, 0, SHIFT, SHIFT, SHIFT, SHIFT))
    down, right = torch.randint(0, 2 * SHIFT + 1, (2, n, 1), generator=rng)
    rows, columns = torch.arange(height) + down, torch.arange(width) + right
    if channels > 1:
        flipped = torch.rand(n, 1, generator=rng) < 0.5
        columns = torch.where(flipped, columns.flip(1), columns)
    moved = wide[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]
    return moved.movedim(-1, 1)
