"""Runs tests of a project with pytest, in this process, of each parametrised one the first form:
`python pytest_one.py FILE::TEST ...`. Exit 0 where all pass; 77 where all are skipped, with the reason."""

import sys

import pytest


class FirstForms:
    """Keeps the first form of each test, and what was run and skipped."""

    def __init__(self):
        self.ran = 0
        self.skipped = []

    @staticmethod
    def pytest_collection_modifyitems(items):
        seen = set()
        kept = [item for item in items if not (item.originalname in seen or seen.add(item.originalname))]
        items[:] = kept

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped.append(str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr))
        self.ran += report.when == "call" and not report.skipped


forms = FirstForms()
code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--rootdir=/", *sys.argv[1:]], plugins=[forms])
if code == 0 and not forms.ran and forms.skipped:
    print(f"the test skips itself: {forms.skipped[0]}")
    sys.exit(77)
print("PASS" if code == 0 else f"pytest ended with {int(code)}")
sys.exit(int(code))
