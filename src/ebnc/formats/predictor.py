"""The predictor in a model file, without loading what only learning needs (scikit-learn, numba)."""

import os

from ebnc.errors import FormatError
from ebnc.formats.classifier_json import stored_from_json
from ebnc.formats.ebnc_json import ebnc_from_json
from ebnc.formats.native import named, open_document
from ebnc.formats.strict_json import read_json
from ebnc.predictor import Predictor

__all__ = ["read_predictor"]


def read_predictor(path: str | os.PathLike[str]) -> Predictor:
    """The predictor in a model file; every field is checked, as in ``ebnc.load``."""
    with named(path):
        opened = open_document(read_json(path))
        if opened.kind == "classifier":
            return stored_from_json(opened.model).predictor
        if opened.kind == "ebnc":
            return Predictor.of_ebnc(ebnc_from_json(opened.model), compiled=False)
        raise FormatError(f"a model of kind {opened.kind!r} does not predict one variable")
