from .classifier import NodeGPClassifier as NodeGPClassifier
from .model import GraphGP as GraphGP
from .search import GraphSearch as GraphSearch
