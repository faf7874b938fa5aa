"""Hidden Markov models against enumeration, known numbers, and hmmlearn."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules import chains, letters
from modules.latent import forward_backward, hmm
from modules.latent.hmm import HMM
from modules.latent.mixture import GaussianMixture


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def weather() -> HMM:
    truth = chains.TRUTH["weather"]
    model = HMM(2, "categorical", vocab_size=3)
    model.set_parameters(f64(truth.initial), f64(truth.transition))
    model.emission.probs.copy_(f64(truth.emission))
    return model


DAYS = torch.tensor([[0, 1, 2]])


def random_model(shows: Any, states: int = 3, seed: int = 0) -> tuple[HMM, Tensor]:
    """A model of random parameters, and three sequences of five of its frames."""
    generator = seeded(seed)
    model = HMM(states, shows, vocab_size=4, num_features=2)
    start, rows = (torch.rand(s, generator=generator).double() for s in ((states,), (states, states)))
    model.set_parameters(start / start.sum(), rows / rows.sum(1, keepdim=True))
    if shows == "categorical":
        probs = torch.rand(states, 4, generator=generator).double()
        model.emission.probs.copy_(probs / probs.sum(1, keepdim=True))
    elif shows == "bernoulli":
        model.emission.probs.copy_(torch.rand(states, 2, generator=generator))
    else:
        model.emission.means.copy_(torch.randn(states, 2, generator=generator))
        if shows == "gaussian-full":
            root = torch.randn(states, 2, 2, generator=generator).double()
            model.emission.covariances.copy_(root @ root.mT + 0.1 * torch.eye(2))
    return model, model.sample(3, length=5, generator=generator)


def paths(model: HMM, x: Tensor) -> tuple[Tensor, Tensor]:
    """Every path (P, T) with its log p(x, z) of one sequence x (1, T, …): the referee."""
    z = torch.tensor(list(itertools.product(range(model.states), repeat=x.shape[1])))
    return z, model.log_joint(x.expand(len(z), *x.shape[1:]), z)


SHOWS = ["categorical", "gaussian", "gaussian-full", "bernoulli"]


@pytest.mark.parametrize("shows", SHOWS)
def test_everything_equals_enumeration(shows: str) -> None:
    model, x = random_model(shows)
    result = model.posterior(x)
    best, log_best = model.viterbi(x)
    moves = torch.zeros(3, 3, dtype=torch.float64)
    for i in range(len(x)):
        z, log_joint = paths(model, x[i : i + 1])
        weights = log_joint.softmax(0)
        one_hot = torch.nn.functional.one_hot(z, model.states).double()
        close(result.log_prob[i], log_joint.logsumexp(0), 1e-10)
        close(model.log_prob(x)[i], log_joint.logsumexp(0), 1e-10)
        close(result.smoothed[i], torch.einsum("p,ptk->tk", weights, one_hot), 1e-10)
        pairs = torch.einsum("p,ptj,ptk->jk", weights, one_hot[:, :-1], one_hot[:, 1:])
        close(model.posterior(x[i : i + 1]).transitions, pairs, 1e-10)
        moves = moves + pairs
        assert best[i].tolist() == z[log_joint.argmax()].tolist()
        close(log_best[i], log_joint.max(), 1e-10)
        for t in range(x.shape[1]):  # what is known at t: the same, of the beginning
            past = model.posterior(x[i : i + 1, : t + 1])
            close(result.filtered[i, t], past.smoothed[0, -1], 1e-10)
    close(result.transitions, moves, 1e-10)
    close(result.filtered * result.backward, result.smoothed, 1e-12)
    close(model.filtered(x)[0], result.filtered, 1e-12)


def test_forward_and_backward_by_hand() -> None:
    model = weather()
    log_b = model.log_emissions(DAYS)
    alpha = forward_backward.log_forward(model.initial, model.transition, log_b)
    beta = forward_backward.log_backward(model.transition, log_b)
    close(alpha.exp()[0], f64([[0.3, 0.04], [0.0904, 0.0342], [0.007696, 0.028584]]))
    close(beta.exp()[0], f64([[0.106, 0.112], [0.25, 0.4], [1.0, 1.0]]))
    result = model.posterior(DAYS)
    assert result.log_prob.exp().item() == pytest.approx(0.03628)
    gamma = f64([[0.876516, 0.123484], [0.622933, 0.377067], [0.212128, 0.787872]])
    close(result.smoothed[0], gamma)
    xi = forward_backward.expected_transitions(
        alpha, beta, model.transition, log_b, result.log_prob[:, None, None]
    )[0]
    close(xi[0], f64([[0.578831, 0.297685], [0.044101, 0.079383]]))
    close(xi[1], f64([[0.174421, 0.448512], [0.037707, 0.339361]]))
    close(xi.sum(1), gamma[1:])
    close(xi.sum(2), gamma[:-1])
    close(result.transitions, xi.sum(0), 1e-12)


def test_likeliest_path_by_hand() -> None:
    model = weather()
    path, log_p = model.viterbi(DAYS)
    assert path.tolist() == [[0, 0, 1]] and log_p.exp().item() == pytest.approx(0.01512)
    z, log_joint = paths(model, DAYS)
    second = log_joint.topk(2).indices[1]
    assert z[second].tolist() == [0, 1, 1] and log_joint[second].exp().item() == pytest.approx(0.00972)


def test_likeliest_path_is_not_the_path_of_likeliest_states() -> None:
    model = weather()
    model.set_parameters(f64(0.5, 0.5), f64([[0.3, 0.7], [0.9, 0.1]]))
    x = torch.tensor([[0, 0, 0]])
    path, log_p = model.viterbi(x)
    by_frame = model.posterior(x).smoothed.argmax(2)
    assert path.tolist() == [[0, 1, 0]] and log_p.exp().item() == pytest.approx(0.007875)
    assert by_frame.tolist() == [[0, 0, 0]]
    assert model.log_joint(x, by_frame).exp().item() == pytest.approx(0.005625)


def test_baum_welch_by_hand() -> None:
    model = weather()
    totals = model.fit(DAYS, 1)
    close(model.initial, f64(0.876516, 0.123484))
    close(model.transition, f64([[0.502353, 0.497647], [0.163436, 0.836564]]))
    close(model.emission.probs, f64([[0.512110, 0.363953, 0.123937], [0.095841, 0.292658, 0.611501]]))
    totals += model.fit(DAYS, 1)[1:]
    close(f64(*totals), f64(-3.316489, -2.708301, -2.179379))


def test_several_sequences_are_summed_over() -> None:
    """LV-E7: 3.22–3.24 are for one. Two copies change nothing but the likelihood; means of means would."""
    one, two = weather(), weather()
    one.em_step(DAYS)
    assert two.em_step(DAYS.repeat(2, 1)) == pytest.approx(2 * -3.316489, abs=1e-5)
    close(one.transition, two.transition, 1e-12)
    close(one.emission.probs, two.emission.probs, 1e-12)
    longer = torch.tensor([[0, 1, 2, 2, 2], [1, 0, -1, -1, -1]])  # lengths 5 and 2: padded
    both, sums = weather(), None
    for x in (longer[:1], longer[1:, :2]):
        stats = both.e_step(x)
        sums = stats if sums is None else {k: sums[k] + v for k, v in stats.items()}
    padded = weather()
    padded.em_step(longer)
    both.m_step(sums)  # type: ignore[arg-type]
    close(padded.transition, both.transition, 1e-12)
    close(padded.emission.probs, both.emission.probs, 1e-12)
    each = []
    for x in (longer[:1], longer[1:, :2]):
        alone = weather()
        alone.em_step(x)
        each.append(alone.transition)
    assert (torch.stack(each).mean(0) - padded.transition).abs().max() > 0.01


@pytest.mark.parametrize("shows", SHOWS)
def test_baum_welch_never_falls(shows: str) -> None:
    model, _ = random_model(shows)
    x = model.sample(8, length=20, generator=seeded(1))
    other = HMM(3, shows, vocab_size=4, num_features=2, floor=1e-3)  # type: ignore[arg-type]
    totals = f64(*other.fit(x, 60, generator=seeded(2)))
    assert totals.isfinite().all() and totals.diff().min() > -1e-9 and totals[-1] > totals[0] + 0.1


def test_a_long_sequence_underflows_only_without_scaling() -> None:
    model = weather()
    x = DAYS.repeat(1, 700)[:, :2000]
    log_b = model.log_emissions(x)
    logs = forward_backward.log_domain(model.initial, model.transition, log_b)
    scaled = forward_backward.scaled(model.initial, model.transition, log_b)
    for result in (logs, scaled):
        assert result.log_prob.item() == pytest.approx(-2325.803349, abs=1e-6)
    alpha, zero = model.initial * log_b[0, 0].exp(), None
    for t in range(1, 2000):
        alpha = (alpha @ model.transition) * log_b[0, t].exp()
        if zero is None and not alpha.any():
            zero = t + 1
    assert zero == 641


@pytest.mark.parametrize("length", [2, 3, 50, 999])
@pytest.mark.parametrize("batch", [1, 3])
def test_blocks_equal_the_plain_sweeps(length: int, batch: int) -> None:
    model, _ = random_model("categorical", 4)
    x = model.sample(batch, length=length, generator=seeded(1))
    b, _ = forward_backward.frames(model.log_emissions(x))
    alpha, c = forward_backward.forward_sweep(b, model.transition, model.initial)
    beta, arriving = forward_backward.backward_sweep(torch.ones_like(b[0]), model.transition, b, c)
    result = forward_backward.blocked(model.initial, model.transition, b)
    for ours, plain in zip(result, (alpha, beta, arriving, c), strict=True):
        close(ours, plain, 1e-9)


def test_where_scaling_underflows_logs_do_not() -> None:
    """The state that the frame likes best cannot be reached, and the other is e^−800 times less likely."""
    log_b = f64([[[0.0, 0.0], [-800.0, 0.0]]])
    start, stay = f64(1.0, 0.0), torch.eye(2, dtype=torch.float64)
    assert not forward_backward.scaled(start, stay, log_b).log_steps.isfinite().all()
    result = forward_backward.posterior(start, stay, log_b)
    assert result.log_prob.item() == pytest.approx(-800.0)
    close(result.smoothed[0], f64([[1.0, 0.0], [1.0, 0.0]]))
    assert forward_backward.forward(start, stay, log_b)[1].sum().item() == pytest.approx(-800.0)


def test_equal_rows_make_a_mixture() -> None:
    model, x = random_model("gaussian-full")
    model.set_parameters(model.initial, model.initial.expand(3, 3))
    mixture = GaussianMixture((2,), 3)
    mixture.set_parameters(model.initial, model.emission.means, model.emission.covariances)
    close(model.log_prob(x), mixture.log_prob(x.flatten(0, 1)).reshape(3, 5).sum(1), 1e-10)
    close(model.posterior(x).smoothed.flatten(0, 1), mixture.responsibilities(x.flatten(0, 1)), 1e-10)


def test_names_of_states_mean_nothing() -> None:
    model, x = random_model("categorical")
    before, order = model.log_prob(x), torch.tensor([2, 0, 1])
    model.set_parameters(model.initial[order], model.transition[order][:, order])
    model.emission.probs.copy_(model.emission.probs[order].clone())
    close(model.log_prob(x), before, 1e-12)


def test_missing_frames_are_summed_out() -> None:
    model, _ = random_model("categorical", 2)
    whole = torch.tensor([[0, v, 2] for v in range(4)])
    hole = torch.tensor([[0, -1, 2]])
    close(model.log_prob(hole), model.log_prob(whole).logsumexp(0, keepdim=True), 1e-10)
    gaussian, x = random_model("gaussian")
    shorter = x.clone()
    shorter[:, 3:] = math.nan
    close(gaussian.log_prob(shorter), gaussian.log_prob(x[:, :3]), 1e-10)


@pytest.mark.parametrize("shows", ["gaussian", "gaussian-full", "bernoulli"])
def test_of_a_frame_that_lacks_a_number_the_others_count(shows: str) -> None:
    """Against all the values that it could have: what is seen is their integral, what EM sums their mean."""
    model, x = random_model(shows)
    x = x[:1]
    values = f64(0.0, 1.0) if shows == "bernoulli" else torch.linspace(-12, 12, 401, dtype=torch.float64)
    weight = 1.0 if shows == "bernoulli" else float(values[1] - values[0])
    filled = x.expand(len(values), -1, -1).clone()
    filled[:, 2, 1] = values
    x[0, 2, 1] = x[0, 4] = filled[:, 4] = math.nan  # the last frame lacks both
    each = model.log_prob(filled)
    close(model.log_prob(x)[0], each.logsumexp(0) + math.log(weight), 1e-8)
    shares = each.softmax(0)
    sums = [model.e_step(row[None]) for row in filled]
    result = model.e_step(x)
    for name in set(result) - {"loglik"}:
        due = sum(share * s[name] for share, s in zip(shares, sums, strict=True))
        close(result[name], torch.as_tensor(due), 1e-7)
    path, log_best = model.viterbi(x)
    log_joint = paths(model, x)[1]
    close(log_best[0], log_joint.max(), 1e-10)
    assert model.log_joint(x, path).item() == pytest.approx(log_best.item())


@pytest.mark.parametrize("shows", ["gaussian", "gaussian-full", "bernoulli"])
def test_a_fit_with_numbers_missing_climbs(shows: str) -> None:
    truth, _ = random_model(shows)
    x = truth.sample(20, length=30, generator=seeded(1))
    x[torch.rand(x.shape, generator=seeded(2)) < 0.3] = math.nan
    model = HMM(3, shows, num_features=2)  # type: ignore[arg-type]
    model.fit(x, 1, generator=seeded(0))
    results = [float(model.log_prob(x).sum())]
    for _ in range(8):
        model.em_step(x)
        results.append(float(model.log_prob(x).sum()))
    assert all(b >= a - 1e-8 for a, b in itertools.pairwise(results)) and math.isfinite(results[-1])


def test_prediction_ahead() -> None:
    model = weather()
    far = torch.cat([DAYS, torch.tensor([[-1, -1]])], 1)
    close(model.forecast(DAYS, 2)[0], model.posterior(far).filtered[0, -1], 1e-12)
    stationary = f64(4 / 7, 3 / 7)
    close(model.forecast(DAYS, 200)[0], stationary, 1e-9)


def test_what_is_seen_of_a_chain_is_not_markov() -> None:
    """LV-E28, [BB] ex. 5.10: five states are printed under "n = 2", with columns that sum to 1, not rows."""
    printed = f64(
        [
            [0, 1, 0, 1 / 5, 0],
            [0, 0, 1, 1 / 5, 0],
            [1 / 2, 0, 0, 1 / 5, 0],
            [0, 0, 0, 1 / 5, 1],
            [1 / 2, 0, 0, 1 / 5, 0],
        ]
    )
    close(printed.sum(1), f64(1.2, 1.2, 0.7, 1.2, 0.7))
    law, stationary = printed.T, f64(6.0, 5.0, 4.0, 5.0, 4.0) / 24
    close(law.sum(1), torch.ones(5, dtype=torch.float64))
    close(stationary @ law, stationary)
    model = HMM(5, "categorical", vocab_size=2)
    model.set_parameters(stationary, law)
    model.emission.probs.copy_(f64([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]]))  # f: the first three show a 1

    def next_is_1(*past: int) -> float:
        """The last symbol is the most recent; symbols 1 and 2 are numbers 0 and 1."""
        return float((model.forecast(torch.tensor([past]) - 1) @ model.emission.probs)[0, 0])

    assert next_is_1(2, 1) == pytest.approx(5 / 6)
    assert next_is_1(2, 1, 1) == pytest.approx(4 / 5)
    assert next_is_1(2, 1, 1, 1) == pytest.approx(3 / 4)
    assert next_is_1(1, 2) == pytest.approx(0, abs=1e-12)
    assert next_is_1(2, 2) == pytest.approx(1 / 2)


def test_casino_is_recovered() -> None:
    x, z = chains.sample("casino", 100, 150, seed=1)
    model = HMM(2, "categorical", vocab_size=6)
    model.fit(x, 120, generator=seeded(4))
    loaded = int(model.emission.probs[:, 5].argmax())
    order = [1 - loaded, loaded]
    truth = chains.TRUTH["casino"]
    close(model.transition[order][:, order], f64(truth.transition), 0.05)
    close(model.emission.probs[order], f64(truth.emission), 0.05)
    right = ((model.encode(x) == loaded).long() == z).double().mean()
    assert right > 0.76 > max(z.double().mean(), 1 - z.double().mean())


def test_two_states_find_vowels() -> None:
    data = letters.Letters(num_train=100, length=200)
    data.setup("fit")
    (x,) = data.train_set[torch.arange(100)]
    frequency = x.flatten().bincount(minlength=27) / x.numel()
    unigram = -torch.xlogy(frequency, frequency).sum().item()
    model = HMM(2, "categorical", vocab_size=27)
    model.fit(x, 60, generator=seeded(1))
    vowel = int(model.emission.probs[:, 1].argmax())  # the state of "a"
    share = model.emission.probs[vowel] / model.emission.probs.sum(0)
    result = {letters.ALPHABET[i] for i in range(27) if share[i] > 0.5}
    assert set(" aeiou") <= result <= set(" aeiouhy")
    rate = -model.log_prob(x).sum().item() / x.numel()
    assert rate < unigram - 0.08
    stuck = HMM(2, "categorical", vocab_size=27)  # another start, another maximum: so restarts
    assert stuck.fit(x, 60, generator=seeded(0))[-1] < model.log_prob(x).sum().item() - 0.05 * x.numel()


def test_numbers_of_parameters() -> None:
    assert HMM(2, "categorical", vocab_size=3).num_parameters == 7
    assert HMM(3, "gaussian-full", num_features=2).num_parameters == 2 + 6 + 6 + 9
    assert HMM(2, "bernoulli", num_features=4).num_parameters == 1 + 2 + 8


@pytest.mark.parametrize("at_once", [1, 3 * 25 * 50])
def test_a_sample_is_the_same_however_much_is_looked_at_in_one_go(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    model = HMM(states=5, vocab_size=7)
    whole = model.sample_states(50, length=20, generator=seeded())
    monkeypatch.setattr(hmm, "COMPARED", at_once)
    assert all(
        torch.equal(a, b)
        for a, b in zip(whole, model.sample_states(50, length=20, generator=seeded()), strict=True)
    )


def test_samples_and_trace() -> None:
    model = weather()
    z, x = model.sample_states(4000, length=3, generator=seeded())
    close(z[:, 0].bincount() / 4000, f64(0.6, 0.4).float(), 0.03)
    close(z[z[:, 0] == 0, 1].double().mean(), f64(0.3), 0.03)
    close((x[z == 1] == 2).double().mean(), f64(0.6), 0.03)
    trace = model.sample_trace(length=6, generator=seeded(2))
    assert len(trace) == 6 and trace.digest() == model.sample_trace(length=6, generator=seeded(2)).digest()


def test_constructor_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="vocab_size is missing"):
        HMM(2, "categorical", num_features=3)
    with pytest.raises(ValueError, match="num_features is missing"):
        HMM(2, "gaussian", vocab_size=3)
    with pytest.raises(ValueError, match="one of categorical, gaussian"):
        HMM(2, "poisson", vocab_size=3)  # type: ignore[arg-type]


def test_equals_hmmlearn() -> None:
    from hmmlearn import hmm as hmmlearn

    model, _ = random_model("gaussian-full")
    x = model.sample(6, length=30, generator=seeded(5))
    peer = hmmlearn.GaussianHMM(
        3,
        "full",
        init_params="",
        n_iter=8,
        tol=-math.inf,
        min_covar=0,
        covars_prior=0,
        implementation="scaling",
    )
    peer.startprob_, peer.transmat_ = model.initial.numpy().copy(), model.transition.numpy().copy()
    peer.means_ = model.emission.means.numpy().copy()
    peer.covars_ = model.emission.covariances.numpy().copy()
    flat, lengths = x.flatten(0, 1).numpy(), [30] * 6
    assert model.log_prob(x).sum().item() == pytest.approx(peer.score(flat, lengths), abs=1e-8)
    peer.fit(flat, lengths)
    model.fit(x, 8)
    close(model.transition, torch.tensor(peer.transmat_), 1e-6)
    close(model.emission.means, torch.tensor(peer.means_), 1e-6)
    _, states = peer.decode(flat, lengths)
    assert model.encode(x).flatten().tolist() == states.tolist()


# --- the edges: barred transitions, narrow emissions, padding ---------------------------------------


def narrow(start: Tensor, transition: Tensor, means: Tensor, variance: float = 0.0025) -> HMM:
    model = HMM(len(start), "gaussian", num_features=1)
    model.set_parameters(start, transition)
    model.emission.set_parameters(means[:, None], torch.full((len(start), 1), variance))
    return model


def enumerated(model: HMM, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """log p(x), γ (T, K) and Σ ξ (K, K) of one sequence x (1, T), path by path."""
    z, log_joint = paths(model, x)
    log_p = log_joint.logsumexp(0)
    weights, one_hot = (log_joint - log_p).exp(), torch.nn.functional.one_hot(z, model.states).double()
    pairs = torch.einsum("p,ptj,ptk->jk", weights, one_hot[:, :-1], one_hot[:, 1:])
    return log_p, torch.einsum("p,ptk->tk", weights, one_hot), pairs


def chains_with_bars(states: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """π and A of which about half the entries are 0; every row has one that is not."""
    a = torch.rand(states + 1, states, generator=generator, dtype=torch.float64)
    a = torch.where(torch.rand(a.shape, generator=generator) < 0.5, 0.0, a)
    a[torch.arange(states + 1), torch.randint(states, (states + 1,), generator=generator)] += 0.1
    a = a / a.sum(1, keepdim=True)
    return a[0], a[1:]


@pytest.mark.parametrize(
    "transition, frames",
    [
        ([[1.0, 0.0], [0.0, 1.0]], [0.0, 1.85, 1.85]),
        ([[0.5, 0.5], [0.0, 1.0]], [2.0, 0.0, 0.15, 0.15, 0.15]),
        ([[0.5, 0.5], [0.0, 1.0]], [1.8, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]),
    ],
)
def test_a_state_that_scaling_has_lost_comes_back(transition: list, frames: list) -> None:
    """At the first frame one state is e^−800 times less likely; no transition refills it, and it alone shows
    the rest."""
    model = narrow(f64(0.5, 0.5), f64(transition), f64(0.0, 2.0))
    x = f64([frames])
    log_p, gamma, pairs = enumerated(model, x)
    if len(x[0]) == 3:
        assert log_p.item() == pytest.approx(-803.46, abs=0.01)
    assert model.log_prob(x).item() == pytest.approx(log_p.item(), abs=1e-9)
    result = model.posterior(x)
    assert result.log_prob.item() == pytest.approx(log_p.item(), abs=1e-9)
    close(result.smoothed[0], gamma, 1e-12)
    close(result.transitions, pairs, 1e-12)
    assert model.fit(x, 2)[-1] > log_p and model.initial.isfinite().all()


@pytest.mark.parametrize("seed", range(40))
def test_barred_transitions_and_narrow_emissions_equal_enumeration(seed: int) -> None:
    """Over 40 chains: scaled sweeps or logs, whichever is taken, give what all paths give."""
    generator = seeded(seed)
    states, length = 2 + seed % 3, 6
    start, transition = chains_with_bars(states, generator)
    means = torch.arange(states, dtype=torch.float64)
    variance = 10.0 ** -(1 + 3 * float(torch.rand((), generator=generator)))
    model = narrow(start, transition, means, variance)
    x = means[torch.randint(states, (1, length), generator=generator)]
    x = x + 0.2 * torch.randn(x.shape, generator=generator, dtype=torch.float64)
    log_p, gamma, pairs = enumerated(model, x)
    result = model.posterior(x)
    for ours in (result.log_prob[0], model.log_prob(x)[0]):
        torch.testing.assert_close(ours, log_p, rtol=1e-9, atol=1e-9)
    if log_p > -math.inf:
        close(result.smoothed[0], gamma, 1e-8)
        close(result.transitions, pairs, 1e-8)


@pytest.mark.parametrize("length", [40, 1200])
def test_a_left_right_chain_is_learned(length: int) -> None:
    """The frames hurry on, the chain has to pass every state: β of states that cannot be reached yet
    overflows; γ and EM are finite all the same."""
    states = 8
    transition = 0.9 * torch.eye(states) + 0.1 * torch.eye(states).roll(1, 1)
    transition[-1] = torch.eye(states)[-1]
    means = 2.0 * torch.arange(states)
    model = narrow(torch.eye(states)[0], transition, means, 0.2)
    z = (torch.arange(length) >= 3) * (states - 1)
    x = (means[z] + 0.4 * torch.randn(length, generator=seeded(), dtype=torch.float64))[None]
    result = model.posterior(x)
    close(result.smoothed.sum(2), torch.ones(1, length, dtype=torch.float64), 1e-9)
    close(result.transitions.sum(), f64(length - 1.0), 1e-6)
    assert result.smoothed[0, 10:].argmax(1).eq(states - 1).all()
    totals = f64(*model.fit(x, 3))
    assert totals.isfinite().all() and totals.diff().min() > -1e-9
    close(model.initial, torch.eye(states, dtype=torch.float64)[0], 1e-9)
    assert not model.transition.tril(-1).any() and model.transition.isfinite().all()


def test_log_domain_counts_transitions_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = random_model("categorical")
    arguments = model.initial, model.transition, model.log_emissions(x)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True, False, False, False, False]])
    whole = forward_backward.log_domain(*arguments, mask)
    close(forward_backward.scaled(*arguments, mask).transitions, whole.transitions, 1e-10)
    monkeypatch.setattr(forward_backward, "PAIRS", 1)
    close(forward_backward.log_domain(*arguments, mask).transitions, whole.transitions, 1e-12)


def test_what_is_impossible_has_log_probability_minus_infinity() -> None:
    model = weather()
    model.emission.probs[:, 2] = 0.0
    assert model.log_prob(DAYS).item() == -math.inf
    assert model.log_prob(torch.tensor([[2, 0, 1]])).item() == -math.inf
    with pytest.raises(ValueError, match="1 of 2 sequences have probability 0"):
        model.fit(torch.tensor([[0, 1, 2], [0, 1, 1]]), 1)


@pytest.mark.parametrize("shows", SHOWS)
def test_padding_changes_nothing(shows: str) -> None:
    """Every answer about a sequence is the same alone and behind a batch's padding; so is a hole mask."""
    model, x = random_model(shows)
    model.set_parameters(f64(0.6, 0.4, 0.0), f64([[0.3, 0.7, 0.0], [0.0, 0.2, 0.8], [0.5, 0.1, 0.4]]))
    missing = -1 if shows == "categorical" else math.nan
    x[:, 1] = missing
    for length in (1, 3, 4):
        short = x[:, :length]
        padded = x.clone()
        padded[:, length:] = missing
        path, log_best = model.viterbi(short)
        longer, log_longer = model.viterbi(padded)
        assert torch.equal(longer[:, :length], path) and torch.equal(model.encode(padded), longer)
        close(log_longer, log_best, 1e-12)
        close(model.log_joint(padded, longer), log_longer, 1e-12)
        close(model.log_prob(padded), model.log_prob(short), 1e-12)
        close(model.forecast(padded, 2), model.forecast(short, 2), 1e-12)
        alone, behind = model.posterior(short), model.posterior(padded)
        close(behind.smoothed[:, :length], alone.smoothed, 1e-12)
        close(behind.transitions, alone.transitions, 1e-12)
        for name, total in model.e_step(short).items():
            close(model.e_step(padded)[name], total, 1e-12)


def test_a_sequence_of_padding_alone_says_nothing_of_the_start() -> None:
    empty = torch.tensor([[0, 1, 2], [-1, -1, -1]])
    one, both = weather(), weather()
    one.fit(DAYS, 2)
    both.fit(empty, 2)
    close(both.initial, one.initial, 1e-12)
    close(both.transition, one.transition, 1e-12)


@pytest.mark.parametrize("floor", [1e-6, 0.1])
def test_a_bit_that_never_showed_keeps_its_floor(floor: float) -> None:
    """What was not seen is rare and not impossible: no fit leaves [floor, 1 − floor]."""
    model = HMM(states=2, emission="bernoulli", num_features=3, floor=floor)
    x = torch.tensor([0.0, 1.0, 1.0]).expand(4, 5, 3).clone()
    model.fit(x, steps=5, generator=torch.Generator().manual_seed(0))
    probs = model.emission.probs
    torch.testing.assert_close(probs, torch.tensor([floor, 1 - floor, 1 - floor]).expand(2, 3).to(probs))
    surprise = model.log_prob(1 - x)
    assert surprise.isfinite().all() and torch.allclose(
        surprise, torch.full_like(surprise, 15 * math.log(floor))
    )
