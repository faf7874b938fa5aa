"""Processor seconds of the suite, printed at its end: in all, and of the dearest files and tests.

Those of a worker and of the processes that it started and that have ended. What several tests share counts
for the one that came first, so a test's own number depends on the order; the sum does not.
"""

import resource
from collections import Counter
from typing import Any

import pytest

FEW, MANY = 12, 20  # files and tests that are named

mark = 0.0
by_test: Counter[str] = Counter()
totals: list[float] = []


def spent(*whose: int) -> float:
    """Seconds of this process, and of its children that have ended, user's and system's."""
    usages = [resource.getrusage(who) for who in whose or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Each phase of a test carries what was spent since the last."""
    global mark
    report = yield
    now = spent()
    report.user_properties.append(("processor", now - mark))
    mark = now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    by_test[report.nodeid] += sum(value for name, value in report.user_properties[-1:] if name == "processor")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["processor"] = spent()
    else:
        totals.append(spent(*([resource.RUSAGE_SELF] if totals else [])))  # the workers count for themselves


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    totals.append(getattr(node, "workeroutput", {}).get("processor", 0.0))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    by_file: Counter[str] = Counter()
    for name, seconds in by_test.items():
        by_file[name.partition("::")[0]] += seconds
    if sum(totals) < 60:
        return
    terminalreporter.section("processor seconds")
    terminalreporter.write_line(
        f"{sum(totals):,.0f} in all, {by_test.total():,.0f} of them in {len(by_test):,} tests"
    )
    for title, counted, most in (("files", by_file, FEW), ("tests", by_test, MANY)):
        terminalreporter.write_line(f"dearest {title}:")
        for name, seconds in counted.most_common(most):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
