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
    nodes["node 5"].find_element(By.TAG_NAME, "text").click()
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
        assert len(html) < 2_400_000
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
        text = driver.find_element(By.ID, "network").text.replace("\u202f", " ")
        assert "300 more variables are not" in text
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def many_states():
    """Nodes with 2, 3 and 9 states; one state is impossible given another."""
    from ebnc import Network
    from ebnc.network.local.table import Table

    rng = np.random.default_rng(3)
    states = {"a": ["x", "<b>y</b>"], "b": ["l", "m", "h"], "c": list(range(9)), "d": ["n", "y"]}
    return Network(
        [
            Table("a", [], states, [0.25, 0.75]),
            Table("b", ["a"], states, [[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]),
            Table("c", ["a", "b"], states, rng.dirichlet(np.ones(9), (2, 3))),
            Table("d", ["c"], states, rng.dirichlet(np.ones(2), 9)),
        ]
    )


def shown_marginals(driver, net):
    """Every node's probabilities in the panel, by the numbers behind the text."""
    found = {}
    for name in net:
        Select(driver.find_element(By.ID, "node")).select_by_visible_text(name)
        outputs = driver.find_elements(By.CSS_SELECTOR, "#states output")
        found[name] = [float(each.get_attribute("data-value")) for each in outputs]
    return found


def brute_force(net, codes):
    """p(x | evidence) of every node, and p(evidence), from the list of all configurations."""
    from ebnc.data.rows import all_configurations

    rows = all_configurations(net.domain, net.variables)
    p = np.exp(sum(net[x].log_probability(rows) for x in net))
    for name, code in codes.items():
        p = np.where(rows.column(name) == code, p, 0.0)
    total = p.sum()
    each = {x: np.bincount(rows.column(x), p, net.domain.n_states(x)) / total for x in net}
    return each, total


def click(driver, element):
    """Scroll an element into view and click it."""
    centre = "arguments[0].scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'})"
    driver.execute_script(centre, element)
    element.click()


def click_state(driver, name, code):
    """Click a state in the drawing."""
    state = driver.find_elements(By.CSS_SELECTOR, f'.network .states[data-of="{name}"] .state')[
        code
    ]
    click(driver, state)


@pytest.mark.parametrize("which", [many_states, network])
def test_the_page_answers_as_queries_do(opened, which):
    """By clicks on states in the drawing: within 1e-9 of ``marginals``, and of brute force."""
    net = which()
    driver = opened(render_html(summarise_network(net)))
    rng = np.random.default_rng(1)
    names = list(net)
    for _ in range(5):
        row = net.sample(1, random_state=int(rng.integers(1000)))
        chosen = rng.choice(names, int(rng.integers(0, 4)), replace=False)
        evidence = {str(x): row[x].iloc[0] for x in chosen}
        codes = {x: net.domain[x].index(state) for x, state in evidence.items()}
        for name, code in codes.items():
            click_state(driver, name, code)
        wanted, p_evidence = brute_force(net, codes)
        answers = net.marginals(evidence)
        found = shown_marginals(driver, net)
        for name in names:
            np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-9)
            if name not in evidence:
                np.testing.assert_allclose(
                    found[name], answers[name].probabilities, rtol=0, atol=1e-9
                )
        if evidence:
            log_p = driver.find_element(By.ID, "evidence").get_attribute("data-value")
            assert float(log_p) == pytest.approx(np.log(p_evidence), abs=1e-9)
            click(driver, driver.find_element(By.ID, "forget"))
    assert errors_and_requests(driver) == ([], [])


def test_the_bars_in_the_nodes_are_the_probabilities(opened):
    """Rows of few states and columns of many; the evidence is marked, and taken back by a click."""
    net = many_states()
    driver = opened(render_html(summarise_network(net)))

    def shares(name, side):
        bars = driver.find_elements(By.CSS_SELECTOR, f'.states[data-of="{name}"] .share')
        return [float(b.get_attribute(side)) / float(b.get_attribute("data-length")) for b in bars]

    for code in (None, 1):
        if code is not None:
            click_state(driver, "a", code)
        wanted, _ = brute_force(net, {} if code is None else {"a": code})
        assert shares("b", "width") == pytest.approx(wanted["b"], abs=1e-3)
        highest = wanted["c"] / wanted["c"].max()
        assert shares("c", "height") == pytest.approx(highest, abs=1e-3)
    known = driver.find_elements(By.CSS_SELECTOR, ".network .node.known")
    assert [each.get_attribute("data-name") for each in known] == ["a"]
    assert "a = <b>y</b>" in driver.find_element(By.ID, "evidence").text
    click_state(driver, "a", 1)
    assert not driver.find_elements(By.CSS_SELECTOR, ".network .node.known")
    assert driver.find_element(By.ID, "evidence").text == ""
    assert not driver.find_element(By.ID, "forget").is_enabled()


