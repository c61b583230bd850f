"""What the tests of the Python package share."""

import pathlib

import numpy as np
import pytest
import tilescope as ts

ADD = pathlib.Path(__file__).parent / "add.ptx"


@pytest.fixture(autouse=True)
def same_numbers(request):
    """A file's `rng` begins anew in each test: the same numbers alone, in any order, on any number of workers."""
    if hasattr(request.module, "rng"):
        request.module.rng = np.random.default_rng(7)


@pytest.fixture(scope="session")
def module():
    """The kernels of add.ptx: add, race, spin, undefined, count, types."""
    return ts.Module(ADD)


@pytest.fixture
def path():
    return ADD
