"""An invented table of people: who joins a sports club? Numbers, labels, and missing entries."""

import csv
import io

import numpy as np

COLUMNS = ("person", "age", "income", "distance_km", "town", "job", "sport", "friend", "smoker")
TARGET = "joined"


def people(n_rows: int, seed: int, first: int = 1) -> bytes:
    """Return a CSV file of people; ``first``: the number of the first one.

    Young people join if a friend is a member; for others income and distance matter more.
    """
    generator = np.random.default_rng(seed)
    age = generator.integers(16, 80, n_rows)
    income = (generator.lognormal(3.4, 0.5, n_rows) * (1 + (age > 25))).round(1)
    distance = generator.gamma(2.0, 3.0, n_rows).round(1)
    town = generator.choice(["north", "south", "east", "west", "centre"], n_rows)
    job = generator.choice(["office", "trade", "care", "school", "none", "other"], n_rows)
    sport = generator.choice(["never", "monthly", "weekly"], n_rows, p=[0.4, 0.35, 0.25])
    friend = generator.choice(["yes", "no"], n_rows, p=[0.3, 0.7])
    smoker = generator.choice(["yes", "no"], n_rows, p=[0.2, 0.8])
    score = -0.4 - ((age - 35) / 22) ** 2 + 0.6 * np.log(income / 40) - 0.22 * distance
    score += np.select([sport == "weekly", sport == "monthly"], [1.8, 0.9], 0.0)
    score += np.where(friend == "yes", np.where(age < 30, 2.5, 0.8), 0.0)
    score += np.where(town == "centre", 0.8, 0.0) - np.where(smoker == "yes", 0.9, 0.0)
    joined = np.where(generator.logistic(size=n_rows) < score + 0.9, "yes", "no")
    texts = {
        "person": [f"P{first + i:05d}" for i in range(n_rows)],
        "age": age.astype(str),
        "income": np.where(generator.random(n_rows) < 0.06, "", income.astype(str)),
        "distance_km": distance.astype(str),
        "town": town,
        "job": np.where(generator.random(n_rows) < 0.03, "", job),
        "sport": sport,
        "friend": friend,
        "smoker": smoker,
        TARGET: joined,
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, TARGET])
    writer.writerows(zip(*(texts[name] for name in (*COLUMNS, TARGET)), strict=True))
    return text.getvalue().encode()
