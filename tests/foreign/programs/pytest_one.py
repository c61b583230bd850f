"""Runs tests of a project with pytest, in this process, of each parametrised one the first form:
`python pytest_one.py FILE::TEST ...`. Exit 0 where all pass."""

import sys

import pytest


class FirstForms:
    @staticmethod
    def pytest_collection_modifyitems(items):
        seen = set()
        kept = [item for item in items if not (item.originalname in seen or seen.add(item.originalname))]
        items[:] = kept


code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--rootdir=/", *sys.argv[1:]], plugins=[FirstForms()])
print("PASS" if code == 0 else f"pytest ended with {int(code)}")
sys.exit(int(code))
