"""A real browser to look at reports with."""

import shutil
from pathlib import Path

import pytest


def start_browser():
    """Headless Chromium with its driver, or a skip that says what is missing."""
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip(
            "NO BROWSER: the report is not tested in Chromium; install it with "
            "'apt-get install chromium chromium-driver'"
        )
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1200,900")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


@pytest.fixture(scope="session")
def browser():
    driver = start_browser()
    # Several browsers run side by side; each page shall believe that it has the focus.
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """A function that writes a page and opens it in the browser."""

    def open_page(html) -> object:
        path = Path(tmp_path) / "report.html"
        path.write_text(html, encoding="utf-8")
        for kind in ("browser", "performance"):
            browser.get_log(kind)  # forget earlier pages
        browser.get(path.as_uri())
        return browser

    return open_page
