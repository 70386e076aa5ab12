"""Small learning problems with known ingredients, shared by several tests."""

from itertools import product

import numpy as np

from ebnc import EBNC, Domain, EmbeddedStructure
from ebnc.data.cases import Cases, check_weights
from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import as_prior
from ebnc.parameters.phi import Basis

STRUCTURES = {
    "naive": "[Y][A|Y][B|Y][C|Y][D|Y]",
    "chain": "[Y][A|Y][B|A:Y][C|B:Y][D|C:Y]",
    "worked": "[A][B][C][Y|A:B][D|A:C:Y][E|B:C:Y]",
    "table": "[A][B][C][Y|A:B:C]",
    "isolated": "[Y][A]",
}
SIZES = {"A": 3, "B": 2, "C": 4, "D": 2, "E": 3}


def structure_named(name):
    return EmbeddedStructure.from_string(STRUCTURES[name], target="Y")


def domain_of(structure, n_classes):
    return Domain({x: SIZES[x] for x in structure.inputs} | {"Y": n_classes})


def random_data(structure, domain, n_rows, seed=0, scale=1.0):
    """Rows with uniform inputs and classes drawn from a random EBNC of the structure."""
    generator = np.random.default_rng(seed)
    basis = Basis(structure, domain)
    phi = generator.normal(scale=scale, size=basis.dimension)
    truth = EBNC(structure, domain, phi, "orthonormal")
    data = {x: generator.integers(0, domain.n_states(x), n_rows) for x in structure.inputs}
    shares = truth.probabilities(data).cumsum(axis=1)
    data["Y"] = (generator.random((n_rows, 1)) > shares).sum(axis=1)
    return data, truth


def exact_counts(truth, generator):
    """All configurations and classes, weighted with their true probabilities."""
    domain, structure = truth.domain, truth.structure
    cells = np.array(list(product(*(range(domain.n_states(x)) for x in structure.inputs))))
    columns = {x: cells[:, i] for i, x in enumerate(structure.inputs)}
    share_of_x = generator.dirichlet(np.full(len(cells), 10.0))
    weights = share_of_x[:, None] * truth.probabilities(columns)
    n_classes = domain.n_states("Y")
    data = {x: np.repeat(column, n_classes) for x, column in columns.items()}
    data["Y"] = np.tile(np.arange(n_classes), len(cells))
    return data, weights.ravel()


def read_cases(data, domain, inputs, target, weights=None):
    """The cases of a table with known states; rows of weight 0 are left out."""
    names = list(dict.fromkeys([*inputs, target]))
    coded = encode(data, domain, names)
    weights = check_weights(weights, len(coded))
    kept = slice(None) if weights is None else weights > 0
    places = [coded.names.index(x) for x in inputs]
    sizes = tuple(domain.n_states(x) for x in inputs)
    rows = CodedRows(tuple(inputs), sizes, coded.codes[places][:, kept])
    weights = None if weights is None else weights[kept]
    return Cases(domain, target, rows, coded.column(target)[kept], weights)


def posterior_of(structure, domain, data, prior_scale=1.0, weights=None, most_cells=128):
    cases = read_cases(data, domain, structure.markov_blanket, "Y", weights)
    design = Design.of(Basis(structure, domain), most_cells)
    return Posterior(design, count_cells(design, cases), as_prior(prior_scale)), cases


def log_joint(posterior, phi):
    """log p(D, φ | m) at any φ, normalising constants included."""
    return posterior.log_likelihood(phi) + posterior.prior.log_density(posterior.design, phi)
