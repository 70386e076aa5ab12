"""A model as an ONNX graph, in double precision.

Inputs are one column each, shape (rows, 1): doubles (NaN is missing; booleans are 1 and 0) or
strings ("" is missing). Outputs are ``label`` and ``probabilities``; of a number ``mean``.
"""

from typing import Any

import numpy as np

from ebnc.errors import ParameterError
from ebnc.formats.code.scorecard import Column, Fillings, Scorecard, WeightedTerms

OPSET, ML_OPSET = 18, 4


def to_onnx(card: Scorecard, note: str) -> bytes:
    """Return the file; ``note``: a line that says where it comes from. Needs the package onnx."""
    try:
        from onnx import helper
    except ImportError:
        raise ParameterError(
            "ONNX needs the package onnx, which is not installed; pip install 'ebnc[onnx]'"
        ) from None
    if not card.columns:
        raise ParameterError("the model uses no column, so there is nothing to export to ONNX")
    graph = _Graph()
    columns = [graph.codes(column) for column in card.columns]
    n_inputs = len(columns)
    codes = graph.add("Concat", *columns, axis=1)
    p = graph.probabilities(card.models, codes, n_inputs)
    if card.fillings is not None:
        unknown = np.array([[column.unknown for column in card.columns]])
        p = graph.averaged(card, card.fillings, codes, graph.array(unknown), p)
    p = graph.add("Div", p, graph.total(p))
    graph.finish(card, p)
    model = helper.make_model(
        helper.make_graph(graph.nodes, "ebnc", graph.inputs, graph.outputs, graph.arrays),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        producer_name="ebnc",
        doc_string=f"Predicts {card.target}. {note}",
    )
    model.ir_version = 9  # the first versions of runtimes that have these operators read it
    return bytes(model.SerializeToString())


