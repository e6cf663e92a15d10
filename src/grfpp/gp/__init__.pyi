from .model import GraphGP as GraphGP
from .search import GraphSearch as GraphSearch
