"""What the tests of the Python package share."""

import pathlib

import pytest
import tilescope as ts

ADD = pathlib.Path(__file__).parent / "add.ptx"


@pytest.fixture(scope="session")
def module():
    """The kernels of add.ptx: add, race, spin, undefined, count, types."""
    return ts.Module(ADD)


@pytest.fixture
def path():
    return ADD