class _Graph:
    """The nodes of a graph; every method adds some, and returns the name of their result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.arrays: list[Any] = []

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        from onnx import helper

        name = f"v{len(self.nodes)}"
        node = helper.make_node(operator, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def array(self, values: Any) -> str:
        """Add a constant: of strings, doubles or whole numbers."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype({"i": np.int64, "f": np.float64}.get(array.dtype.kind, object))
        name = f"c{len(self.arrays)}"
        self.arrays.append(numpy_helper.from_array(array, name))
        return name

    def total(self, p: str, axis: int = 1) -> str:
        """Sum over an axis, which stays."""
        return self.add("ReduceSum", p, self.array([axis]), keepdims=1)

    def codes(self, column: Column) -> str:
        """Add an input; return its codes, shape (rows, 1)."""
        from onnx import TensorProto, helper

        kind = TensorProto.STRING if column.kind == "text" else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(column.name, kind, [None, 1]))
        if column.kind == "text":
            keys, codes = column.labels, column.codes
            if "" not in keys:
                keys, codes = ["", *keys], [column.missing, *codes]
            return self.add(
                "LabelEncoder",
                column.name,
                domain="ai.onnx.ml",
                keys_strings=keys,
                values_int64s=codes,
                default_int64=column.unknown,
            )
        if column.kind == "interval":
            below = self.add("Less", self.array(np.array([column.cuts])), column.name)
            code = self.total(self.add("Cast", below, to=TensorProto.INT64))
        else:
            labels = np.array([column.labels], dtype=np.float64)
            found = self.add("Equal", column.name, self.array(labels))
            rise = self.array(np.array([column.codes]) - column.unknown)
            each = self.add("Mul", self.add("Cast", found, to=TensorProto.INT64), rise)
            code = self.add("Add", self.total(each), self.array(column.unknown))
        gap = self.add("IsNaN", column.name)
        return self.add("Where", gap, self.array(column.missing), code)

    def probabilities(self, models: list[WeightedTerms], codes: str, n_inputs: int) -> str:
        """Σ_m w_m softmax(λ of model m), shape (rows, K); ``codes``: (rows, inputs)."""
        parts = []
        for model in models:
            strides = np.zeros((n_inputs, len(model.terms)), dtype=np.int64)
            for t, term in enumerate(model.terms):
                strides[term.inputs, t] = term.strides
            sizes = [len(term.table) for term in model.terms]
            first = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0, dtype=np.int64)
            table = np.array([row for term in model.terms for row in term.table])
            table = table.reshape(sum(sizes), len(model.intercept))
            cells = self.add("MatMul", codes, self.array(strides))
            cells = self.add("Add", cells, self.array(first))
            values = self.add("Gather", self.array(table), cells)
            odds = self.add("ReduceSum", values, self.array([1]), keepdims=0)
            odds = self.add("Add", odds, self.array(np.array(model.intercept)))
            odds = self.add("Pad", odds, self.array([0, 1, 0, 0]))
            p = self.add("Softmax", odds, axis=1)
            parts.append(self.add("Mul", p, self.array(model.weight)))
        return parts[0] if len(parts) == 1 else self.add("Sum", *parts)

    def averaged(
        self, card: Scorecard, fillings: Fillings, codes: str, unknown: str, p: str
    ) -> str:
        """Replace p(y|x) of rows with unknown entries by averages over F fillings.

        With one unknown input, filling f is its state f, else row f of the background.
        """
        from onnx import TensorProto

        n_inputs, n_classes = len(card.columns), len(card.classes)
        n_states = np.array([len(shares) for shares in fillings.shares])
        n_fill = max(len(fillings.weights), int(n_states.max()))
        weights = np.zeros((n_inputs + 1, n_fill))  # by the input that is unknown; last: several
        for i, shares in enumerate([*fillings.shares, fillings.weights]):
            weights[i, : len(shares)] = shares
        states = np.minimum(np.arange(n_fill)[:, None], n_states - 1)
        rows = np.zeros((n_fill, n_inputs), dtype=np.int64)
        rows[: len(fillings.rows)] = fillings.rows

        is_gone = self.add("Equal", codes, unknown)
        gone = self.add("Cast", is_gone, to=TensorProto.INT64)
        n_gone = self.add("ReduceSum", gone, self.array([1]), keepdims=0)
        # The places of rows with unknown entries, then only these rows.
        found = self.add("NonZero", n_gone)
        places = self.add("Squeeze", found, self.array([0]))
        is_gone = self.add("Gather", is_gone, places)
        n_gone = self.add("Gather", n_gone, places)
        only = self.add("ArgMax", self.add("Gather", gone, places), axis=1, keepdims=0)
        is_one = self.add("Equal", n_gone, self.array(1))
        of_input = self.add("Where", is_one, only, self.array(n_inputs))
        of_filling = self.add("Gather", self.array(weights), of_input)  # (rows, F)
        fill = self.add(
            "Where",
            self.add("Unsqueeze", is_one, self.array([1, 2])),
            self.array(states[None]),
            self.array(rows[None]),
        )
        filled = self.add(
            "Where",
            self.add("Unsqueeze", is_gone, self.array([1])),
            fill,
            self.add("Unsqueeze", self.add("Gather", codes, places), self.array([1])),
        )
        flat = self.add("Reshape", filled, self.array([-1, n_inputs]))
        each = self.probabilities(card.models, flat, n_inputs)
        each = self.add("Reshape", each, self.array([-1, n_fill, n_classes]))
        each = self.add("Mul", each, self.add("Unsqueeze", of_filling, self.array([2])))
        means = self.add("ReduceSum", each, self.array([1]), keepdims=0)
        return self.add("ScatterND", p, self.add("Transpose", found, perm=[1, 0]), means)

    def finish(self, card: Scorecard, p: str) -> None:
        """Name the outputs."""
        from onnx import TensorProto, helper

        def output(name: str, value: str, kind: int, *shape: int) -> None:
            self.nodes.append(helper.make_node("Identity", [value], [name]))
            self.outputs.append(helper.make_tensor_value_info(name, kind, [None, *shape]))

        if card.mean is not None:
            weighted = self.add("Mul", p, self.array(np.array(card.mean.weights)))
            share = self.add("Div", weighted, self.total(weighted))
            mean = self.add("MatMul", share, self.array(np.array(card.mean.means)[:, None]))
            output("mean", mean, TensorProto.DOUBLE, 1)
            return
        best = self.add("ArgMax", p, axis=1, keepdims=0)
        labels = np.array([str(label) for label in card.classes], dtype=object)
        output("label", self.add("Gather", self.array(labels), best), TensorProto.STRING)
        output("probabilities", p, TensorProto.DOUBLE, len(card.classes))
