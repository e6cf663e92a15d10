"""How settings are chosen."""

from laboratory.normals_rows import as_paper, cosine_rows

from grfpp_lab.experiments.normals.paper import GRF, STITCHED
from grfpp_lab.experiments.normals.parts import TWICE, chosen_rows


def test_settings_are_chosen_by_masks_of_their_own():
    rows = [
        {
            **cosine_rows(as_paper)[0],
            "method": STITCHED,
            "sigma": sigma,
            "n_walks": n_walks,
            "cosine_to_choose_by": choosing,
            "cosine": cosine,
        }
        for sigma, n_walks, choosing, cosine in (
            (0.5, 4, 0.7, 0.9),
            (0.6, 16, 0.8, 0.75),
            (0.8, 32, 0.95, 0.99),
        )
    ]
    (best,) = chosen_rows(rows, STITCHED).values()
    assert (best["sigma"], best["cosine"]) == (0.6, 0.75)  # not the best cosine, nor 32 walks
    regular = [{**row, "method": GRF} for row in rows]
    (twice,) = chosen_rows(regular, TWICE).values()
    assert twice["n_walks"] == 32
    assert chosen_rows(regular, STITCHED) == {}
