from .model import GraphGP as GraphGP
