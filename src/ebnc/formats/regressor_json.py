"""Fitted regressors as JSON: the classifier of the bins, and what makes a density of them.

The cuts between bins are in the domain of the classifier, as the intervals of the target.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ebnc.domain import Interval
from ebnc.field import Field
from ebnc.formats.classifier_json import (
    StoredClassifier,
    classifier_to_json,
    features_from_json,
    features_to_json,
    stored_from_json,
)
from ebnc.parameters.bin_density import BinDensity
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.predictor import Predictor

if TYPE_CHECKING:
    from ebnc.estimator.regressor import EBNCRegressor

LARGEST_ADDED = 300.0  # in nats; products of their exponentials are finite


@dataclass(frozen=True, eq=False)
class StoredRegressor:
    """The contents of the file of a fitted regressor."""

    classifier: StoredClassifier
    density: SmoothDensity
    n_features: int
    feature_names: tuple[str, ...] | None

    @property
    def predictor(self) -> Predictor:
        """The predictor of the bins for coded rows, without compiled kernels."""
        return replace(self.classifier.predictor, density=self.density)

    def to_regressor(self) -> "EBNCRegressor":
        """Make the estimator; its predictions equal those of the saved one bit for bit."""
        from ebnc.estimator.regressor import EBNCRegressor

        parameters = dict(self.classifier.parameters)
        del parameters["class_weight"]
        regressor = EBNCRegressor(**parameters)
        regressor.n_features_in_ = self.n_features
        regressor._names = self.feature_names or tuple(f"x{i}" for i in range(self.n_features))
        if self.feature_names is not None:
            regressor.feature_names_in_ = np.array(self.feature_names, dtype=object)
        regressor._keep(self.classifier.to_classifier(), self.density)
        return regressor


def regressor_to_json(regressor: "EBNCRegressor") -> dict[str, Any]:
    """Convert a fitted regressor to plain data."""
    return {
        "features": features_to_json(regressor),
        "means": regressor.density_.bins.means.tolist(),
        "atoms": list(regressor.density_.bins.atoms),
        "corrections": regressor.density_.corrections.tolist(),
        "offsets": regressor.density_.offsets.tolist(),
        "classifier": classifier_to_json(regressor.classifier_),
    }


def stored_regressor_from_json(field: Field) -> StoredRegressor:
    """Invert ``regressor_to_json``, and check every field."""
    parts = field.object(["features", "means", "atoms", "corrections", "offsets", "classifier"])
    classifier = stored_from_json(parts["classifier"])
    ebnc = classifier.ebnc
    bins = ebnc.domain[ebnc.target]
    if not all(isinstance(label, Interval) for label in bins):
        raise parts["classifier"].error("the states of the target must be intervals")
    cuts = np.array([label.high for label in bins[:-1] if isinstance(label, Interval)])
    means = np.array([item.number() for item in parts["means"].items()])
    if len(means) != len(bins) or (np.searchsorted(cuts, means) != np.arange(len(bins))).any():
        raise parts["means"].error("must hold one number in every bin of the target")
    inputs = set(ebnc.domain) - {ebnc.target}
    atoms = tuple(item.integer(0, len(bins) - 1) for item in parts["atoms"].items())
    added = []
    for name in ("corrections", "offsets"):
        added.append(np.array([item.number(LARGEST_ADDED) for item in parts[name].items()]))
        if len(added[-1]) != len(bins):
            raise parts[name].error("must hold one number for every bin of the target")
    density = SmoothDensity(BinDensity(cuts, means, atoms), *added)
    return StoredRegressor(classifier, density, *features_from_json(parts["features"], inputs))
