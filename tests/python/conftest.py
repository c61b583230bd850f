"""What the tests of the Python package share."""

import pathlib

import pytest


@pytest.fixture
def ptx():
    """A kernel that adds a number to each of n floats: `add(float* x, float by, u32 n)`."""
    return (pathlib.Path(__file__).parent / "add.ptx").read_text()
