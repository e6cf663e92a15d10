"""A small vision transformer: plain torch, for experiments on a few cores."""

import torch
from torch import nn

from grfpp._checks import whole
from grfpp.errors import InputError


class SmallViT(nn.Module):  # type: ignore[misc]  # untyped base
    """Patches, a class token, learned positions, encoder layers, a linear head.

    Parameters
    ----------
    image_size
        Height and width of the images in pixels, multiples of `patch`.
    channels
        Numbers per pixel.
    n_classes
        Number of classes.
    patch
        Side of a patch in pixels.
    dim, depth, heads, hidden
        Length of a token, number of layers, of heads, and of hidden units in a layer.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import add_mask, patch_grid_mask
    >>> from grfpp_lab.experiments.vit.small_vit import SmallViT
    >>> model = SmallViT((28, 28), 1, 10)
    >>> added = add_mask(model, patch_grid_mask(*model.grid, class_token=True))
    >>> model(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        image_size: tuple[int, int],
        channels: int,
        n_classes: int,
        *,
        patch: int = 4,
        dim: int = 64,
        depth: int = 4,
        heads: int = 4,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        self.patch = whole(patch, "patch", 1)
        height, width = image_size
        if height < patch or width < patch or height % patch or width % patch:
            raise InputError(
                f"must be multiples of patch={patch}, found {height} x {width} pixels",
                argument="image_size",
            )
        #: Patches from top to bottom and from left to right.
        self.grid = (height // patch, width // patch)
        self.embedding = nn.Linear(channels * patch**2, dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        n_tokens = 1 + self.grid[0] * self.grid[1]
        # As large as embedded patches: a short training has no time to learn positions from zero.
        self.positions = nn.Parameter(0.5 * torch.randn(1, n_tokens, dim))
        layer = nn.TransformerEncoderLayer(
            dim, heads, hidden, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        # The encoder copies one layer; each copy gets its own initial weights.
        for block in self.encoder.layers:
            block.self_attn._reset_parameters()
            block.linear1.reset_parameters()
            block.linear2.reset_parameters()
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores of the classes for images of shape ``(n, channels, height, width)``."""
        patches = nn.functional.unfold(images, self.patch, stride=self.patch).transpose(1, 2)
        tokens = self.embedding(patches)
        start = self.class_token.expand(len(tokens), -1, -1)
        tokens = self.encoder(torch.cat([start, tokens], dim=1) + self.positions)
        scores: torch.Tensor = self.head(self.norm(tokens[:, 0]))
        return scores
