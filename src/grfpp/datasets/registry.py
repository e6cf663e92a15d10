"""All data sets that have files: what they are called and what is known of them."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from grfpp.datasets.entries import DataFile, DatasetInfo
from grfpp.datasets.surfaces.mesh_table import mesh_entries
from grfpp.errors import InputError

_LISTED = 25
_COMMUNITIES = (
    "https://raw.githubusercontent.com/vlivashkin/community-graphs/"
    "7b0d6bcc88ba6cf88542291c68bc35c6626e1eb3/gml_connected_subgraphs/"
)
_TUDATASET = "https://www.chrsmrrs.com/graphkerneldatasets/"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"


def _graph(
    name: str, public: str, description: str, n_bytes: int, sha256: str, package: str = ""
) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        family="graphs",
        description=description,
        licence="collection: MIT",
        page="https://github.com/vlivashkin/community-graphs",
        files=(DataFile(f"graphs/{name}.gml", n_bytes, sha256, f"{_COMMUNITIES}{public}.gml"),),
        package=package,
    )


def _tudataset(
    name: str, description: str, n_bytes: int, sha256: str, *, public: bool = True
) -> DatasetInfo:
    """Describe one of TUDataset; `public` where the archive is the one on its web site."""
    address = f"{_TUDATASET}{name}.zip" if public else ""
    return DatasetInfo(
        name=name,
        family="tudataset",
        description=description,
        licence="none stated",
        page="https://chrsmrrs.github.io/datasets/",
        files=(DataFile(f"tudataset/{name}.zip", n_bytes, sha256, address),),
    )


def _mnist(name: str, n_bytes: int, sha256: str, address_sha256: str) -> DataFile:
    file = f"{name}-ubyte.gz"
    return DataFile(f"images/mnist/{file}", n_bytes, sha256, f"{_MNIST}{file}", address_sha256)


_GRAPHS = (
    _graph(
        "karate",
        "karate",
        "friends in a karate club that split (Zachary 1977)",
        4_790,
        "95ef8bf898a657a822df5bbe9974ba1f80b272fac04485a942ace3683da6fd2a",
        package="networkx",
    ),
    _graph(
        "dolphins",
        "dolphins",
        "dolphins often seen together (Lusseau et al. 2003)",
        9_476,
        "efa96aea5b34537993c3b1ae3841e1273da4d006732b5df5ada3e06f861f4435",
    ),
    _graph(
        "polbooks",
        "polbooks",
        "books on US politics bought together (Krebs 2004)",
        24_844,
        "cab19bf3569c4df4076813f31febbc0cfe862349abdac7642eba83e285619551",
    ),
    _graph(
        "football",
        "football",
        "games of US college teams (Girvan, Newman 2002)",
        31_519,
        "f5f39481a0d66c029375bd79a7123ffbd17a7e61eb00bc6a2d159a134d3f331f",
    ),
    _graph(
        "databases",
        "cora_subset/Databases",
        "citations among papers on databases, of full Cora",
        198_237,
        "2320f23849ef558a0149b4b906f1e22d23db8423dc139d0d03b766242bff21cc",
    ),
    _graph(
        "eurosis",
        "eurosis",
        "links among web sites on science and society",
        547_161,
        "6b1adfac02857c06adefadaa7827496430f8b47cf423a5d24248061aa6905bee",
    ),
    _graph(
        "cora",
        "cora/cora",
        "citations among papers on machine learning",
        392_419,
        "71d6a5282573e1229048c2cb3e30d1947430c88a3f7beaa48a68de77ccadfbeb",
    ),
)

_TUDATASETS = (
    _tudataset(
        "MUTAG",
        "188 molecules, mutagenic or not",
        24_244,
        "38e572babf0207a56b13ebfeb5ce8a1fc9c9a4ba6a48a2aad0894418845c6cc0",
    ),
    _tudataset(
        "PTC_MR",
        "344 molecules, carcinogenic to rats or not",
        34_194,
        "dfbd041850041455f7cc86665748d559e9f504637c80265a5ada58d0ee167ad8",
        public=False,
    ),
    _tudataset(
        "ENZYMES",
        "600 enzymes of 6 classes",
        551_719,
        "18e9c27c56a0751887c6597c16d2e75b4550ada5b757472cf3eec479538afeac",
    ),
    _tudataset(
        "PROTEINS",
        "1,113 proteins, enzymes or not",
        458_204,
        "dde9a6fe2cdac336d3b622bfa53663269304d10c01033c86083847a21ae3d4ba",
    ),
    _tudataset(
        "DD",
        "1,178 proteins, enzymes or not, large",
        4_653_999,
        "65d9f38389b4ce6307afe45f4cef5fa19ebcafcf0bb73a940a61a5e1bdcdd9b7",
        public=False,
    ),
    _tudataset(
        "IMDB-BINARY",
        "1,000 circles of actors, by genre",
        581_861,
        "d4e052793e9e5f91079abf6569ec490f6878e4cf8416305d8746b5636b6d0c3f",
    ),
    _tudataset(
        "IMDB-MULTI",
        "1,500 circles of actors, by genre",
        588_310,
        "292dd877c6d7880608bce6136be5df537a0f82ca6583d77e72d2505818e87a9f",
    ),
    _tudataset(
        "NCI1",
        "4,110 molecules, active against a cancer or not",
        800_491,
        "79a2833ca93357b18c32406fa3f6ab7fa3709c121e4bd52b73740dde707622bb",
    ),
    _tudataset(
        "COLLAB",
        "5,000 circles of physicists, by field",
        30_197_138,
        "166c73df280a6684bc36c25cd51c490d2a59c3e2d783da7a4249cce811103daa",
        public=False,
    ),
    _tudataset(
        "REDDIT-BINARY",
        "2,000 threads, discussions or answers",
        6_255_408,
        "22b496958b13c3bdabf12132219826bf95c20ec06c390dd819c8c67deec68783",
        public=False,
    ),
)

_LRGB = "https://github.com/vijaydwivedi75/lrgb"

_PEPTIDES = (
    DatasetInfo(
        name="peptides",
        family="peptides",
        description="15,535 peptides with 10 functions, LRGB",
        licence="CC BY-NC 4.0",
        page=_LRGB,
        files=(
            DataFile(
                "peptides/peptide_multi_class_dataset.csv.gz",
                769_970,
                "e314f7dfb1ac46ef83fe5f5aa4fe502ad4527da633b64e6b997cb0c452511de3",
                "https://www.dropbox.com/s/ol2v01usvaxbsr8/peptide_multi_class_dataset.csv.gz?dl=1",
            ),
        ),
    ),
    DatasetInfo(
        name="peptide-splits",
        family="peptides",
        description="rows of peptides to train, choose and test",
        licence="CC BY-NC 4.0",
        page=_LRGB,
        files=(
            # The public one is a pickle, which is never read here.
            DataFile(
                "peptides/splits.json",
                97_665,
                "664f85e36aacf243becf369ea60884c1033cf86f3448549deb6e7617595c86d3",
            ),
        ),
    ),
)

_SHAPES = DatasetInfo(
    name="shapes",
    family="shapes",
    description="80 small meshes of 40 shapes, GeometricShapes",
    licence="none stated",
    page="https://github.com/Yannick-S/geometric_shapes",
    files=(
        DataFile(
            "shapes/geometric_shapes.zip",
            274_100,
            "fb5e5d132db7f871b415b6d9cb6e0fd258192ccb1aa64a172839146527c082dd",
            "https://github.com/Yannick-S/geometric_shapes/raw/master/raw.zip",
        ),
    ),
)

_IMAGES = (
    DatasetInfo(
        name="mnist",
        family="images",
        description="70,000 digits of 28 x 28 pixels",
        licence="CC BY-SA 3.0",
        page="http://yann.lecun.com/exdb/mnist/",
        files=(
            _mnist(
                "train-images-idx3",
                9_719_438,
                "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            _mnist(
                "train-labels-idx1",
                28_857,
                "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            _mnist(
                "t10k-images-idx3",
                1_616_508,
                "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            _mnist(
                "t10k-labels-idx1",
                4_517,
                "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ),
    ),
    DatasetInfo(
        name="cifar10",
        family="images",
        description="10,000 photographs, CIFAR-10's first batch",
        licence="none stated",
        page="https://www.cs.toronto.edu/~kriz/cifar.html",
        files=(
            DataFile(
                "images/cifar10_batch1.npz",
                28_256_048,
                "f11b3e9bc3050edcf43f5db5e44f7e0a977dc70aac69f3fbb7575cc5482baff9",
            ),
        ),
        # The version for C programs: the others are pickles.
        instead=DataFile(
            "images/cifar-10-binary.tar.gz",
            170_052_171,
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        ),
    ),
)


@cache
def all_datasets() -> tuple[DatasetInfo, ...]:
    """Every data set that has files, family by family.

    Examples
    --------
    >>> from grfpp.datasets import all_datasets
    >>> [info.name for info in all_datasets() if info.family == "graphs"]
    ['karate', 'dolphins', 'polbooks', 'football', 'databases', 'eurosis', 'cora']
    """
    return (*_GRAPHS, *_TUDATASETS, *mesh_entries(), *_PEPTIDES, _SHAPES, *_IMAGES)


def dataset_info(name: str, family: str | None = None) -> DatasetInfo:
    """What is known of a data set; upper and lower case do not matter.

    Parameters
    ----------
    name
        What it is called in `all_datasets`.
    family
        Only look among data sets of this kind.
    """
    known = {info.name.lower(): info for info in all_datasets() if family in (None, info.family)}
    found = known.get(str(name).lower())
    if found is not None:
        return found
    kind = "" if family is None else f" among the {family}"
    near = get_close_matches(str(name).lower(), known, n=1, cutoff=0.7)
    if near:
        raise InputError(
            f"there is no data set {name!r}{kind}; did you mean {known[near[0]].name!r}?"
        )
    # Meshes have numbers for names, and there are many.
    names = [info.name for info in known.values() if family or info.family != "meshes"]
    listed = ", ".join(names if len(names) <= _LISTED else [*names[: _LISTED // 3], "..."])
    raise InputError(f"there is no data set {name!r}{kind}; known are {listed}")
