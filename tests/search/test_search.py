"""Search: moves keep the rules, estimates rank, greedy finds what exhaustive search finds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from study.classification.screening import climb_without_screening

import ebnc
from ebnc.errors import SearchError
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.criterion import BIC, Laplace
from ebnc.search import greedy
from ebnc.search.averaging import occams_window
from ebnc.search.features import feature_worths, without_inputs
from ebnc.search.greedy import OUT_OF_WORK, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scorer
from ebnc.search.screening import screen
from ebnc.search.starts import least_structure
from ebnc.search.structure_prior import log_input_prior
from exhaustive import all_structures, exhaustive_search
from problems import domain_of, random_data, read_cases, structure_named


def isolated(names):
    return ebnc.EmbeddedStructure("Y", tuple((x, ()) for x in ("Y", *names)))


def random_problem(seed, n_inputs, n_rows):
    """Cases of a random structure over a few inputs, some of which may do nothing."""
    generator = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n_inputs)]
    order = list(generator.permutation(names))
    families = {"Y": ()}
    for place, x in enumerate(order):
        parents = tuple(p for p in order[:place] if generator.random() < 0.4)
        families[x] = (*parents, "Y") if generator.random() < 0.8 else parents
    structure = ebnc.EmbeddedStructure("Y", tuple((x, families[x]) for x in ("Y", *names)))
    domain = ebnc.Domain({x: int(generator.integers(2, 4)) for x in names} | {"Y": 2})
    data, _ = random_data(structure, domain, n_rows, seed=seed, scale=0.4)
    return read_cases(data, domain, names, "Y").counted(), names


@pytest.mark.slow
def test_greedy_reaches_the_exhaustive_optimum_on_nine_of_ten_problems():
    hits = 0
    for seed in range(20):
        cases, names = random_problem(seed, 3, [100, 300, 1000][seed % 3])
        best = exhaustive_search(Scorer(cases), isolated(names))
        found = greedy_search(Scorer(cases), ebnc.EmbeddedStructure.naive("Y", names)).best
        hits += found.score >= best.score - 0.02
    assert hits >= 18


def test_the_score_reported_is_confirmed_by_a_refit():
    for seed in range(5):
        cases, names = random_problem(seed, 4, 400)
        result = greedy_search(Scorer(cases), ebnc.EmbeddedStructure.naive("Y", names))
        scorer = Scorer(cases)
        again = scorer.at_prior(result.best.structure, result.best.fit.prior)
        assert again.score == pytest.approx(result.best.score, abs=1e-6)


def test_what_is_worthless_is_dropped_at_once_if_gains_add_up(monkeypatch):
    generator = np.random.default_rng(0)
    names = [f"X{i}" for i in range(8)]
    data = {x: generator.integers(0, 3, 3000) for x in names}
    data["Y"] = (generator.random(3000) < 0.2 + 0.3 * (data["X0"] == 1)).astype(int)
    cases = read_cases(data, ebnc.Domain(dict.fromkeys(names, 3) | {"Y": 2}), names, "Y")
    start = ebnc.EmbeddedStructure.naive("Y", names)
    together = greedy_search(Scorer(cases), start)
    assert together.trace.steps[1].move.count(",") >= 3
    estimated = greedy._gains_of_dropping
    monkeypatch.setattr(  # as where inputs are worth something together only
        greedy, "_gains_of_dropping", lambda *at: {x: 9 * g for x, g in estimated(*at).items()}
    )
    one_by_one = greedy_search(Scorer(cases), start)
    assert "," not in one_by_one.trace.steps[1].move
    for result in (together, one_by_one):
        assert result.best.structure.markov_blanket == ("X0",)


def test_every_move_is_allowed_and_changes_the_clusters():
    structure = structure_named("worked")
    n_states = {x: domain_of(structure, 2).n_states(x) for x in structure.inputs}
    limits = Limits(24, 2, forbidden_arcs=frozenset([("A", "D")]))
    found = moves(ebnc.EmbeddedStructure.naive("Y", structure.inputs), n_states, limits)
    keys = [move.structure.cluster_key for move in found]
    assert len(set(keys)) == len(keys)
    for move in found:
        for factor in move.structure.factors:
            assert np.prod([n_states[x] for x in factor.inputs]) <= 24
        assert ("A", "D") not in move.structure.edges


def test_all_structures_of_three_inputs():
    """All antichains of subsets of {1, 2, 3} with heads, that is, all 19 but {12, 13, 23}."""
    found = list(all_structures(isolated("ABC"), dict.fromkeys("ABC", 2)))
    assert len(found) == 18
    triangle = frozenset(map(frozenset, ["AB", "AC", "BC"]))
    assert triangle not in {structure.cluster_key for structure in found}
    with pytest.raises(SearchError, match="6 inputs"):
        list(all_structures(isolated("ABCDEF"), dict.fromkeys("ABCDEF", 2)))


def test_estimated_gains_of_growing_moves_follow_the_exact_ones():
    cases, names = random_problem(3, 5, 1500)
    scorer = Scorer(cases, Laplace(NormalPrior((0.5,))))
    here = scorer.tuned(ebnc.EmbeddedStructure.naive("Y", names))
    n_states = {x: cases.domain.n_states(x) for x in names}
    found = screen(scorer, here, moves(here.structure, n_states, Limits()))
    growing = [s for s in found if s.move.grows]
    exact = [scorer.tuned(s.move.structure).score - here.score for s in growing]
    estimated = [s.gain for s in growing]
    np.testing.assert_allclose(estimated, exact, atol=0.1, rtol=0.2)
    assert np.argmax(exact) in np.argsort(estimated)[-3:]


def test_the_first_ranking_keeps_what_matters():
    """With few moves looked at thoroughly the best ones are the same, with the same estimates."""
    cases, names = random_problem(4, 8, 600)
    scorer = Scorer(cases)
    here = scorer.tuned(ebnc.EmbeddedStructure.naive("Y", names))
    n_states = {x: cases.domain.n_states(x) for x in names}
    candidates = moves(here.structure, n_states, Limits())
    thorough = screen(scorer, here, candidates)
    assert len([move for move in candidates if move.grows]) > 10
    ranked = screen(scorer, here, candidates, thorough=10, expensive=0.0)
    assert len(ranked) == len(thorough)
    assert [s.move.description for s in ranked[:3]] == [s.move.description for s in thorough[:3]]
    assert [s.gain for s in ranked[:3]] == pytest.approx([s.gain for s in thorough[:3]])


def test_with_many_inputs_the_search_takes_in_what_matters():
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (400, 150))
    y = (x[:, 3] + x[:, 77] + generator.normal(0, 0.7, 400) > 1).astype(int)
    model = ebnc.EBNCClassifier().fit(x, y)
    assert {"x3", "x77"} <= set(model.selected_features_)
    assert len(model.selected_features_) < 6
    starts = [step.dimension for step in model.trace_.steps if step.move == "start"]
    assert starts == [1, 151]


def test_from_many_inputs_required_ones_are_where_the_search_starts():
    cases, names = random_problem(0, 5, 100)
    limits = Limits(
        required_features=frozenset([names[0]]),
        required_arcs=frozenset([(names[1], names[2])]),
    )
    least = least_structure(cases, limits)
    assert set(least.markov_blanket) == set(names[:3])
    assert limits.allow(least, {x: cases.domain.n_states(x) for x in names})


def test_the_order_in_which_inputs_came_in_is_kept():
    cases, names = random_problem(5, 4, 1000)
    result = greedy_search(Scorer(cases), isolated(names))
    steps = result.trace.steps
    assert set(result.entered) == set(result.best.structure.markov_blanket)
    for x, step in result.entered.items():
        assert x in steps[step].move
    worths = feature_worths(Scorer(cases), result.best, result.entered)
    assert {worth.feature: worth.entered for worth in worths} == result.entered
    assert max(result.entered.values()) > 0
    from_naive = greedy_search(Scorer(cases), ebnc.EmbeddedStructure.naive("Y", names))
    assert set(from_naive.entered.values()) <= {0}


def test_estimates_save_most_of_the_fits():
    cases, names = random_problem(1, 10, 800)
    scorer = Scorer(cases)
    trace = greedy_search(scorer, ebnc.EmbeddedStructure.naive("Y", names)).trace
    assert trace.n_screened > 3 * trace.n_fits


def test_a_search_ends_at_its_limit_of_work_with_the_best_so_far():
    cases, names = random_problem(1, 5, 1000)
    start = ebnc.EmbeddedStructure.naive("Y", names)
    free = Scorer(cases)
    steps = greedy_search(free, start).trace.steps
    assert len(steps) > 2
    for most_work, n_steps in ((0.0, 1), (0.5 * free.work, None), (free.work, len(steps))):
        found = greedy_search(Scorer(cases), start, most_work=most_work)
        moves = [step.move for step in found.trace.steps]
        taken = [move for move in moves if move != OUT_OF_WORK]
        assert taken == [step.move for step in steps[: len(taken)]]
        assert n_steps in (None, len(taken))
        assert found.best.score == found.trace.steps[-1].score
        assert (moves[-1] == OUT_OF_WORK) == (most_work < free.work)


def test_interruption_returns_the_best_so_far():
    cases, names = random_problem(2, 5, 1500)

    def stop(step):
        if step.move != "start":
            raise KeyboardInterrupt

    start = isolated(names)
    result = greedy_search(Scorer(cases), start, report=stop)
    assert result.trace.interrupted
    assert "interrupted" in str(result.trace)
    assert result.best.score > Scorer(cases).tuned(start).score


def test_worth_of_features_is_what_a_refit_without_them_loses():
    cases, names = random_problem(5, 4, 1000)
    scorer = Scorer(cases)
    best = greedy_search(scorer, ebnc.EmbeddedStructure.naive("Y", names)).best
    for feature, worth, _ in feature_worths(scorer, best):
        less = without_inputs(best.structure, [feature])
        at_scales = scorer.at_prior(less, best.fit.prior)
        assert worth == pytest.approx(best.score - at_scales.score, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_nothing_stays_that_the_score_would_rise_without(seed, monkeypatch):
    """Also where estimates are wrong: here they say that every input is indispensable."""

    def wrong(*arguments):
        found = screen(*arguments)
        return [
            replace(each, gain=-1e3) if each.move.dropped is not None else each for each in found
        ]

    monkeypatch.setattr(greedy, "screen", wrong)
    cases, names = random_problem(seed, 6, 150)
    result = greedy_search(Scorer(cases), ebnc.EmbeddedStructure.naive("Y", names))
    best = result.best
    for x in best.structure.markov_blanket:
        less = Scorer(cases).tuned(without_inputs(best.structure, [x]))
        assert less.score < best.score + 0.02
    assert min((w.worth for w in feature_worths(Scorer(cases), best)), default=0.0) > -0.02
    assert best.structure.cluster_key in {scored.structure.cluster_key for scored in result.met}


def test_what_is_required_stays_and_shows_its_worth():
    """An input that says nothing, beside five others."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(6)]
    data = {x: rng.integers(0, 3, 300) for x in (*names, "Y")}
    cases = read_cases(data, ebnc.Domain(dict.fromkeys(data, 3)), names, "Y").counted()
    required = Limits(required_features=frozenset(["X0"]))
    best = greedy_search(Scorer(cases), least_structure(cases, required), required).best
    assert best.structure.markov_blanket == ("X0",)
    assert feature_worths(Scorer(cases), best)[0].worth < -np.log(6)


