"""The demo's page stands on its own, and says what was measured."""

import pytest
from laboratory.html_pages import checked

from grfpp_lab.demo import measure, page
from grfpp_lab.demo.measure import binary_tree, karate_club


@pytest.fixture(scope="module")
def parts():
    graphs = [karate_club(), binary_tree()]  # the page of a sphere is that of the command
    rows = [measure.kernel_rows(each, 0) for each in graphs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "N_REPEATS", 2)
        return graphs, rows, measure.measure_all(graphs, 0)


@pytest.fixture(scope="module")
def html(parts):
    return page.demo_page(*parts, seed=3)


def test_it_is_well_formed_and_warns_of_wrong_conclusions(html, parts):
    missed = [row.n_missed for row in parts[1][1]]
    assert any(missed)
    assert len(checked(html).pictures) == 2 * 5 + 2 + 2
    for text in (
        *("Equal walks are not equal work", "<code>grfpp demo --seed 3</code>", "kernel.apply"),
        "what <code>grfpp.sample</code> does by default",
        f"The first GRF misses {missed[1]} nodes, the second {missed[2]}, GRF++ {missed[3]}, "
        f"pooled walks {missed[4]}.",
        "All estimates reach all nodes.",
    ):
        assert text in html


def test_it_has_all_numbers(html, parts):
    graphs, _, results = parts
    for result in measure.worth_a_line(results):
        cells = "".join(
            f'<td class="word">{cell}</td>' if number == 0 else f"<td>{cell}</td>"
            for number, cell in enumerate(measure.table_cells(result))
        )
        assert cells in html.replace("\N{NO-BREAK SPACE}", " ")
    assert all(f"{each.title}, {each.graph.n_nodes} nodes" in html for each in graphs)
    assert html.count('<tr class="strong">') == 4 * len(graphs)
