"""No serious fault by axe-core, and nothing in the console: light, dark, narrow and printed.

axe-core is a script of its own: ``npm install axe-core``, then set ``AXE_CORE`` to the path of
``axe.min.js``. Without it these tests are skipped.
"""

import os
from pathlib import Path

import pytest

from ebnc.report import render_html, summarise, summarise_network, summarise_regressor
from report.browser_log import errors_and_requests
from report_problems import many_classes, network, two_classes

pytest.importorskip("selenium")
pytestmark = pytest.mark.slow

RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations
  .filter((fault) => ["serious", "critical"].includes(fault.impact))
  .map((fault) => [fault.id, fault.nodes.map((node) => node.html.slice(0, 200))])));
"""


def classifier(problem):
    return summarise(problem.model, problem.x, problem.y, target=problem.target, n_folds=2)


def regressor():
    from ebnc import EBNCRegressor

    problem = two_classes()
    x = problem.x.drop(columns="noise")
    return summarise_regressor(EBNCRegressor("naive").fit(x, problem.x["noise"]), n_folds=0)


PAGES = {
    "two classes": lambda: classifier(two_classes()),
    "three classes": lambda: classifier(many_classes()),
    "numbers": regressor,
    "network": lambda: summarise_network(network()),
    "matrix": lambda: summarise_network(network(30, 10)),
}


@pytest.fixture(scope="module")
def axe():
    path = os.environ.get("AXE_CORE")
    if path is None:
        pytest.skip("NO AXE: set AXE_CORE to the path of axe.min.js (npm install axe-core)")
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("which", PAGES)
def test_axe_finds_no_serious_fault(which, opened, browser, axe):
    html = render_html(PAGES[which]())
    try:
        for width, media, scheme in (
            (1400, "screen", "light"),
            (1400, "screen", "dark"),
            (390, "screen", "light"),
            (800, "print", "light"),
        ):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            medium = {"media": media, "features": features}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", medium)
            driver = opened(html)
            driver.execute_script(axe)
            assert driver.execute_async_script(RUN) == [], (width, media, scheme)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            assert errors_and_requests(driver) == ([], [])
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
