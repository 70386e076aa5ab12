"""Count the parameters of p(y|x) for the paper's examples, and compare with full tables."""

import ebnc

WORKED = "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]"


def show(title: str, structure: ebnc.EmbeddedStructure, states: int = 2, classes: int = 2) -> None:
    """Print one line: the dimension of the structure's span beside that of a full table."""
    n_states = dict.fromkeys(structure.inputs, states) | {structure.target: classes}
    table = ebnc.EmbeddedStructure.table(structure.target, structure.inputs)
    full = ebnc.dimension(table, n_states)
    full_text = f"{full:,}" if full < 10**9 else f"about 10^{len(str(full)) - 1}"
    print(f"{title:44}{ebnc.dimension(structure, n_states):>10,}{full_text:>20}")


def main() -> None:
    """Print the table of dimensions, then the worked model of §6 block by block."""
    names = [f"X{i + 1}" for i in range(5000)]
    print(f"{'structure':44}{'parameters':>10}{'as a full table':>20}")
    show("naive, 10 inputs", ebnc.EmbeddedStructure.naive("Y", names[:10]))
    show("Markov chain, 10 inputs", ebnc.EmbeddedStructure.chain("Y", names[:10]))
    show("worked model of the paper's §6", ebnc.EmbeddedStructure.from_string(WORKED, target="Y"))
    show(
        "naive, 20 inputs of 4 states, 3 classes",
        ebnc.EmbeddedStructure.naive("Y", names[:20]),
        4,
        3,
    )
    show("Markov chain, 5 000 inputs", ebnc.EmbeddedStructure.chain("Y", names))

    worked = ebnc.EmbeddedStructure.from_string(WORKED, target="Y")
    binary = dict.fromkeys(worked.names, 2)
    blocks = ebnc.dimension_by_blocks(worked, binary)
    print(f"\n{worked}\n  block by block (eq. 18): {' + '.join(map(str, blocks.ranks))} = {blocks}")

    network = ebnc.EmbeddedNetwork.random(worked, binary, random_state=0)
    model = ebnc.EBNC.from_embedded_network(network)
    print("\nThe same model with random probabilities. Add the terms that match a row to get its")
    print("log odds:\n")
    print(model.phi_table())
    row = {"X1": [1], "X2": [0], "X3": [1], "X4": [1], "X5": [0]}
    by_theta, by_phi = network.probabilities(row)[0, 1], model.probabilities(row)[0, 1]
    print(f"\np(Y=1 | X1=1, X2=0, X3=1, X4=1, X5=0) = {by_theta:.6f} from θ, {by_phi:.6f} from φ")


if __name__ == "__main__":
    main()
