"""Bad requests: exit code 2, one line that names the option or the file, and nothing written."""

from pathlib import Path

import networkx as nx
import pytest
from cli_helpers import accepted, refused

import grfpp
from grfpp.cli.app import in_options
from grfpp.errors import InputError, InputWarning

SPHERE = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
FILES = {
    "club.txt": "".join(f"{u} {v}\n" for u, v in nx.karate_club_graph().edges),
    "sphere.off": SPHERE,
    "points.off": "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n",
    "line.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n",
    "known.npz": "PK\x03\x04 not really",
    "edges.csv": "a,b,1\nb,c,x\n",
    "empty.txt": "\n \n",
    "wrong.txt": "0\nx\n",
    "known.csv": "0,a\n1,a\n2,a\n3,a\n33,b\n32,b\n31,b\n",
    "one.csv": "0,a\n",
    "names.csv": "".join(f"{node},member {node}\n" for node in range(34)),
    "twice.csv": "0,a\n0,b\n",
    "short.csv": "0,a\n1\n",
    "stranger.csv": "0,a\n99,b\n",
    "indexed.csv": ",node,label\n0,0,a\n1,33,b\n2,1,a\n",
    "quotes.csv": '0,"a\n',
}

#: For each command: arguments that follow those that would do, and a word of the message.
REFUSED = {
    "frobnicate": " : frobnicate",
    "--frobnicate": " : --frobnicate",
    "estimate": """
                                           : GRAPH
        lost.txt                           : there is no file
        known.npz                          : known.npz
        edges.csv                          : line 2
    """,
    "estimate club.txt": """
        b.txt                              : b.txt
        --walks many                       : --walks
        --seed -1                          : --seed
        --normalize both                   : --normalize
        --project 0                        : --project
        --output                           : --output
        --kernel magic                     : magic
        --kernel inverse-power:4           : --scale 0.9
        --termination geometric:0          : p_halt
        --termination fixed:3              : --truncate
        --scale 0                          : --scale
        --walks 1000000000000              : --walks
        --jobs 0                           : --jobs
        --symmetrize --normalize rw        : --symmetrize
        --rows 34                          : 34
        --rows Anna                        : Anna
        --rows 0,,1                        : --rows
        --project 8                        : --output
        --std                              : --rows
        --groups 4                         : --groups
        --output k.txt                     : .npz or .csv
        --output lost/k.npz                : lost
        --output folder.npz                : folder
        --output rows.csv                  : --rows
        --output rows.csv --rows 0 --project 4 : --project
    """,
    "query club.txt": """
                                           : --node
        --node 34                          : --node
        --node=                            : --node
        --nodes-from none.txt              : none.txt
        --nodes-from empty.txt             : empty.txt
        --nodes-from wrong.txt             : --nodes-from
        --node 0 --top 0                   : --top
        --node 0 -k 3                      : --top
        --node 0 --tol -1                  : --tol
        --node 0 --budget 0                : --budget
        --node 0 --tol 0.1 --budget 9      : --tol
        --node 0 --output near.npz         : .csv
        --nodes-from one.csv --output one.csv : one.csv
    """,
    "convert edges.csv": """
        x.grf                              : line 2
        x.npz                              : .grf
        x.grf --memory much                : memory
        x.grf --mesh-weights unit          : --mesh-weights
    """,
    "convert club.gml": """
        x.grf --memory 1GB                 : --memory
        x.grf --directed                   : undirected
    """,
    "cluster club.gml": """
                                           : -k
        -k 0                               : --clusters
        -k some                            : --clusters
        -k 35                              : --clusters
        -k auto --how paper                : --clusters
        -k 2 --how regularized --walks 3   : --how
        -k 2 --picture c.gif               : .png
        -k 2 --output labels.txt           : .csv
        -k 2 --method magic                : --method
        -k 2 --kernel inverse-power:4      : --scale 0.9
        --labels-from clubs                : clubs
    """,
    "cluster": "club.txt --labels-from club : club.txt\n none.gml -k 2 : none.gml",
    "interpolate": """
        lost.stl --output n.csv            : there is no file
        club.txt --output n.csv            : is not a mesh file
        points.off --output n.csv          : holds no triangles
        line.off --output n.csv            : 0 vertices
    """,
    "interpolate sphere.off": """
        --mask 0                           : --mask
        --mask 0.001                       : mask
        --kernel inverse-power:4 --how paper : --scale
        --how guess                        : --how
        --how kriging --walks 4            : --how
        --how paper --noise 0.1            : --noise
        --how kriging --method exact       : --how
        --noise 0                          : --noise
        --output normals.npz               : .csv
        --view 1,2                         : --view
        --view 0,0,0                       : --view
        --picture p.svg                    : .png
    """,
    "label club.gml": """
                                           : --labels or --labels-from must be given
        --labels-from club --labels known.csv : both given
        --labels indexed.csv               : two columns
        --labels-from age                  : age
        --labels missing.csv               : missing.csv
        --labels one.csv                   : one.csv
        --labels names.csv                 : names.csv
        --labels twice.csv                 : line 2
        --labels short.csv                 : line 2
        --labels stranger.csv              : line 2
        --labels quotes.csv                : quotes.csv
        --labels known.csv --hold-out 1    : --hold-out
        --labels known.csv --hold-out 0.01 : --hold-out
        --labels known.csv --how magic     : magic
        --labels known.csv --kernel inverse-power : converges
        --labels known.csv --output known.csv : known.csv
    """,
    "label club.txt": "--labels-from x : club.txt",
    "classify": """
        MUTAGG                             : MUTAG
        nowhere.zip                        : nowhere.zip
        MUTAG --scale wide                 : --scale
        MUTAG --walks 4.5                  : --walks
        MUTAG --eigenvalues x              : --eigenvalues
        MUTAG --features signatures --degree 3 : --degree
        MUTAG --output folds.txt           : .csv
    """,
}
CASES = [
    (command.split() + line.rpartition(" : ")[0].split(), line.rpartition(" : ")[2].strip())
    for command, lines in REFUSED.items()
    for line in lines.splitlines()
    if line.strip()
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    nx.write_gml(nx.karate_club_graph(), "club.gml")
    Path("folder.npz").mkdir()
    return tmp_path


@pytest.mark.parametrize(("arguments", "word"), CASES, ids=[" ".join(case[0]) for case in CASES])
def test_refused(capsys, folder, arguments, word):
    before = sorted(folder.rglob("*"))
    line = refused(capsys, *arguments)
    assert word in line
    assert "normalized(" not in line, "advice in Python on the command line"
    assert sorted(folder.rglob("*")) == before


def test_other_kinds_of_files(capsys, folder):
    accepted(capsys, "estimate", "club.txt", "--output", "k.npz")
    assert "grfpp-estimate" in refused(capsys, "estimate", "k.npz")
    grfpp.Graph([(0, 1), (1, 2)]).save("g.grf")
    assert "g.grf" in refused(capsys, "label", "g.grf", "--labels-from", "x")
    assert "same file" in refused(capsys, "convert", "g.grf", "g.grf")


FLAGS = {"n_walks": "--walks", "truncate": "--truncate", "degree": "--degree"}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("must be smaller", argument="n_walks"), "--walks must be smaller"),
        (InputError("must be smaller", argument="p_halt"), "p_halt must be smaller"),
        (InputError("is biased", advice="pass truncate=True"), "is biased; pass --truncate"),
        (InputWarning("it is off", advice="use degree='auto'"), "it is off; use --degree auto"),
        (InputError("no", advice="use header=True"), "no; use header=True"),
        (UserWarning("n_walks must be read"), "n_walks must be read"),
    ],
)
def test_arguments_become_options(error, text):
    assert in_options(error, FLAGS) == text
