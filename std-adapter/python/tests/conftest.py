"""Rows for the tests, and the program they are compared with."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def program():
    """Run `dpp-nystrom` with these arguments and return what it prints."""
    path = os.environ.get("DPP_NYSTROM_PROGRAM")
    if path is None:
        pytest.fail("DPP_NYSTROM_PROGRAM does not name the program: run the tests by tests/run python")

    def run(*arguments, strict=True):
        # Arrays are taken as they are given; of a table the program leaves out constant columns.
        strict = ["--strict"] if strict and arguments[0] in ("fit", "select") and str(arguments[1]).endswith(".csv") else []
        command = [path, *map(str, arguments), *strict]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def table():
    """Rows of features of different scales, of which one is constant, and a target."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 5)) * [1, 10, 0.1, 3, 0] + [0, 5, 0, 0, 2]
    return X, np.sin(3 * X[:, 0]) * np.cos(X[:, 3]) + np.sin(X[:, 1]) + 0.3 * rng.normal(size=700)


def write_csv(path: Path, columns: dict) -> Path:
    """Write columns with all digits."""
    lines = [",".join(columns)]
    lines += [",".join(repr(float(value)) for value in row) for row in zip(*columns.values())]
    path.write_text("\n".join(lines) + "\n")
    return path
