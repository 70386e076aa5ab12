"""The page in a real browser: its numbers, its silence, its keyboard, its manners."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from ebnc import EBNCClassifier
from ebnc.report import render_html, report, summarise, summarise_network
from report.browser_log import errors_and_requests
from report_problems import HOSTILE, hostile, many_classes, network, two_classes

selenium = pytest.importorskip("selenium")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

pytestmark = pytest.mark.slow


def page_of(problem, **options):
    return render_html(
        summarise(problem.model, problem.x, problem.y, target=problem.target, **options)
    )


def choose(driver, problem, codes):
    """Choose a state, by number, for every input that the panel offers."""
    names = list(problem.x.columns)
    for name, code in codes.items():
        found = driver.find_elements(By.ID, f"i{names.index(name)}")
        if found:
            Select(found[0]).select_by_value(str(code))


def shown(driver):
    """The probabilities on the page, in full precision."""
    outputs = driver.find_elements(By.CSS_SELECTOR, ".probabilities output")
    return np.array([float(output.get_attribute("data-value")) for output in outputs])


def bars(driver):
    rows = driver.find_elements(By.CSS_SELECTOR, "#waterfall tbody tr")
    return np.array([float(row.get_attribute("data-value")) for row in rows])


MODELS = {
    "averaged": two_classes,
    "one model": lambda: two_classes(average=False),
    "three classes": many_classes,
    "three classes, one table": lambda: many_classes(structure="kdb1", prior_scale=1.0),
}


@pytest.mark.parametrize("which", MODELS)
def test_the_panel_shows_what_the_classifier_predicts(opened, which):
    """Any states, also missing and not known ones: equal to predict_proba within 1e-9."""
    problem = MODELS[which]()
    driver = opened(page_of(problem, n_folds=0))
    model, domain = problem.model, problem.model.ebnc_.domain
    rng = np.random.default_rng(2)
    names = list(problem.x.columns)
    np.testing.assert_allclose(shown(driver), model.predict_proba(problem.x.iloc[:1])[0], atol=1e-9)
    for _ in range(6):
        codes = {name: int(rng.integers(0, domain.n_states(name) + 1)) for name in names}
        choose(driver, problem, codes)
        rows = model.encode(problem.x)  # each gives its states to the inputs that are not known
        codes_there = rows.codes.copy()
        for v, name in enumerate(rows.names):
            if codes[name] < domain.n_states(name):
                codes_there[v] = codes[name]
        asked = type(rows)(rows.names, rows.n_states, codes_there)
        parts = [(m.weight, m.tables) for m in model.models_]
        wanted = sum(weight * part.probabilities(asked) for weight, part in parts).mean(axis=0)
        np.testing.assert_allclose(shown(driver), wanted, rtol=0, atol=1e-9)
        assert bars(driver)[:-1].sum() == pytest.approx(bars(driver)[-1], abs=1e-9)
    assert errors_and_requests(driver) == ([], [])


@pytest.mark.parametrize("make", [two_classes, many_classes])
def test_if_nothing_is_known_the_panel_shows_the_shares_of_the_classes(opened, make):
    problem = make()
    driver = opened(page_of(problem, n_folds=0))
    driver.execute_script("document.getElementById('forget').click()")
    shares = pd.Series(problem.y).value_counts(normalize=True).loc[problem.model.classes_]
    np.testing.assert_allclose(shown(driver), shares, atol=0.02)
    rows = problem.model.encode(problem.x.iloc[:1])
    unknown = np.array(rows.n_states, dtype=rows.codes.dtype)[:, None] - 1
    asked = type(rows)(rows.names, rows.n_states, unknown)
    wanted = problem.model.predictor_.probabilities(asked)[0]
    np.testing.assert_allclose(shown(driver), wanted, rtol=0, atol=1e-9)


def test_a_number_may_be_typed_and_falls_into_its_interval(opened):
    """At the cuts, around them and far away."""
    problem = many_classes()
    driver = opened(page_of(problem, n_folds=0))
    names = list(problem.x.columns)
    name = problem.model.selected_features_[0]
    cuts = [state.high for state in problem.model.ebnc_.domain[name]][:-1]
    field = driver.find_element(By.ID, f"n{names.index(name)}")
    for value in [*cuts, *(cut + 1e-9 for cut in cuts), -1e6, 1e6]:
        field.clear()
        field.send_keys(repr(value))
        row = problem.x.iloc[:1].assign(**{name: value})
        np.testing.assert_allclose(shown(driver), problem.model.predict_proba(row)[0], atol=1e-9)


def test_a_slider_chooses_the_interval_of_a_number(opened):
    """By keyboard; the charts mark the state, and not known is beside the slider."""
    problem = two_classes()
    driver = opened(page_of(problem, n_folds=0))
    number = list(problem.x.columns).index("warmth")
    slider = driver.find_element(By.ID, f"s{number}")
    select = driver.find_element(By.ID, f"i{number}")
    codes = problem.model.encode(problem.x).column("warmth")
    for key, wanted in ((Keys.HOME, 0), (Keys.ARROW_RIGHT, 1), (Keys.END, 30)):
        slider.send_keys(key)
        assert select.get_attribute("value") == str(wanted)
        value = problem.x["warmth"].to_numpy()[np.flatnonzero(codes == wanted)[0]]
        row = problem.x.iloc[:1].assign(warmth=value)
        np.testing.assert_allclose(shown(driver), problem.model.predict_proba(row)[0], atol=1e-9)
        here = driver.find_elements(By.CSS_SELECTOR, f".here[data-at^='{number}:']")
        assert [mark.get_attribute("data-at") for mark in here] == [f"{number}:{wanted}"]
        state = Select(select).first_selected_option.text
        assert slider.get_attribute("aria-valuetext") == state
    driver.execute_script("document.getElementById('forget').click()")
    assert "idle" in slider.get_attribute("class")
    assert not driver.find_elements(By.CSS_SELECTOR, f".here[data-at^='{number}:']")
    driver.find_element(By.ID, "reset").click()
    assert slider.get_attribute("value") == str(codes[0])
    assert errors_and_requests(driver) == ([], [])


def test_the_waterfall_is_that_of_the_best_model_for_the_class_chosen(opened):
    problem = many_classes()
    driver = opened(page_of(problem, n_folds=0))
    wanted = problem.model.contributions(problem.x.iloc[:1])
    for k in range(3):
        Select(driver.find_element(By.ID, "of-class")).select_by_value(str(k))
        assert bars(driver)[-1] == pytest.approx(wanted.log_odds[0, k], abs=1e-9)
        assert bars(driver)[0] == pytest.approx(wanted.values[0, 0, k], abs=1e-9)


def test_beside_an_average_the_page_shows_what_the_best_model_predicts(opened):
    problem = two_classes()
    assert len(problem.model.models_) > 1
    driver = opened(page_of(problem, n_folds=0))
    wanted = problem.model.ebnc_.probabilities(problem.x.iloc[:1])[0, 1]
    best = float(driver.find_element(By.ID, "best").get_attribute("data-value"))
    assert best == pytest.approx(wanted, abs=1e-9)


def test_hundreds_of_terms_are_added_up_too(opened):
    """A full table of nine inputs has 512 terms; most are one bar, and nothing is lost."""
    rng = np.random.default_rng(5)
    x = pd.DataFrame(rng.integers(0, 2, (400, 9)), columns=[f"v{i}" for i in range(9)])
    y = (x.sum(axis=1) + rng.normal(size=400) > 4.5).to_numpy()
    model = EBNCClassifier("table", prior_scale=0.3).fit(x, y)
    driver = opened(render_html(summarise(model, x, y, n_folds=0)))
    labels = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "#waterfall tbody th")]
    assert "500 other terms" in labels
    for row in (x.iloc[:1], 1 - x.iloc[:1]):
        for name, code in row.iloc[0].items():
            Select(driver.find_element(By.ID, f"i{name[1:]}")).select_by_value(str(code))
        assert bars(driver)[-1] == pytest.approx(model.contributions(row).log_odds[0, 1], abs=1e-9)
        assert bars(driver)[:-1].sum() == pytest.approx(bars(driver)[-1], abs=1e-9)
        np.testing.assert_allclose(shown(driver), model.predict_proba(row)[0], atol=1e-9)


def test_the_page_says_the_same_before_its_script_runs(opened):
    """What Python wrote into the page is what the script computes again."""
    problem = two_classes()
    html = page_of(problem, n_folds=0)
    driver = opened(html.replace("<script>", "<script type='text/plain'>"))
    static_bars, static_p = bars(driver), shown(driver)
    driver = opened(html)
    np.testing.assert_allclose(bars(driver), static_bars, atol=1e-9)
    np.testing.assert_allclose(shown(driver), static_p, atol=1e-9)


def test_no_name_can_run_a_script(opened):
    """Scripts, quotes and markup in inputs, states, classes, target and title stay text."""
    problem = hostile()
    driver = opened(page_of(problem, title=HOSTILE[1]))
    assert driver.execute_script("return window.harm") is None
    assert driver.execute_script("return document.images.length") == 0
    assert driver.execute_script("return document.scripts.length") == 2
    assert HOSTILE[1] in driver.find_element(By.TAG_NAME, "h1").text
    selects = driver.find_elements(By.CSS_SELECTOR, "[data-input]")
    assert selects
    for select in selects:  # the script writes names too
        Select(select).select_by_index(1)
    assert driver.execute_script("return window.harm") is None
    assert "49" not in driver.find_element(By.ID, "inputs").text
    assert errors_and_requests(driver) == ([], [])


def test_the_policy_of_the_page_stops_a_script_that_got_in(opened):
    """Belt and braces: even where escaping failed, only the page's own script would run."""
    html = page_of(two_classes(), n_folds=0)
    driver = opened(html.replace("</main>", "<script>window.harm = 1</script></main>"))
    assert driver.execute_script("return window.harm") is None
    said, _ = errors_and_requests(driver)
    assert any("Content Security Policy" in entry["message"] for entry in said)


