"""Estimators of graphs as scikit-learn's checks want them: "pairwise", given square matrices."""

from grfpp.tasks import GraphRandomFeatures, SpectralKernelClustering


class _Pairwise:
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


class SquareFeatures(_Pairwise, GraphRandomFeatures):
    pass


class SquareClustering(_Pairwise, SpectralKernelClustering):
    pass
