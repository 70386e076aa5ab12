"""The most probable states of all unobserved variables, given evidence: exact, by two passes.

z* = argmax_z p(z | evidence)
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ebnc.domain import State
from ebnc.errors import TooLargeError
from ebnc.markup import html_table
from ebnc.network.inference.question import Question
from ebnc.network.inference.two_passes import TwoPasses
from ebnc.network.local.decision_nodes import state_text


@dataclass(frozen=True)
class MostProbable:
    """The most probable states of several variables together.

    Attributes
    ----------
    states : mapping of str to state
        The state of every variable without an observed state. That of a numeric variable is an
        interval.
    log_probability : float
        log p(states | evidence).
    """

    states: Mapping[str, State]
    log_probability: float

    def __getitem__(self, name: str) -> State:
        """Return the state of a variable."""
        return self.states[name]

    def _repr_html_(self) -> str:
        rows = [(name, state_text(state)) for name, state in self.states.items()]
        note = f"probability {np.exp(self.log_probability):.4g}"
        return html_table(("variable", "state"), rows, note=note)

    def __str__(self) -> str:
        width = max(map(len, self.states), default=0)
        lines = [f"{name:<{width}}  {state_text(state)}" for name, state in self.states.items()]
        return "\n".join([*lines, f"probability {np.exp(self.log_probability):.4g}"])


def most_probable(question: Question) -> MostProbable:
    """Return the most probable states of the question's variables, all those without a state.

    See ``Network.most_probable``.
    """
    network, evidence, row = question.network, question.evidence, question.known_row()
    try:
        passes = TwoPasses(question.eliminator, evidence.codes.keys(), evidence.weights.keys())
        log_all, best = passes.most_probable(row, evidence.log_weights)
        log_evidence = question.eliminator.log_sums(
            row, (), evidence.codes.keys(), evidence.log_weights
        )
    except TooLargeError as error:
        raise TooLargeError(
            f"{error}; give the states of more variables, or draw rows with sample() and take the "
            "one with the highest log_likelihood()"
        ) from None
    if log_evidence[0] == -np.inf:
        raise question.impossible()
    states = {x: network.domain[x][int(best[x][0])] for x in question.variables}
    return MostProbable(states, float(log_all[0] - log_evidence[0]))