def test_tables_sort_by_keyboard_and_say_so(opened):
    driver = opened(page_of(two_classes(), n_folds=0))
    table = driver.find_element(By.CSS_SELECTOR, "#inputs .sortable")
    head = table.find_elements(By.CSS_SELECTOR, "thead th")[1]

    def worths():
        cells = table.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(2)")
        return [float(cell.get_attribute("data-sort")) for cell in cells]

    assert head.get_attribute("aria-sort") == "descending"
    assert worths() == sorted(worths(), reverse=True)
    head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "ascending"
    assert worths() == sorted(worths())
    first = table.find_elements(By.CSS_SELECTOR, "thead th")[0]
    first.find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    names = [cell.text for cell in table.find_elements(By.CSS_SELECTOR, "tbody th")]
    assert names == sorted(names)
    assert head.get_attribute("aria-sort") is None


def test_everything_is_reached_and_used_by_keyboard(opened):
    """Tab from the top: skip link, sections, theme, nodes of the drawing, states, buttons."""
    problem = two_classes()
    driver = opened(page_of(problem, n_folds=0))
    driver.execute_script("document.querySelector('#structure details').open = true")
    seen = []
    for _ in range(60):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        active = driver.switch_to.active_element
        seen.append((active.tag_name, active.get_attribute("id"), active.get_attribute("class")))
    assert seen[0] == ("a", "", "skip")
    ids = {entry[1] for entry in seen}
    assert {"theme", "reset", "forget"} <= ids
    assert {
        f"i{i}" for i, x in enumerate(problem.x) if x in problem.model.selected_features_
    } <= ids
    assert any("node target" in (entry[2] or "") for entry in seen)
    before = shown(driver)
    field = driver.find_element(By.ID, "i0")
    is_first = field.get_property("selectedIndex") == 0
    field.send_keys(Keys.ARROW_DOWN if is_first else Keys.ARROW_UP)
    assert not np.allclose(shown(driver), before)
    driver.find_element(By.ID, "reset").send_keys(Keys.ENTER)
    np.testing.assert_allclose(shown(driver), before, atol=1e-12)


