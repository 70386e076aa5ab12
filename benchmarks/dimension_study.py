"""The four dimension functions against each other on thousands of random structures.

Prints how many were tried, that span, elimination and blocks agree on all, and on how many the
generic dimension is smaller: never for binary Y, sometimes for more classes (errata E6).
"""

import random
import sys

import ebnc


def random_structure(generator: random.Random, max_inputs: int = 5) -> ebnc.EmbeddedStructure:
    order = [f"X{i + 1}" for i in range(generator.randint(0, max_inputs))] + ["Y"]
    generator.shuffle(order)
    density = generator.random()
    families = [
        (name, tuple(other for other in order[:i] if generator.random() < density))
        for i, name in enumerate(order)
    ]
    return ebnc.EmbeddedStructure("Y", tuple(families))


def main(n_structures: int = 3000) -> int:
    generator = random.Random(1997)
    smaller = binary = binary_smaller = 0
    for number in range(n_structures):
        structure = random_structure(generator)
        n_states = {name: generator.randint(2, 4) for name in structure.names}
        order = list(structure.inputs)
        generator.shuffle(order)
        span = ebnc.dimension(structure, n_states)
        others = {
            "elimination": ebnc.dimension_by_elimination(structure, n_states),
            "blocks": ebnc.dimension_by_blocks(structure, n_states),
            "blocks, shuffled order": ebnc.dimension_by_blocks(structure, n_states, order),
        }
        generic = ebnc.generic_dimension(structure, n_states)
        if any(value != span for value in others.values()) or generic > span:
            print(f"{structure} with {n_states}: span {span}, {others}, generic {generic}")
            return 1
        smaller += generic < span
        binary += n_states["Y"] == 2
        binary_smaller += n_states["Y"] == 2 and generic < span
        if (number + 1) % 500 == 0:
            print(f"{number + 1} structures: all agree; generic < span on {smaller}", flush=True)
    print(f"binary Y: {binary} structures, generic < span on {binary_smaller}")
    return 1 if binary_smaller else 0


if __name__ == "__main__":
    sys.exit(main())
