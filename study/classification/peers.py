"""The rivals: classifiers of coded rows.

Each has ``fit(codes, n_states, y, n_classes)`` and ``predict_proba(codes)``: codes of shape
(rows, inputs), classes y = 0 … K − 1, all of which occur. A code r_i, one beyond the states, is a
value never seen in training: generative models sum the input out (its factor is 1; as a parent it
is dropped), the others see an all-zero one-hot block (boosting: a missing value).
``dimension`` is the number of free parameters, where that says something.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

Folds = list[tuple[np.ndarray, np.ndarray]]


class Peer(Protocol):
    """What every rival can do."""

    dimension: int | None

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "Peer": ...

    def predict_proba(self, codes: np.ndarray) -> np.ndarray: ...


def log_loss(probability: np.ndarray, y: np.ndarray) -> float:
    """−mean log p(y|x) in nats; infinite where an observed class has probability 0."""
    with np.errstate(divide="ignore"):
        return float(-np.log(probability[np.arange(len(y)), y]).mean())


def one_hot(codes: np.ndarray, n_states: Sequence[int]) -> np.ndarray:
    """Indicator columns of all states, (rows, Σ r_i); an unseen value has none."""
    blocks = [codes[:, [i]] == np.arange(r) for i, r in enumerate(n_states)]
    return np.concatenate(blocks, axis=1).astype(np.float64)


def inner_folds(y: np.ndarray, n_folds: int = 3) -> Folds:
    """Stratified folds of training rows, for tuning; any class of two rows stays in each training
    part.
    """
    with warnings.catch_warnings():  # classes of two rows cannot be in three test parts
        warnings.filterwarnings("ignore", message="The least populated class")
        cut = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        return list(cut.split(np.zeros(len(y)), y))


def best_ridge(
    cells: np.ndarray | csr_array, y: np.ndarray, grid: Sequence[float], max_iter: int
) -> float:
    """The C of logistic regression with the least log-loss in inner folds; the first of equals."""
    losses = np.zeros(len(grid))
    for train, test in inner_folds(y):
        model = LogisticRegression(warm_start=True, max_iter=max_iter)
        for i, c in enumerate(grid):
            model.set_params(C=c).fit(cells[train], y[train])
            losses[i] += len(test) * log_loss(model.predict_proba(cells[test]), y[test])
    return grid[int(np.argmin(losses))]


class NaiveBayes:
    """p(y, x) = p(y) Π p(x_i|y), p(x_i|y) = (n + α)/(n_y + α r_i); α = 1 is Laplace's.

    p(y) is the class frequency, as in scikit-learn's CategoricalNB.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "NaiveBayes":
        self.n_states = n_states
        counts = _classes_one_hot(y, n_classes).T @ one_hot(codes, n_states)
        n_of_class = np.bincount(y, minlength=n_classes)
        r = np.repeat(n_states, n_states)
        self.log_prior = np.log(n_of_class / len(y))
        self.log_theta = np.log((counts + self.alpha) / (n_of_class[:, None] + self.alpha * r))
        self.dimension = n_classes - 1 + n_classes * (sum(n_states) - len(n_states))
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        log_joint = self.log_prior + one_hot(codes, self.n_states) @ self.log_theta.T
        return np.exp(log_softmax(log_joint, axis=1))