def contrast(driver):
    """The least contrast of any text with its background, by WCAG's formula."""
    return driver.execute_script(CONTRAST)


CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
};
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
let worst = [99, ""];
for (const element of document.querySelectorAll("main *, header *, footer *")) {
  const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.checkVisibility() || element.closest(".off, title, defs")) continue;
  const style = getComputedStyle(element);
  let ground = null;
  if (element.tagName === "text") {
    const inside = element.closest(".node")?.querySelector("rect");
    const rect = inside ?? (element.matches(".plate-label") && element.previousElementSibling);
    if (rect) ground = getComputedStyle(rect).fill;
  }
  for (let up = element; ground === null && up; up = up.parentElement) {
    const colour = getComputedStyle(up).backgroundColor;
    if (rgba(colour)[3] === 255) ground = colour;
  }
  const ink = element.tagName === "text" ? style.fill : style.color;
  const [a, b] = [light(rgba(ink)), light(rgba(ground ?? "white"))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 120)];
}
return worst;
"""


PAGES = {
    "classifier": lambda: page_of(many_classes()),
    "network": lambda: render_html(summarise_network(network(names=HOSTILE[:8]))),
    "dense network": lambda: render_html(summarise_network(network(30, 10))),
}


@pytest.mark.parametrize("page", list(PAGES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast_in_light_and_dark(opened, theme, page):
    """WCAG AA: at least 4.5 to 1, whatever the colour of the cell."""
    driver = opened(PAGES[page]())
    driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    if driver.execute_script("return getComputedStyle(document.body).colorScheme") != theme:
        driver.find_element(By.ID, "theme").click()
    assert driver.execute_script("return getComputedStyle(document.body).colorScheme") == theme
    ratio, where = contrast(driver)
    assert ratio >= 4.5, where


@pytest.mark.parametrize("page", list(PAGES))
def test_what_can_be_seen_has_a_name_for_those_who_cannot(opened, page):
    """Every control and picture has a label; headings do not skip levels; ids are unique."""
    driver = opened(PAGES[page]())
    unnamed = driver.execute_script(
        """const parts = "button, select, input, svg[role], [role=img], [role=region]";
        const named = (e) => e.getAttribute("aria-label") || (e.labels && e.labels.length)
          || (e.tagName !== "SELECT" && e.textContent.trim());
        return [...document.querySelectorAll(parts)].filter((e) => !named(e))
          .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    levels = driver.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    ids = driver.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert driver.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"


