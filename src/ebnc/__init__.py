"""Embedded Bayesian network classifiers (Heckerman & Meek 1997).

Names are loaded on first use, so that ``import ebnc`` costs next to nothing.
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from ebnc.storage import provide

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.domain import Domain, Interval
    from ebnc.errors import EBNCError
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.estimator.features import EBNCFeatures
    from ebnc.estimator.regressor import EBNCRegressor
    from ebnc.fitted import FittedEBNC
    from ebnc.fitting.closest_theta import closest_embedded_network
    from ebnc.formats.bif import read_bif, write_bif
    from ebnc.formats.code.export import export
    from ebnc.formats.native import load, save
    from ebnc.learn import fit, fit_theta
    from ebnc.network.inference.average import NetworkAverage
    from ebnc.network.local.counting import CountingEBNC
    from ebnc.network.local.noisy_max import NoisyMax
    from ebnc.network.local.table import Table
    from ebnc.network.local.tree import DecisionGraph, Tree
    from ebnc.network.network import LearnedNetwork, Network
    from ebnc.parameters.blocks import dimension_by_blocks
    from ebnc.parameters.dimension import dimension
    from ebnc.parameters.ebnc import EBNC
    from ebnc.parameters.elimination import dimension_by_elimination
    from ebnc.parameters.embedded_network import EmbeddedNetwork
    from ebnc.parameters.gaussian import EmbeddedGaussianNetwork
    from ebnc.parameters.generic import generic_dimension
    from ebnc.report.displays.contributions import ContributionsDisplay
    from ebnc.report.displays.effect import EffectDisplay
    from ebnc.report.displays.importance import ImportanceDisplay
    from ebnc.report.displays.reliability import ReliabilityDisplay
    from ebnc.report.displays.structure import StructureDisplay
    from ebnc.report.displays.trace import SearchTraceDisplay
    from ebnc.structure.embedded import EmbeddedStructure

    __version__: str

__all__ = [
    "EBNC",
    "ContributionsDisplay",
    "CountingEBNC",
    "DataFiles",
    "DecisionGraph",
    "Domain",
    "EBNCClassifier",
    "EBNCError",
    "EBNCFeatures",
    "EBNCRegressor",
    "EffectDisplay",
    "EmbeddedGaussianNetwork",
    "EmbeddedNetwork",
    "EmbeddedStructure",
    "FittedEBNC",
    "ImportanceDisplay",
    "Interval",
    "LearnedNetwork",
    "Network",
    "NetworkAverage",
    "NoisyMax",
    "ReliabilityDisplay",
    "SearchTraceDisplay",
    "StructureDisplay",
    "Table",
    "Tree",
    "closest_embedded_network",
    "dimension",
    "dimension_by_blocks",
    "dimension_by_elimination",
    "export",
    "fit",
    "fit_theta",
    "generic_dimension",
    "load",
    "read_bif",
    "save",
    "write_bif",
]

_HOME = {
    "ContributionsDisplay": "ebnc.report.displays.contributions",
    "EffectDisplay": "ebnc.report.displays.effect",
    "ImportanceDisplay": "ebnc.report.displays.importance",
    "ReliabilityDisplay": "ebnc.report.displays.reliability",
    "SearchTraceDisplay": "ebnc.report.displays.trace",
    "StructureDisplay": "ebnc.report.displays.structure",
    "DataFiles": "ebnc.data.files",
    "Domain": "ebnc.domain",
    "EBNC": "ebnc.parameters.ebnc",
    "EBNCClassifier": "ebnc.estimator.classifier",
    "EBNCError": "ebnc.errors",
    "EBNCFeatures": "ebnc.estimator.features",
    "EmbeddedGaussianNetwork": "ebnc.parameters.gaussian",
    "EBNCRegressor": "ebnc.estimator.regressor",
    "EmbeddedNetwork": "ebnc.parameters.embedded_network",
    "EmbeddedStructure": "ebnc.structure.embedded",
    "FittedEBNC": "ebnc.fitted",
    "Interval": "ebnc.domain",
    "LearnedNetwork": "ebnc.network.network",
    "DecisionGraph": "ebnc.network.local.tree",
    "Network": "ebnc.network.network",
    "NoisyMax": "ebnc.network.local.noisy_max",
    "NetworkAverage": "ebnc.network.inference.average",
    "CountingEBNC": "ebnc.network.local.counting",
    "Table": "ebnc.network.local.table",
    "Tree": "ebnc.network.local.tree",
    "closest_embedded_network": "ebnc.fitting.closest_theta",
    "dimension": "ebnc.parameters.dimension",
    "dimension_by_blocks": "ebnc.parameters.blocks",
    "dimension_by_elimination": "ebnc.parameters.elimination",
    "export": "ebnc.formats.code.export",
    "fit": "ebnc.learn",
    "fit_theta": "ebnc.learn",
    "generic_dimension": "ebnc.parameters.generic",
    "load": "ebnc.formats.native",
    "read_bif": "ebnc.formats.bif",
    "save": "ebnc.formats.native",
    "write_bif": "ebnc.formats.bif",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("ebnc")
    if name not in _HOME:
        raise AttributeError(f"module 'ebnc' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


for _name in ("read_bif", "save", "write_bif"):  # methods of models call them
    provide(_name, partial(__getattr__, _name))
provide("draw_html", lambda: import_module("ebnc.report.inline").draw_html)
