"""The page of a network in a real browser: the node that is chosen, and arcs of dense networks."""

from itertools import product

import numpy as np
import pytest

from ebnc.report import render_html, summarise_network
from report.browser_log import errors_and_requests
from report_problems import HOSTILE, network

selenium = pytest.importorskip("selenium")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402

pytestmark = pytest.mark.slow


def open_node(driver):
    """The one node whose panel is shown."""
    open_ones = [e for e in driver.find_elements(By.CSS_SELECTOR, ".local") if e.is_displayed()]
    assert len(open_ones) == 1
    return open_ones[0].find_element(By.TAG_NAME, "h3").text


def test_a_network_shows_the_inside_of_the_node_that_is_chosen(opened):
    """By the list, by a click, by the keyboard."""
    driver = opened(render_html(summarise_network(network())))
    Select(driver.find_element(By.ID, "node")).select_by_visible_text("node 3")
    assert open_node(driver) == "node 3"
    inside = driver.find_element(By.CSS_SELECTOR, ".local:not([hidden]) svg")
    shown = {e.get_attribute("data-name") for e in inside.find_elements(By.CSS_SELECTOR, ".node")}
    assert shown == {"node 3", *network().parents("node 3")}
    nodes = {
        e.get_attribute("data-name"): e
        for e in driver.find_elements(By.CSS_SELECTOR, ".network .node")
    }
    centre = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    driver.execute_script(centre, nodes["node 5"])
    nodes["node 5"].click()
    assert open_node(driver) == "node 5"
    driver.execute_script("arguments[0].focus()", nodes["node 2"])
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert open_node(driver) == "node 2"
    assert "chosen" in nodes["node 2"].get_attribute("class")
    assert errors_and_requests(driver) == ([], [])


def test_a_dense_network_is_a_table_of_its_arcs(opened):
    """Rows are chosen by the keyboard; what depends on what is marked."""
    net = network(30, 10)
    driver = opened(render_html(summarise_network(net)))
    cells = driver.find_elements(By.CSS_SELECTOR, ".network .cell")
    assert len(cells) == len(net.arcs)
    row = driver.find_element(By.CSS_SELECTOR, '.network .node[data-name="node 20"]')
    driver.execute_script("arguments[0].focus()", row)
    near = driver.find_elements(By.CSS_SELECTOR, ".network .node.near")
    around = {p for p, x in net.arcs if x == "node 20"} | {x for p, x in net.arcs if p == "node 20"}
    assert {e.get_attribute("data-name") for e in near} == {"node 20", *around}
    row.send_keys(Keys.SPACE)
    assert open_node(driver) == "node 20"
    width = "return parseFloat(getComputedStyle(arguments[0].querySelector('rect')).strokeWidth)"
    assert driver.execute_script(width, row) > driver.execute_script(width, near[0])
    assert errors_and_requests(driver) == ([], [])


def test_the_probabilities_of_a_small_node_are_shown(opened):
    net = network()
    driver = opened(render_html(summarise_network(net)))
    name = next(x for x in net if len(net.parents(x)) == 2)
    Select(driver.find_element(By.ID, "node")).select_by_visible_text(name)
    shown_rows = driver.find_elements(By.CSS_SELECTOR, ".local:not([hidden]) tbody tr")
    assert len(shown_rows) == 4
    for element, (a, b) in zip(shown_rows, product([0, 1], repeat=2), strict=True):
        first, second = net.parents(name)
        wanted = net[name].probabilities({first: [a], second: [b]})[0]
        cells = element.find_elements(By.TAG_NAME, "td")
        found = [float(cell.get_attribute("title")) for cell in cells]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_no_name_in_a_network_can_run_a_script(opened):
    net = network(names=[*HOSTILE[:7], HOSTILE[8]])
    driver = opened(render_html(summarise_network(net, net.sample(50, 0), title=HOSTILE[0])))
    for value in range(8):
        Select(driver.find_element(By.ID, "node")).select_by_value(str(value))
    assert driver.execute_script("return window.harm") is None
    assert driver.execute_script("return document.scripts.length") == 2
    assert errors_and_requests(driver) == ([], [])


def test_a_page_of_hundreds_of_nodes_fits_a_telephone(opened, browser):
    size = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        html = render_html(summarise_network(network(400)))
        driver = opened(html)
        assert len(html) < 2_000_000
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
        text = driver.find_element(By.ID, "network").text.replace("\u202f", " ")
        assert "300 more variables are not" in text
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
