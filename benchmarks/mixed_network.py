"""A network over a table of numbers, labels and gaps: held-out likelihood, and a two-sample test.

``python -m benchmarks.mixed_network adult.csv.gz smooth quantile`` learns networks from 2 000 rows
and prints for each kind of numbers

- the mean log-likelihood of up to 3 000 other rows, with densities of numbers on their own scale
  (those of intervals are spread as ``BinDensity`` does), its standard error, and CPU seconds;
- for smooth numbers, how well boosting tells these rows from as many samples of the network:
  two-fold accuracy, .5 if they look the same.

Test rows with a label that the training rows do not have are left out.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from ebnc.domain import Interval
from ebnc.network.network import Network
from ebnc.parameters.bin_density import BinDensity

N_TRAIN, N_TEST = 2_000, 3_000


def split(path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return shuffled training rows, and test rows whose labels all occur among them."""
    rows = pd.read_csv(path).sample(frac=1, random_state=0).reset_index(drop=True)
    train, test = rows[:N_TRAIN], rows[N_TRAIN : N_TRAIN + N_TEST]
    for x in labels(rows):
        test = test[test[x].isin(train[x].unique()) | test[x].isna()]
    return train, test.reset_index(drop=True)


def labels(rows: pd.DataFrame) -> list[str]:
    """Return the columns that are no numbers."""
    return [x for x in rows if not pd.api.types.is_numeric_dtype(rows[x])]


def log_densities(network: Network, train: pd.DataFrame, test: pd.DataFrame) -> np.ndarray:
    """Return log p of every test row; numbers in intervals get a density inside of them."""
    total = network.log_likelihood(test)
    for x in network:
        if x not in network.densities and isinstance(network.domain[x][0], Interval):
            ends = [state.high for state in network.domain[x] if isinstance(state, Interval)]
            inside = BinDensity.of(train[x].dropna().to_numpy(float), np.array(ends[:-1]))
            total = total + inside.log_density_in_bin(test[x].to_numpy(float))
    return total


def accuracy_of_telling_apart(real: pd.DataFrame, drawn: pd.DataFrame) -> float:
    """Return the two-fold accuracy of boosting on real and drawn rows."""
    both = pd.concat([real, drawn], ignore_index=True)
    for x in labels(both):
        both[x] = both[x].astype("category").cat.codes.replace(-1, np.nan)
    is_label = [x in labels(real) for x in both]
    is_drawn = np.repeat([0.0, 1.0], [len(real), len(drawn)])
    fold = np.random.default_rng(0).integers(0, 2, len(both))
    scores = [
        HistGradientBoostingClassifier(random_state=0, categorical_features=is_label)
        .fit(both[fold != k], is_drawn[fold != k])
        .score(both[fold == k], is_drawn[fold == k])
        for k in (0, 1)
    ]
    return float(np.mean(scores))


def main(path: str, *kinds: str) -> None:
    """Learn and measure a network for each kind of numbers."""
    warnings.simplefilter("ignore")
    train, test = split(path)
    for numbers in kinds:
        began = time.process_time()
        network = Network.learn(train, numbers=numbers)
        seconds = time.process_time() - began
        found = log_densities(network, train, test)
        error = found.std() / np.sqrt(len(found))
        print(f"{numbers}: {found.mean():.3f} ± {error:.3f} per row, {seconds:.1f} s", flush=True)
        if numbers == "smooth":
            drawn = network.sample(len(test), random_state=1)
            print(f"samples told from rows: {accuracy_of_telling_apart(test, drawn):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
