"""What the paper reports on masked vision transformers: Tab. vit_swing_results, top-1 in per cent.

Its models and pictures are of another size than those here, so the rows are not comparable.
"""

from __future__ import annotations

PLAIN, MASKED, LEARNED = "ViT", "ViT + GRF++ mask", "ViT + GRF++ mask, λ learned"
METHODS = (PLAIN, MASKED, LEARNED)

PAPER: dict[str, dict[str, float]] = {
    "imagenet": {PLAIN: 80.10, MASKED: 80.31},
    "places365": {PLAIN: 55.78, MASKED: 56.03},
}
#: The paper's strength of the mask and stitching degree.
LAM, DEGREE = 0.5, 2