class TreeAugmentedNaiveBayes:
    """Generative TAN (Friedman, Geiger & Goldszmidt 1997): a tree over the inputs, rooted at the
    first one, that maximises Σ I(x_i; x_parent | y); the class is a parent of all.

        p(x_i | x_j, y) = (n + m/r_i)/(n_{j,y} + m)

    ``parents[i]``: the other parent of input i, −1 for the root.
    """

    def __init__(self, mass: float = 1.0) -> None:
        self.mass = mass

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "TreeAugmentedNaiveBayes":
        joint = _joint_counts(codes, n_states, y, n_classes)
        self.parents = maximum_spanning_tree(conditional_mutual_information(joint, n_states))
        n_of_class = np.bincount(y, minlength=n_classes)
        self.log_prior = np.log(n_of_class / len(y))
        starts = np.concatenate([[0], np.cumsum(n_states)])
        self.dimension = n_classes - 1
        self.tables = []
        for i, (r, parent) in enumerate(zip(n_states, self.parents, strict=True)):
            own = slice(starts[i], starts[i + 1])
            alone = np.diagonal(joint[:, own, own], axis1=1, axis2=2)
            rows = [self._smoothed(alone)]  # the last row: no parent, or an unseen one
            self.dimension += n_classes * (r - 1)
            if parent >= 0:
                counts = joint[:, starts[parent] : starts[parent + 1], own]
                rows = [*np.moveaxis(self._smoothed(counts), 1, 0), *rows]
                self.dimension += n_classes * (r - 1) * (n_states[parent] - 1)
            log_theta = np.log(np.stack(rows, axis=1))
            self.tables.append(np.pad(log_theta, [(0, 0), (0, 0), (0, 1)]))  # unseen: factor 1
        return self

    def _smoothed(self, counts: np.ndarray) -> np.ndarray:
        share = self.mass / counts.shape[-1]
        return (counts + share) / (counts.sum(axis=-1, keepdims=True) + self.mass)

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        log_joint = np.tile(self.log_prior[:, None], len(codes))
        for i, (parent, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            log_joint += table[:, codes[:, parent] if parent >= 0 else 0, codes[:, i]]
        return np.exp(log_softmax(log_joint.T, axis=1))


def conditional_mutual_information(joint: np.ndarray, n_states: Sequence[int]) -> np.ndarray:
    """I(x_i; x_j | y) in nats for all pairs, from counts (K, Σ r, Σ r) of pairs of states.

    I = Σ n(x_i, x_j, y)/N · log [n(x_i, x_j, y) n(y) / (n(x_i, y) n(x_j, y))]
    """
    alone = np.diagonal(joint, axis1=1, axis2=2)
    n_of_class = alone[:, : n_states[0]].sum(axis=1)
    present = joint > 0
    expected = alone[:, :, None] * alone[:, None, :] / n_of_class[:, None, None]
    ratio = np.divide(joint, expected, out=np.ones_like(joint), where=present)
    terms = (joint * np.log(ratio)).sum(axis=0) / n_of_class.sum()
    starts = np.concatenate([[0], np.cumsum(n_states)[:-1]])
    return np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)


def maximum_spanning_tree(weights: np.ndarray) -> list[int]:
    """Parents in the maximum spanning tree rooted at 0 (Prim); the first of equals is taken."""
    n = len(weights)
    parents, best = np.full(n, -1), weights[0].copy()
    parents[1:] = 0
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    while outside.any():
        new = int(np.argmax(np.where(outside, best, -np.inf)))
        outside[new] = False
        better = outside & (weights[new] > best)
        best[better], parents[better] = weights[new][better], new
    return parents.tolist()


