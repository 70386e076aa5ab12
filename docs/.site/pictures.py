"""Make the pictures of README and docs, in docs/pictures: a report, an effect, the notebooks.

Run it from the root of the repository; it needs Chromium, selenium, matplotlib and Pillow.
"""

import base64
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from PIL import Image
from selenium import webdriver
from sklearn.datasets import load_iris

import ebnc

PICTURES = Path("docs/pictures")


def draw_effect() -> None:
    """What the width of a petal adds to the log odds of each kind of iris."""
    mpl.rcParams["svg.hashsalt"] = "ebnc"  # the same file every time
    x, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    model = ebnc.EBNCClassifier().fit(x, y)
    display = ebnc.EffectDisplay.from_estimator(model, "petal width (cm)")
    display.figure_.set_size_inches(5.4, 3.4)
    display.ax_.set_xlim(0, 2.6)
    display.figure_.savefig(PICTURES / "effect.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(display.figure_)


def draw_report() -> None:
    """The upper part of the report of ``ebnc demo``, as a browser shows it."""
    run = "from ebnc.cli import main; main()"
    options = webdriver.ChromeOptions()
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", run, "demo", "--out", folder, "--force"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with webdriver.Chrome(options) as browser:
            browser.set_window_size(1240, 1100)
            browser.get((Path(folder) / "report.html").as_uri())
            time.sleep(1)  # fonts and curves
            image = Image.open(io.BytesIO(browser.get_screenshot_as_png()))
    image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
        PICTURES / "report.png", optimize=True
    )


def first_picture(notebook: Path) -> Image.Image:
    """The first picture that a notebook holds, as wide as the gallery shows it."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    data = next(o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {}))
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    picture.thumbnail((480, 360))
    return picture


def draw_gallery() -> None:
    """A small picture of every notebook."""
    for notebook in sorted(Path("docs/examples").glob("*.ipynb")):
        picture = first_picture(notebook).convert("RGB").quantize(32)
        picture.save(PICTURES / f"notebook-{notebook.stem}.png", optimize=True)


if __name__ == "__main__":
    draw_gallery()
    draw_effect()
    draw_report()
