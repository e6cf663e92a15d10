"""The study of interpolation: its surfaces, and what it prints."""

from grfpp_lab.studies.interpolation import MAKERS, main


def test_the_default_beside_its_rivals(capsys):
    main(["--surfaces", "hull, tiny", "--repeats", "1", "--kernels", "3:16", "--noises", "0.001"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["surface", "nodes", "paper"]
    assert lines[1].startswith("hull, tiny")
    assert "default above paper on 1 of 1" in lines
    assert len(MAKERS) == 33


def test_the_grid(capsys):
    kernels = ["--kernels", "3:16", "0:4", "--noises", "0.001", "0.1"]
    main(["--grid", "--surfaces", "box, tiny", "--repeats", "1", *kernels])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("best setting of every task: 0.")
    assert sum("kernel " in line for line in lines) == 4
    cosines = [float(line.split()[0]) for line in lines[1:]]
    assert cosines == sorted(cosines, reverse=True)
