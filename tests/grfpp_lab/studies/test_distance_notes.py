"""The program that counts how often matrices are taken for distances."""

from grfpp_lab.studies import distance_notes


def test_the_program(capsys):
    distance_notes.main(["--nodes", "20", "--dimensions", "1", "--matrices", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["distances", "20"]
    assert "paths in a grid" in lines[1] and lines[1].endswith("1.00")
    assert not any("osine" in line for line in lines)


def test_all_distances_and_no_affinities_are_noticed():
    for affinities, share in ((False, 1.0), (True, 0.0)):
        made = distance_notes.kinds(affinities=affinities, dimensions=[2])
        assert {distance_notes.share_noticed(make, 30, 3) for make in made.values()} == {share}
        assert not any("1 dimensions" in name for name in made)
