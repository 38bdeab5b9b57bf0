"""Chains made by hand agree, agree on the clusters only, or disagree; the verdict says so."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fairmix.posterior.diagnostics import bulk_ess, r_hat
from fairmix.posterior.overlap import distances_to
from fairmix.posterior.posterior import warn_if_chains_disagree
from fairmix.posterior.verdict import AGREE, AGREE_BUT_NOT_ON_NUMBER, CANNOT_TELL, DISAGREE
from tests.posterior.hand_made import make_posterior

N_ROWS, N_DRAWS = 40, 150
FIT = {"n_warmup": 1000, "n_draws": 500, "max_gap": None, "min_balance": None, "extra": "auto"}


def scatter(rng, centre, n_draws=N_DRAWS, share=0.2):
    """Give draws near a partition into two clusters."""
    is_moved = rng.random((n_draws, len(centre))) < share
    return np.where(is_moved, 1 - np.asarray(centre), centre)


def alike(rng=None):
    rng = rng or np.random.default_rng(0)
    centre = np.repeat([0, 1], 20)
    return np.stack([scatter(rng, centre) for _ in range(4)])


def other_number():
    """In two of the chains, a row is mostly a cluster of its own."""
    labels = alike()
    is_alone = np.random.default_rng(1).random(labels.shape[:2]) < [[0.1], [0.1], [0.8], [0.8]]
    labels[..., 0][is_alone] = 2
    return labels


def apart():
    rng = np.random.default_rng(0)
    centres = [np.repeat([0, 1], 20), np.tile([0, 1], 20)] * 2
    return np.stack([scatter(rng, centre) for centre in centres])


def a_little_apart():
    """The number differs, and so do six rows."""
    rng = np.random.default_rng(0)
    one, other = np.repeat([0, 1], 20), np.repeat([0, 1], [14, 26])
    labels = np.stack([scatter(rng, centre) for centre in (one, one, other, other)])
    return np.where(other_number() == 2, 2, labels)


CASES = {AGREE: alike, AGREE_BUT_NOT_ON_NUMBER: other_number, DISAGREE: apart}


def posterior_of(labels):
    return make_posterior(labels, np.random.default_rng(5).normal(size=np.shape(labels)[:2]))


@pytest.mark.parametrize("word", CASES)
def test_the_word(word):
    posterior = posterior_of(CASES[word]())
    verdict = posterior.verdict()
    assert verdict.word == word
    assert str(verdict).startswith(f"The chains {word}: R-hat is ")
    assert posterior.summary().attrs["verdict"] == word
    assert bool(verdict.advice) == (word != AGREE)


@pytest.mark.parametrize("word", CASES)
def test_the_warning_has_the_same_words(word):
    posterior = posterior_of(CASES[word]())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_chains_disagree(posterior, FIT)
    said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert said == ([] if word == AGREE else [str(posterior.verdict(FIT))])


def test_draws_of_different_chains_must_not_be_farther_apart():
    verdict = posterior_of(a_little_apart()).verdict()
    figures = verdict.figures
    assert 1.05 < figures["between chains"] / figures["within chains"] < 1.5
    assert verdict.word == DISAGREE


def test_a_small_difference_of_the_clusters_is_no_disagreement():
    """Four rows of forty are elsewhere more often: little beside what scatters."""
    labels = alike()
    labels[:2, :, :4] = np.random.default_rng(1).random((2, N_DRAWS, 4)) < 0.8
    verdict = posterior_of(labels).verdict()
    assert verdict.figures["r_hat distance"] > 1.05
    assert verdict.word == AGREE


def test_a_log_posterior_that_differs_is_disagreement():
    labels = alike()
    posterior = make_posterior(labels, np.random.default_rng(5).normal(size=(4, N_DRAWS)))
    posterior.log_posterior[0] += 1.0
    assert posterior.verdict().word == DISAGREE


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, N_DRAWS), (4, 99)])
def test_too_little_to_tell(n_chains, n_draws):
    posterior = posterior_of(apart()[:n_chains, :n_draws])
    verdict = posterior.verdict()
    assert verdict.word == CANNOT_TELL
    assert verdict.figures == {}
    assert f"{n_chains} of at least 2 chains and {n_draws} of at least 100 draws" in str(verdict)
    warn_if_chains_disagree(posterior)  # says nothing


def test_the_figures():
    posterior = posterior_of(other_number())
    figures = posterior.verdict().figures
    assert figures["r_hat n_clusters"] == r_hat(posterior.n_clusters)
    assert figures["ess log_posterior"] == bulk_ess(posterior.log_posterior)
    labels = posterior.labels
    series = [distances_to(labels, labels[chain, -1]) for chain in range(4)]
    assert figures["r_hat distance"] == max(map(r_hat, series))
    assert figures["ess distance"] == min(map(bulk_ess, series))
    row = posterior.summary().loc["distance"]
    assert row["r_hat"] == pytest.approx(figures["r_hat distance"], abs=1e-3)
    assert row["mean"] == pytest.approx(np.mean(series), abs=1e-4)
    far = np.array([[distances_to(labels[a], each) for each in labels[1]] for a in range(2)])
    within = far[1].sum() / (N_DRAWS * (N_DRAWS - 1))
    by_chain = posterior.pairs.by_chain()
    assert by_chain[1, 1] == pytest.approx(within)
    assert by_chain[0, 1] == pytest.approx(far[0].mean())
    is_same = np.eye(4, dtype=bool)
    assert figures["within chains"] == pytest.approx(by_chain[is_same].mean())
    assert figures["between chains"] == pytest.approx(by_chain[~is_same].mean())


def test_many_chains_have_four_reference_draws():
    labels = np.concatenate([alike(), alike()])
    series = [distances_to(labels, labels[chain, -1]) for chain in (0, 2, 5, 7)]
    figures = posterior_of(labels).verdict().figures
    assert figures["r_hat distance"] == max(map(r_hat, series))


def test_advice_comes_in_order_with_numbers_of_this_fit():
    posterior = posterior_of(apart())
    longer, fairness, free, family = posterior.verdict(FIT).advice
    least = min(posterior.verdict().figures[f"ess {name}"] for name in ("n_clusters", "distance"))
    times = int(np.ceil(400 / least))
    assert f"about {times} times as many sweeps" in longer
    assert f"(n_warmup={1000 * times}, n_draws={500 * times})" in longer
    assert f"worth {least:.0f} independent ones, and 400 would do" in longer
    assert "largest gap of a draw is 0.0100" in fairness
    assert "max_gap=0.02" in fairness
    assert "extra='free'" in free
    assert "family='student-t'" in family


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"max_gap": 0.01}, "pass a larger max_gap than 0.01."),
        ({"min_balance": 0.9}, "pass a smaller min_balance than 0.9."),
    ],
)
def test_advice_under_a_cap(options, wanted):
    _, fairness, family = posterior_of(apart()).verdict(FIT | options).advice
    assert fairness.endswith(wanted)
    assert "family" in family


def test_advice_where_nothing_was_made_fair():
    options = {"n_warmup": 1000, "n_draws": 500}
    assert len(posterior_of(apart()).verdict(options).advice) == 2
    with_free = FIT | {"extra": "free"}
    assert not any("extra=" in each for each in posterior_of(apart()).verdict(with_free).advice)


def test_advice_on_the_number_comes_first():
    posterior = posterior_of(other_number())
    assert "Of the number of clusters say that it is mostly 2 to 3" in posterior.verdict().advice[0]
    assert "about" in posterior.verdict().advice[1]
    assert "(n_warmup and n_draws)" in posterior.verdict().advice[1]