class AODE:
    """Averaged one-dependence estimators (Webb, Boughton & Wang 2005), every seen value a parent:

        p(y, x) ∝ Σ_i p(y, x_i) Π_{j≠i} p(x_j | y, x_i)

    m-estimates, m = 1: p(y, x_i) = (n + m/(K r_i))/(N + m), p(x_j|y, x_i) = (n + m/r_j)/(n_i + m).
    The least frequency of a parent is 1, so an unseen value is none.
    """

    def __init__(self, mass: float = 1.0) -> None:
        self.mass = mass

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "AODE":
        self.n_states, m = n_states, self.mass
        joint = _joint_counts(codes, n_states, y, n_classes)
        alone = np.diagonal(joint, axis1=1, axis2=2)
        r = np.repeat(n_states, n_states)
        self.log_prior = np.log(np.bincount(y, minlength=n_classes) / len(y))
        self.log_parent = np.log((alone + m / (n_classes * r)) / (len(y) + m))
        self.log_theta = np.log((joint + m / r) / (alone[:, :, None] + m))  # [y, parent, child]
        owner = np.repeat(np.arange(len(n_states)), n_states)
        self.log_theta[:, owner[:, None] == owner] = 0.0
        pairs = (sum(n_states) - len(n_states)) ** 2 - sum((r - 1) ** 2 for r in n_states)
        self.dimension = n_classes * (1 + sum(n_states) - len(n_states) + pairs // 2) - 1
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        cells = one_hot(codes, self.n_states)
        log_joint = np.empty((len(codes), len(self.log_prior)))
        for k, (log_parent, log_theta) in enumerate(
            zip(self.log_parent, self.log_theta, strict=True)
        ):
            by_parent = cells @ log_theta.T + log_parent
            log_joint[:, k] = logsumexp(np.where(cells > 0, by_parent, -np.inf), axis=1)
        no_parent = ~np.isfinite(log_joint).all(axis=1)
        log_joint[no_parent] = self.log_prior
        return np.exp(log_softmax(log_joint, axis=1))


class Tuned:
    """A peer whose one setting is chosen by inner 3-fold log-loss; the first of equals."""

    def __init__(self, make: Callable[[float], Peer], values: Sequence[float]) -> None:
        self.make, self.values = make, values

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "Tuned":
        folds = inner_folds(y)
        losses = [self._loss(value, folds, codes, n_states, y, n_classes) for value in self.values]
        self.value = self.values[int(np.argmin(losses))]
        self.peer = self.make(self.value).fit(codes, n_states, y, n_classes)
        self.dimension = self.peer.dimension
        return self

    def _loss(
        self,
        value: float,
        folds: Folds,
        codes: np.ndarray,
        n_states: Sequence[int],
        y: np.ndarray,
        n_classes: int,
    ) -> float:
        total = 0.0
        for train, test in folds:
            peer = self.make(value).fit(codes[train], n_states, y[train], n_classes)
            total += len(test) * log_loss(peer.predict_proba(codes[test]), y[test])
        return total

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        return self.peer.predict_proba(codes)


class Logistic:
    """Logistic regression on one-hot columns, ridge; C by inner 3-fold log-loss.

    The model is the naive EBNC's; the prior differs.
    """

    grid = tuple(10.0 ** np.arange(-2, 2.5, 0.5))

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "Logistic":
        self.n_states = n_states
        cells = one_hot(codes, n_states)
        self.c = best_ridge(cells, y, self.grid, max_iter=5_000)
        self.model = LogisticRegression(C=self.c, tol=1e-6, max_iter=20_000).fit(cells, y)
        self.dimension = (n_classes - 1) * (1 + sum(n_states) - len(n_states))
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(one_hot(codes, self.n_states))


class LogisticPairs:
    """Logistic regression on one-hot columns of all inputs and of all pairs of inputs, ridge."""

    grid = tuple(10.0 ** np.arange(-3, 1.5, 0.5))

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "LogisticPairs":
        self.n_states = n_states
        cells = self._cells(codes)
        self.kept = np.flatnonzero(np.asarray(cells.sum(axis=0)).ravel())
        cells = cells[:, self.kept]  # a pair of states that never occurs has no weight
        self.c = best_ridge(cells, y, self.grid, max_iter=1_000)
        self.model = LogisticRegression(C=self.c, max_iter=5_000).fit(cells, y)
        free = [r - 1 for r in n_states]
        pairs = (sum(free) ** 2 - sum(r * r for r in free)) // 2
        self.dimension = (n_classes - 1) * (1 + sum(free) + pairs)
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(self._cells(codes)[:, self.kept])

    def _cells(self, codes: np.ndarray) -> csr_array:
        """Indicators of states and of pairs of states; an unseen value has none."""
        columns, n_columns = [], 0
        for terms in (1, 2):
            for inputs in combinations(range(len(self.n_states)), terms):
                r = [self.n_states[i] for i in inputs]
                seen = np.all(codes[:, inputs] < r, axis=1)
                cell = np.ravel_multi_index(tuple(codes[:, inputs].T), r, mode="clip")
                columns.append(np.where(seen, n_columns + cell, -1))
                n_columns += int(np.prod(r))
        places = np.stack(columns, axis=1)
        rows, which = np.nonzero(places >= 0)
        shape = (len(codes), n_columns)
        return csr_array((np.ones(len(rows)), (rows, places[rows, which])), shape=shape)


class Forest:
    """Random forest of 500 trees on one-hot columns, with smoothed leaves.

    Plain leaves give hard zeros. The remedy is the usual one (Provost & Domingos 2003), with class
    frequencies π instead of uniform ones: each leaf says (n_k + s π_k)/(n + s), trees are averaged.
    Least leaf size and s are those of the least out-of-bag log-loss.
    """

    dimension = None
    leaf_sizes = (1, 3)
    smoothings = (0.1, 0.3, 1.0, 3.0)

    def __init__(self, n_trees: int = 500) -> None:
        self.n_trees = n_trees

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
    ) -> "Forest":
        self.n_states = n_states
        self.frequencies = np.bincount(y, minlength=n_classes) / len(y)
        cells = one_hot(codes, n_states).astype(np.float32)
        least = np.inf
        for size in self.leaf_sizes:
            forest = RandomForestClassifier(self.n_trees, min_samples_leaf=size, random_state=0)
            forest.fit(cells, y)
            outside = np.ones((self.n_trees, len(y)), dtype=bool)
            for row, drawn in zip(outside, forest.estimators_samples_, strict=True):
                row[drawn] = False
            judged = outside.any(axis=0)
            for s, p in self._smoothed(forest, cells, self.smoothings, outside).items():
                loss = log_loss(p[judged], y[judged])
                if loss < least:
                    least, self.forest, self.smoothing, self.leaf_size = loss, forest, s, size
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        cells = one_hot(codes, self.n_states).astype(np.float32)
        every = np.ones((self.n_trees, len(codes)), dtype=bool)
        return self._smoothed(self.forest, cells, [self.smoothing], every)[self.smoothing]

    def _smoothed(
        self,
        forest: RandomForestClassifier,
        cells: np.ndarray,
        smoothings: Sequence[float],
        counted: np.ndarray,
    ) -> dict[float, np.ndarray]:
        """Means of smoothed leaves for each s, over the trees that count for a row (at least 1)."""
        sums = {s: np.zeros((len(cells), len(self.frequencies))) for s in smoothings}
        leaves = forest.apply(cells)
        for t, tree in enumerate(forest.estimators_):
            rows = counted[t]
            share = tree.tree_.value[leaves[rows, t], 0]
            n = tree.tree_.weighted_n_node_samples[leaves[rows, t], None]
            for s, total in sums.items():
                total[rows] += (n * share + s * self.frequencies) / (n + s)
        n_trees = np.maximum(counted.sum(axis=0), 1)[:, None]
        return {s: total / n_trees for s, total in sums.items()}