def test_worths_of_many_features_are_estimated():
    cases, names = random_problem(5, 4, 1000)
    scorer = Scorer(cases, Laplace(NormalPrior((0.5,))))
    scored = scorer.tuned(ebnc.EmbeddedStructure.naive("Y", names))
    exact = feature_worths(scorer, scored)
    n_fits = scorer.n_fits
    estimated = feature_worths(scorer, scored, most_work=0.0)
    assert scorer.n_fits == n_fits
    assert [w.feature for w in estimated] == [w.feature for w in exact]
    values = [[w.worth for w in worths] for worths in (estimated, exact)]
    np.testing.assert_allclose(*values, atol=0.5, rtol=0.3)


def test_occams_window_weighs_models_by_their_score():
    cases, names = random_problem(6, 4, 300)
    scorer = Scorer(cases)
    met = greedy_search(scorer, ebnc.EmbeddedStructure.naive("Y", names)).met
    window = occams_window(scorer, met)
    weights = [weight for weight, _ in window]
    assert sum(weights) == pytest.approx(1)
    assert weights == sorted(weights, reverse=True)
    ratio = np.exp(window[0][1].score - window[-1][1].score)
    assert weights[0] / weights[-1] == pytest.approx(ratio)
    for _, scored in window:  # every model at scales of its own, tuned to 0.01 nats
        assert scored.score == pytest.approx(Scorer(cases).tuned(scored.structure).score, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"required_arcs": [("A", "B")], "forbidden_arcs": [("A", "B")]}, "both required and"),
        ({"required_features": ["A"], "forbidden_features": ["A"]}, "'A' is both"),
        ({"required_arcs": [("A", "B")], "forbidden_features": ["B"]}, "'B' is both"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(SearchError, match=message):
        Limits(**{name: frozenset(given) for name, given in options.items()})
    with pytest.raises(SearchError, match="'Q' is not an input"):
        Limits(required_features=frozenset(["Q"])).check_names(["A", "B"])


def test_the_structure_prior_shares_probability_among_choices():
    """Of 5 inputs 3 are in (10 choices), with 2 of 3 possible arcs (3 choices)."""
    cases, names = random_problem(0, 5, 100)
    scorer = Scorer(cases)
    some = isolated(names).from_string(
        f"[Y][{names[0]}|Y][{names[1]}|{names[0]}:Y][{names[2]}|{names[0]}:Y][X3][X4]", target="Y"
    )
    found = scorer.log_structure_prior(some.cluster_key)
    assert found == pytest.approx(-np.log(2 * 5) - np.log(10) - np.log(3))
    naive = ebnc.EmbeddedStructure.naive("Y", names)
    assert scorer.log_structure_prior(naive.cluster_key) == pytest.approx(-np.log(2 * 5))
    nothing = scorer.log_structure_prior(isolated(names).cluster_key)
    assert nothing == pytest.approx(-np.log(2))


def test_the_prior_of_sets_of_inputs_adds_up_to_one():
    """Over all 2⁶ subsets of six inputs."""
    total = sum(math.comb(6, k) * math.exp(log_input_prior(6, k)) for k in range(7))
    assert total == pytest.approx(1.0)


@pytest.mark.slow
def test_screening_ends_where_fitting_everything_ends():
    """On six random problems, and with a fraction of the fits."""
    saved = []
    for seed in range(6):
        cases, names = random_problem(seed, 6, 300)
        start = ebnc.EmbeddedStructure.naive("Y", names)
        screened, full = Scorer(cases), Scorer(cases)
        found = greedy_search(screened, start).best
        assert found.score == pytest.approx(climb_without_screening(full, start).score, abs=1.0)
        saved.append(full.n_fits / screened.n_fits)
    assert np.mean(saved) > 3


def test_bic_counts_the_parameters_of_the_conditional():
    cases, names = random_problem(0, 3, 500)
    scorer = Scorer(cases, BIC(), structure_prior=False)
    scored = scorer.tuned(ebnc.EmbeddedStructure.naive("Y", names))
    likelihood = scorer.posterior(scored).log_likelihood(scored.fit.solution.phi)
    expected = likelihood - 0.5 * scored.fit.design.dimension * np.log(500)
    assert scored.score == pytest.approx(expected)
