"""Who survived the Titanic? Learn p(survived | class, sex, age) and choose the model by evidence.

The data are the 2 201 people on board, as a table of counts (Dawson 1995, Journal of Statistics
Education 3); R ships the same table.
"""

import ebnc

CLASSES = ["1st", "2nd", "3rd", "crew"]
COUNTS = {  # (sex, age, survived): counts by class
    ("male", "child", "no"): [0, 0, 35, 0],
    ("female", "child", "no"): [0, 0, 17, 0],
    ("male", "adult", "no"): [118, 154, 387, 670],
    ("female", "adult", "no"): [4, 13, 89, 3],
    ("male", "child", "yes"): [5, 11, 13, 0],
    ("female", "child", "yes"): [1, 13, 14, 0],
    ("male", "adult", "yes"): [57, 14, 75, 192],
    ("female", "adult", "yes"): [140, 80, 76, 20],
}


def people() -> tuple[dict[str, list[str]], list[int]]:
    """Return one row for each combination, and the number of people it stands for."""
    rows = [
        (place, sex, age, survived, n)
        for (sex, age, survived), counts in COUNTS.items()
        for place, n in zip(CLASSES, counts, strict=True)
    ]
    place, sex, age, survived, n = (list(column) for column in zip(*rows, strict=True))
    return {"class": place, "sex": sex, "age": age, "survived": survived}, n


def main() -> None:
    """Compare four structures by evidence, then print the best one and its predictions."""
    data, weights = people()
    inputs = ["class", "sex", "age"]
    structures = {
        "nothing": "[survived][class][sex][age]",
        "naive": "[survived][class|survived][sex|survived][age|survived]",
        "class and sex together": "[survived][class|survived][sex|class:survived][age|survived]",
        "full table": "[class][sex][age][survived|class:sex:age]",
    }
    print(f"{'structure':26}{'parameters':>11}{'log evidence':>14}{'BIC':>11}   prior scales")
    fitted = {}
    for name, string in structures.items():
        structure = ebnc.EmbeddedStructure.from_string(string, target="survived")
        model = fitted[name] = ebnc.fit(structure, data, weights=weights)
        scales = ", ".join(f"{scale:.2f}" for scale in model.prior.scales)
        scores = f"{model.log_evidence:>14.2f}{model.bic:>11.2f}"
        print(f"{name:26}{model.dimension:>11}{scores}   {scales}")
    best = max(fitted, key=lambda name: fitted[name].log_evidence)
    print(f"\nOf these four structures “{best}” has the highest evidence.")
    print("What each state adds to the log odds of survival:\n")
    print(fitted[best].phi_table())

    cases = {"class": ["1st", "3rd", "crew"], "sex": ["female", "female", "male"]}
    cases["age"] = ["adult", "child", "adult"]
    intervals = fitted[best].probability_intervals(cases)
    print("\np(survived) with 95 % intervals:")
    for i, who in enumerate(zip(*(cases[x] for x in inputs), strict=True)):
        p, low, high = (part[i, 1] for part in intervals)
        print(f"  {', '.join(who):22}{p:.3f}  ({low:.3f} – {high:.3f})")


if __name__ == "__main__":
    main()