class Boosting:
    """Gradient boosting by histograms, inputs categorical.

    A third of the training rows decides when to stop and the least leaf size (5 or 20); then all
    of them are fitted with as many rounds.
    """

    dimension = None
    leaf_sizes = (5, 20)

    def fit(
        self, codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, _n_classes: int
    ) -> "Boosting":
        self.n_inputs = len(n_states)
        train, test = inner_folds(y)[0]
        least = np.inf
        for size in self.leaf_sizes:
            tried = self._model(size, 500).set_params(early_stopping=True, n_iter_no_change=10)
            tried.fit(codes[train], y[train], X_val=codes[test], y_val=y[test])
            losses = [log_loss(p, y[test]) for p in tried.staged_predict_proba(codes[test])]
            if min(losses) < least:
                least = min(losses)
                self.leaf_size, self.n_rounds = size, int(np.argmin(losses)) + 1
        self.model = self._model(self.leaf_size, self.n_rounds).fit(codes, y)
        return self

    def _model(self, leaf_size: int, n_rounds: int) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            max_iter=n_rounds,
            min_samples_leaf=leaf_size,
            early_stopping=False,
            categorical_features=range(self.n_inputs),
            random_state=0,
        )

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(codes)


def _classes_one_hot(y: np.ndarray, n_classes: int) -> np.ndarray:
    return (y[:, None] == np.arange(n_classes)).astype(np.float64)


def _joint_counts(
    codes: np.ndarray, n_states: Sequence[int], y: np.ndarray, n_classes: int
) -> np.ndarray:
    """Counts of every pair of states in every class, (K, Σ r, Σ r); the diagonal counts states."""
    cells = one_hot(codes, n_states)
    return np.stack([cells[y == k].T @ cells[y == k] for k in range(n_classes)])