@pytest.mark.parametrize("width", [360, 800])
def test_narrow_screens_need_no_scrolling_sideways(opened, browser, width):
    """Only wide tables scroll, inside themselves."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        driver = opened(page_of(hostile()))
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        whole = "const box = document.querySelector('.result .scroll');"
        assert driver.execute_script(f"{whole} return box.scrollWidth <= box.clientWidth")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_prints(opened):
    """On paper there are no controls, and the dark theme is light."""
    driver = opened(page_of(two_classes(), n_folds=0))
    driver.find_element(By.ID, "theme").click()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not driver.find_element(By.ID, "what-if").is_displayed()
        assert not driver.find_element(By.ID, "theme").is_displayed()
        ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert len(driver.print_page()) > 10_000
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        driver.find_element(By.ID, "theme").click()


def test_looking_at_a_node_shows_its_neighbours(opened):
    driver = opened(page_of(two_classes(), n_folds=0))
    driver.execute_script("document.querySelector('#structure details').open = true")
    node = driver.find_element(By.CSS_SELECTOR, "details .node.child")
    driver.execute_script("arguments[0].focus()", node)
    near = driver.find_elements(By.CSS_SELECTOR, ".node.near")
    assert len(near) >= 2
    assert "near" in driver.find_element(By.CSS_SELECTOR, ".node.target").get_attribute("class")
    pointer = ActionChains(driver)  # what has the focus is looked at again when the pointer leaves
    other = driver.find_element(By.CSS_SELECTOR, ".node.target")
    pointer.move_to_element(other).move_to_element(driver.find_element(By.ID, "theme")).perform()
    again = driver.find_elements(By.CSS_SELECTOR, ".node.near")
    assert [e.get_attribute("data-name") for e in again] == [
        e.get_attribute("data-name") for e in near
    ]


def test_a_wide_model_gives_a_page_that_can_be_used(opened):
    """2 000 inputs: the largest are shown, the rest is counted; the panel still predicts."""
    rng = np.random.default_rng(3)
    n_inputs, n_rows = 2000, 60
    x = pd.DataFrame(
        rng.integers(0, 2, (n_rows, n_inputs)), columns=[f"v{i}" for i in range(n_inputs)]
    )
    y = (x["v0"] + x["v1"] + x["v2"] > 1).to_numpy().astype(int)
    model = EBNCClassifier("naive", prior_scale=0.1).fit(x, y)
    html = render_html(summarise(model, x, y, n_folds=0))
    assert len(html) < 2_000_000
    driver = opened(html)
    np.testing.assert_allclose(shown(driver), model.predict_proba(x.iloc[:1])[0], atol=1e-9)
    assert "1 976 smaller ones are not" in driver.find_element(By.ID, "tables").text.replace(
        "\u202f", " "
    )
    driver.execute_script("document.querySelector('#structure details').open = true")
    assert "1 880 of the inputs used are not drawn" in driver.find_element(
        By.ID, "structure"
    ).text.replace("\u202f", " ")
    field = driver.find_element(By.ID, "filter")
    field.send_keys("v1")
    assert errors_and_requests(driver) == ([], [])


def test_a_report_works_inside_a_notebook(opened):
    """In its frame the panel computes, and links stay in the report."""
    problem = two_classes()
    shown_inside = report(problem.model, problem.x, problem.y, target="weather", n_folds=0)
    driver = opened(f"<!doctype html><title>notebook</title>{shown_inside._repr_html_()}")
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    wanted = problem.model.predict_proba(problem.x.iloc[:1])[0]
    np.testing.assert_allclose(shown(driver), wanted, atol=1e-9)
    driver.find_element(By.CSS_SELECTOR, 'nav a[href="#tables"]').click()
    top = "return document.getElementById('tables').getBoundingClientRect().top"
    WebDriverWait(driver, 10).until(lambda _: driver.execute_script(top) < 200)
    np.testing.assert_allclose(shown(driver), wanted, atol=1e-9)
    driver.switch_to.default_content()
    assert errors_and_requests(driver) == ([], [])
