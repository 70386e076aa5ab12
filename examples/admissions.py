"""Learn a whole network from a table of counts: admissions to Berkeley in 1973.

The data are 4 526 applications to the six largest departments (Bickel, Hammel & O'Connell 1975).
Women were admitted less often than men overall, but not clearly so in any department. The network
shows why: women applied more often to departments that reject most applicants.
"""

import numpy as np

import ebnc

# Department: admitted men, rejected men, admitted women, rejected women.
COUNTS = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}
ROWS = [("men", "yes"), ("men", "no"), ("women", "yes"), ("women", "no")]


def applications() -> dict[str, list[str]]:
    """One row for each cell of the table."""
    cells = [(department, *row) for department in COUNTS for row in ROWS]
    department, applicant, admitted = (list(column) for column in zip(*cells, strict=True))
    return {"department": department, "applicant": applicant, "admitted": admitted}


def main() -> None:
    """Learn the network, print it, query it and sample from it."""
    counts = np.array(list(COUNTS.values()), dtype=float).ravel()
    tiers = [["applicant"], ["department"], ["admitted"]]  # in order of time
    network = ebnc.Network.learn(applications(), weights=counts, tiers=tiers)
    print(network)
    for tail, head in network.arcs:
        print(f"  {tail} → {head} ({network.local(head).kind})")
    admitted = network.local("admitted")
    print(f"\nThe node “admitted” is a {admitted.kind}:\n{admitted}\n")

    for applicant in ("men", "women"):
        p = network.query("admitted", {"applicant": applicant})["yes"]
        print(f"p(admitted | {applicant}) = {p:.3f}")
    print("\nShare of women and of men who applied to each department, and its admission rate:")
    women, men = (network.query("department", {"applicant": x}) for x in ("women", "men"))
    for department in COUNTS:
        rate = network.query("admitted", {"department": department})["yes"]
        print(
            f"  {department}: women {women[department]:.2f}, men {men[department]:.2f}, "
            f"{rate:.0%} of all applicants admitted"
        )
    drawn = network.sample(3, random_state=0)
    print("\nThree rows sampled from the network:")
    for row in zip(*(drawn[x] for x in network), strict=True):
        print("  " + ", ".join(map(str, row)))


if __name__ == "__main__":
    main()
