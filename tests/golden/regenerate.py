"""Model files of every kind, with the predictions they must keep making.

    python tests/golden/regenerate.py

writes files of the current version of the format that are not there. Those that are stay as they
are: what was written once must remain readable; ``network-1-without-coding`` is a network as it was
written before its nodes named the coding of φ.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import ebnc
from ebnc.data.rows import CodedRows
from ebnc.domain import Interval
from ebnc.formats.native import FORMAT_VERSION, save
from ebnc.formats.provenance import DataSource, Provenance
from ebnc.parameters.background import Background

HERE = Path(__file__).parent
INF = float("inf")
PROVENANCE = Provenance("0.1.0", ("ebnc", "learn"), DataSource("weather.csv", 14, 4, "0" * 64))

DOMAIN = {
    "outlook": ["sunny", "rainy", None],
    "temperature": [Interval(-INF, 10.5), Interval(10.5, INF)],
    "windy": [False, True],
    "grade": [1, 2**60],
    "play": [0.5, 1.0],
}
ROWS = {
    "outlook": ["sunny", "rainy", None, "hail"],
    "temperature": [10.5, 11.0, -40.0, 1e9],
    "windy": [True, False, True, True],
    "grade": [1, 2**60, 1, 2**60],
}


def plain() -> ebnc.EBNC:
    structure = ebnc.EmbeddedStructure.tree("play", [("outlook", "windy")], list(DOMAIN)[:-1])
    phi = np.linspace(-1.0, 1.3, ebnc.dimension(structure, DOMAIN))
    return ebnc.EBNC(structure, DOMAIN, phi)


def background() -> ebnc.EBNC:
    """The same, with training data in short; what is not known is averaged over them."""
    model = plain()
    names = model.structure.inputs
    rows = CodedRows.from_codes(
        model.domain, {x: [0, 1, min(2, model.domain.n_states(x) - 1)] for x in names}
    )
    shares = {2: np.array([0.25, 0.75]), 3: np.array([0.5, 0.375, 0.125])}
    weights = {x: shares[model.domain.n_states(x)] for x in names}
    known = Background(weights, rows, np.array([0.5, 0.25, 0.25]))
    return ebnc.EBNC(model.structure, model.domain, model.phi, background=known)


def weather() -> tuple[dict[str, list[object]], list[str]]:
    columns = {
        "outlook": ["sunny", "sunny", "rainy", "rainy", None, "rainy"] * 5,
        "temperature": [float(i * 7 % 30) + 0.5 for i in range(30)],
        "windy": [i % 3 == 0 for i in range(30)],
    }
    return columns, ["yes" if i % 6 in (1, 2, 5) else "no" for i in range(30)]


def classifier() -> ebnc.EBNCClassifier:
    import pandas as pd

    columns, y = weather()
    return ebnc.EBNCClassifier().fit(pd.DataFrame(columns), pd.Series(y, name="play"))


NUMBER_ROWS = {
    "x": [-1.5, 0.3, None, 2.0],
    "z": [0.0, 4.25, -9.0, None],
    "size": ["small", "large", None, "huge"],
    "children": [0, 3, 7, 1],
    "flag": [True, False, True, False],
}


def numbers() -> ebnc.EBNCClassifier:
    """Curves of numbers, some missing, and their product; an order of labels; weak pairs."""
    import pandas as pd

    i = np.arange(360)
    x, z = (i * 7 % 9 - 4) / 2 + 0.25, (i * 5 % 11 - 5) / 2 + 0.25
    size, children = i * 11 % 3, i * 13 % 4
    noise = (i * 37 % 101) / 101 - 0.5
    signal = x * z + 0.6 * (size - 1) * (children - 1.5) + 0.8 * size + 4 * noise
    columns = {
        "x": np.where(i % 20 == 0, np.nan, x),
        "z": z,
        "size": pd.Categorical.from_codes(size, ["small", "middle", "large"], ordered=True),
        "children": children,
        "flag": i % 7 < 3,
    }
    y = pd.Series(np.where(signal > 0.5, "yes", "no"), name="play")
    model = ebnc.EBNCClassifier(kinds={"children": "ordered"}).fit(pd.DataFrame(columns), y)
    best, with_pairs = model.models_[0], model.models_[-1]
    model.models_ = [replace(best, weight=0.25), replace(with_pairs, weight=0.75)]
    return model


def fitted() -> ebnc.EBNC:
    columns, y = weather()
    structure = ebnc.EmbeddedStructure.naive("play", list(columns))
    return ebnc.fit(structure, {**columns, "play": y})


def network() -> ebnc.Network:
    """A node of every kind, an EBNC with and one without interactions."""
    two = {name: ["no", "yes"] for name in ("rain", "wet", "slippery", "late")}
    domain = {**DOMAIN, **two}
    naive = ebnc.EmbeddedStructure.naive("windy", ["outlook", "temperature"])
    chain = ebnc.EmbeddedStructure.chain("grade", ["windy", "outlook"])
    states, weights = [0, 1, 0, 0, 0], [[0, 0], [0, 0], [0.75, 0.25], [0.5, 0.5], [0.125, 0.875]]
    asked = ["outlook", "windy", None, None, None]
    causes = {
        "rain": [[1, 0], [0.25, 0.75]],
        "wet": [[1, 0], [0.0625, 0.9375]],
    }
    return ebnc.Network(
        [
            ebnc.Table("outlook", [], domain, [0.5, 0.375, 0.125]),
            ebnc.Table(
                "temperature", ["outlook"], domain, [[0.25, 0.75], [0.875, 0.125], [0.5, 0.5]]
            ),
            ebnc.EBNC(naive, domain, np.linspace(-1.0, 0.9, ebnc.dimension(naive, domain))),
            ebnc.EBNC(chain, domain, np.linspace(0.8, -0.7, ebnc.dimension(chain, domain))),
            ebnc.Tree("rain", domain, asked, states, [2, 3, 0, 0, 0], [1, 4, 0, 0, 0], weights),
            ebnc.DecisionGraph(
                "wet",
                domain,
                ["rain", "windy", None, None],
                [1, 1, 0, 0],
                [3, 3, 0, 0],
                [1, 2, 0, 0],
                [[0, 0], [0, 0], [0.875, 0.125], [0.25, 0.75]],
            ),
            ebnc.NoisyMax("slippery", domain, [0.96875, 0.03125], causes),
            ebnc.NoisyMax("late", domain, [0.125, 0.875], {}, descending=True),
        ]
    )


EVERYTHING = {
    **{name: values[:3] for name, values in ROWS.items()},
    "rain": ["yes", "no", "yes"],
    "wet": ["no", "no", "yes"],
    "slippery": ["no", "yes", "yes"],
    "late": ["yes", "yes", "no"],
}


def predictions(model: object) -> list[list[float]]:
    import pandas as pd

    if isinstance(model, ebnc.Network):
        log_p = [model[x].log_probability(EVERYTHING).tolist() for x in model]
        return [*log_p, model.log_likelihood(EVERYTHING).tolist()]
    if isinstance(model, ebnc.EBNCClassifier):
        # A constant may be called anything: no model looks at it.
        known = ROWS | NUMBER_ROWS
        rows = pd.DataFrame({x: known.get(x, ["any"] * 4) for x in model.feature_names_in_})
        return model.predict_proba(rows).tolist()
    return model.probabilities(ROWS, unseen="average").tolist()


MODELS = {
    "ebnc": plain,
    "background": background,
    "fitted": fitted,
    "classifier": classifier,
    "numbers": numbers,
    "network": network,
}


def main() -> None:
    for name, make in MODELS.items():
        path = HERE / f"{name}-{FORMAT_VERSION}.json"
        if path.exists():
            continue
        model = make()
        save(model, path, provenance=PROVENANCE, findings={"note": "golden"})
        expected = HERE / f"{name}-{FORMAT_VERSION}.predictions"
        expected.write_text(json.dumps(predictions(model)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
