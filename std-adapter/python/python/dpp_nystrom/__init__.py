"""Landmarks for kernel methods: c-DPP sampling, Nyström features and ridge regression on them.

>>> import numpy as np
>>> from dpp_nystrom import LandmarkRidge
>>> X = np.linspace(0, 6, 300).reshape(-1, 1)
>>> y = np.sin(X[:, 0])
>>> model = LandmarkRidge(n_components=20, random_state=0).fit(X, y)
>>> bool(model.score(X, y) > 0.999)
True
"""

from ._nystroem import Nystroem
from ._ridge import LandmarkRidge
from ._sampling import sample_cdpp, select

__all__ = ["LandmarkRidge", "Nystroem", "sample_cdpp", "select"]