def test_states_are_chosen_by_keyboard_and_impossible_ones_are_said(opened):
    net = many_states()
    driver = opened(render_html(summarise_network(net)))
    for name, code in (("a", 0), ("b", 2)):
        Select(driver.find_element(By.ID, "node")).select_by_visible_text(name)
        button = driver.find_elements(By.CSS_SELECTOR, "#states button")[code]
        driver.execute_script("arguments[0].focus()", button)
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        assert driver.switch_to.active_element.get_attribute("aria-pressed") == "true"
    assert "never occur together" in driver.find_element(By.ID, "evidence").text
    click(driver, driver.find_element(By.ID, "forget"))
    wanted, _ = brute_force(net, {})
    assert shown_marginals(driver, net)["b"] == pytest.approx(list(wanted["b"]), abs=1e-12)


def test_a_network_that_is_too_large_to_ask_shows_its_marginals(opened):
    """A node of thirty parents: the page says so, and has estimates with their standard errors."""
    from ebnc import EBNC, Domain, EmbeddedStructure, Network
    from ebnc.network.local.table import Table
    from ebnc.parameters.phi import Basis

    names = [f"x{i}" for i in range(30)]
    domain = Domain(dict.fromkeys([*names, "y"], 2))
    structure = EmbeddedStructure("y", (("y", ()), *((x, ("y",)) for x in names)))
    phi = np.random.default_rng(0).normal(size=Basis(structure, domain).dimension)
    net = Network(
        [*(Table(x, [], {x: 2}, [0.3, 0.7]) for x in names), EBNC(structure, domain, phi)]
    )
    summary = summarise_network(net)
    assert summary.asking.program is None
    driver = opened(render_html(summary))
    assert "too large" in driver.find_element(By.ID, "network").text
    assert not driver.find_elements(By.CSS_SELECTOR, "#states button")
    found = shown_marginals(driver, net)
    sampled = net.marginals(method="weighting", n_samples=5_000)
    for name in net:
        np.testing.assert_allclose(found[name], sampled[name].probabilities, atol=1e-12)
    assert 0 < summary.asking.standard_error < 0.01
    assert errors_and_requests(driver) == ([], [])


def test_the_drawing_zooms_and_pans(opened):
    """By buttons, by Ctrl and wheel, by dragging; a node from the list comes into view."""
    from selenium.webdriver.common.action_chains import ActionChains

    driver = opened(render_html(summarise_network(network(60, 2))))
    view = driver.find_element(By.CSS_SELECTOR, ".network .view")
    drawing = view.find_element(By.TAG_NAME, "svg")

    def width():
        return float(drawing.get_attribute("width"))

    def place():
        return driver.execute_script(
            "return [arguments[0].scrollLeft, arguments[0].scrollTop]", view
        )

    before = width()
    driver.find_element(By.ID, "closer").click()
    assert width() == pytest.approx(1.25 * before)
    driver.find_element(By.ID, "whole").click()
    overflows = "return arguments[0].scrollHeight - arguments[0].clientHeight"
    assert driver.execute_script(overflows, view) <= 1
    driver.execute_script(
        "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -600, ctrlKey: true}))", view
    )
    assert width() > before
    driver.execute_script("arguments[0].scrollTo({left: 50, top: 50, behavior: 'instant'})", view)
    start = place()
    ActionChains(driver).move_to_element(view).click_and_hold().move_by_offset(
        -40, -30
    ).release().perform()
    moved = np.array(place()) - start
    assert moved == pytest.approx([40, 30], abs=2)
    driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    Select(driver.find_element(By.ID, "node")).select_by_visible_text("node 59")
    inside = """const [a, b] = [...arguments].map((each) => each.getBoundingClientRect());
        return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom"""
    node = driver.find_element(By.CSS_SELECTOR, '.network .node[data-name="node 59"]')
    assert driver.execute_script(inside, node, view)
    assert errors_and_requests(driver) == ([], [])
