"""Counted models: joint and chain-rule tables, Bayesian networks, Markov chains, the Gaussian chain."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contracts
import pytest
import torch
from rotation import in_turn
from torch import Tensor

from modules.autoregressive.bayesnet import TEMPLATES, BayesNet, NeighbourNet, neighbours, topological_order
from modules.autoregressive.gaussian_chain import GaussianChain, walk_distribution
from modules.autoregressive.markov import (
    FIVE_STATES,
    PRINTED,
    MarkovChain,
    check_transition,
    distribution_after,
    history_distribution,
    stationary,
)
from modules.autoregressive.tables import OUTSIDE, ChainRuleTable, ConditionalTables, JointTable


def bits(count: int, n: int, seed: int = 0, num_categories: int = 2) -> Tensor:
    return torch.randint(0, num_categories, (count, n), generator=contracts.seeded(seed)).double()


def random_joint(n: int, seed: int = 0) -> JointTable:
    p = torch.rand(2**n, generator=contracts.seeded(seed), dtype=torch.float64) + 0.01
    model = JointTable(event_shape=(n,), smoothing=0.0)
    model.put(p / p.sum())
    return model


def fitted(model: Any, x: Tensor) -> Any:
    model.reset_counts()
    model.count((x,))
    return model


# --- Counts: elements of the real arrays ---------------------------------------------------------


def test_a_table_of_ten_bits_has_1023_numbers_however_it_is_written() -> None:
    joint, chain = JointTable(event_shape=(10,)), ChainRuleTable(event_shape=(10,))
    assert joint.num_parameters == chain.num_parameters == 1023
    assert chain.num_parameters == chain.free_numbers.numel() == sum(2**i for i in range(10))


@pytest.mark.parametrize(
    ("memory", "numbers"), [(0, 784), (1, 1_567), (2, 3_131), (3, 6_255), (4, 12_495), (8, 198_911)]
)
def test_numbers_of_a_position_specific_chain(memory: int, numbers: int) -> None:
    assert MarkovChain(event_shape=(784,), memory=memory).num_parameters == numbers


def test_numbers_of_a_homogeneous_chain_and_of_shared_templates() -> None:
    assert MarkovChain(event_shape=(784,), memory=1, homogeneous=True).num_parameters == 3
    assert MarkovChain(event_shape=(784,), memory=2, homogeneous=True).num_parameters == 7
    assert NeighbourNet(template="neighbours12", shared=True).num_parameters == 4096
    assert NeighbourNet(template="none").num_parameters == 784


def test_a_conditional_on_m_bits_needs_two_to_the_m_numbers() -> None:
    """[GM] 1.5.1 says 2^m - 1: three bits would need 0 + 1 + 3 = 4 numbers, not 7."""
    model = ChainRuleTable(event_shape=(3,))
    rows = torch.tensor([*model.first.tolist(), len(model.counts)]).diff().tolist()
    assert rows == [1, 2, 4] and sum(rows) == 2**3 - 1
    assert sum(2**m - 1 for m in range(3)) == 4


# --- Exactness -----------------------------------------------------------------------------------


def test_the_chain_rule_holds_in_all_24_orders() -> None:
    joint, x = random_joint(4), contracts.configurations((4,)).double()
    for order in itertools.permutations(range(4)):
        chain = joint.conditional_log_prob(joint.logits(x, torch.tensor(order)), x).sum(-1)
        torch.testing.assert_close(chain, joint.log_prob(x), rtol=0, atol=1e-12)
        table = ChainRuleTable(event_shape=(4,), order=order, smoothing=0.0)
        table.count((x.repeat_interleave((joint.table * 2e3).round().long(), 0),))
        expected = (joint.table * 2e3).round()
        torch.testing.assert_close(table.log_prob(x).exp(), expected / expected.sum(), rtol=0, atol=1e-12)


def test_maximum_likelihood_is_counts_over_n() -> None:
    x = bits(500, 4)
    for model in (JointTable(event_shape=(4,), smoothing=0.0), ChainRuleTable((4,), smoothing=0.0)):
        fitted(model, x)
        every = contracts.configurations((4,)).double()
        share = (x[:, None] == every[None]).all(-1).double().mean(0)
        torch.testing.assert_close(model.log_prob(every).exp(), share, rtol=0, atol=1e-12)


def random_graph(n: int, seed: int) -> list[list[int]]:
    generator = contracts.seeded(seed)
    order = torch.randperm(n, generator=generator).tolist()
    edges = torch.rand(n, n, generator=generator) < 0.5
    return [[order[r] for r in range(order.index(i)) if edges[i, r]] for i in range(n)]


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int) -> None:
    parents = random_graph(6, seed)
    model = fitted(BayesNet(event_shape=(6,), parents=parents, smoothing=0.0), x := bits(200, 6, seed))
    contracts.density_sums_to_one(model.log_prob, (6,))
    assert model.num_parameters == sum(2 ** len(own) for own in parents)
    row = x[0]
    for i, own in enumerate(parents):  # one conditional from the data alone
        same = (x[:, own] == row[own]).all(1)
        p = model.conditionals(row[None])[0, i].item()
        assert p == pytest.approx(x[same, i].mean().item(), abs=1e-12)


def test_full_parent_sets_are_the_chain_rule_table() -> None:
    x, every = bits(300, 5), contracts.configurations((5,)).double()
    net = fitted(BayesNet(event_shape=(5,), parents=[list(range(i)) for i in range(5)]), x)
    table = fitted(ChainRuleTable(event_shape=(5,)), x)
    assert torch.equal(net.log_prob(every), table.log_prob(every))


def test_more_values_than_two() -> None:
    x = bits(400, 4, num_categories=3)
    for model in (
        MarkovChain((4,), memory=2, num_categories=3),
        BayesNet((4,), [[], [0], [0, 1], [2]], num_categories=3),
        JointTable((4,), num_categories=3),
        ChainRuleTable((4,), "reversed", num_categories=3),
    ):
        fitted(model, x)
        contracts.density_sums_to_one(model.log_prob, (4,), num_categories=3)
        samples = model.sample(20_000, generator=contracts.seeded(1))
        contracts.samples_follow_the_density(samples, model.log_prob, num_categories=3)


def test_a_joint_table_of_three_values_has_the_conditionals_of_its_sums() -> None:
    """Every conditional p(x_≤i) / p(x_<i) by hand, in an order of its own; some strings never happen."""
    model = fitted(JointTable((3,), num_categories=3, smoothing=0.0), bits(40, 3, num_categories=3))
    p, order = model.table.view(3, 3, 3), [2, 0, 1]
    every = contracts.configurations((3,), 3)[model.table > 0]
    a, b, c = every.unbind(1)
    last, first, whole = p.sum((0, 1))[c], p.sum(1)[a, c], p[a, b, c]
    expected = torch.stack([(first / last).log(), (whole / first).log(), last.log()], 1)
    result = model.log_conditionals(every.double(), order)
    torch.testing.assert_close(result, expected, rtol=0, atol=1e-12)
    trace = contracts.trace_replays(
        lambda seed: model.sample_trace(order=order, generator=contracts.seeded(seed))
    )
    assert [step.values["pixel"] for step in trace] == order
    x = trace.result["x"]
    assert trace[-1].values["log_prob"] == pytest.approx(model.log_prob(x[None]).item(), abs=1e-12)


def test_certain_bits_and_unseen_contexts() -> None:
    """Without smoothing: probability 0 is -inf, not NaN, and a context never met is uniform."""
    model = fitted(ChainRuleTable((2,), smoothing=0.0), torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))
    p = model.log_prob(contracts.configurations((2,)).double()).exp()
    assert p.tolist() == pytest.approx([0, 0, 2 / 3, 1 / 3])
    assert model.conditionals(torch.tensor([[0.0, 0.0]]))[0, 1] == 0.5
    assert torch.equal(model.sample(9)[:, 0], torch.ones(9, dtype=torch.float64))


@pytest.mark.parametrize("values", [2, 3])
def test_an_unseen_beginning_of_a_joint_table_says_nothing(values: int) -> None:
    model = fitted(JointTable((2,), num_categories=values, smoothing=0.0), torch.tensor([[1.0, 1.0]]))
    p = model.conditionals(torch.zeros(1, 2))[0, 1]
    assert p.tolist() == pytest.approx(0.5 if values == 2 else [1 / 3] * 3)


@pytest.mark.parametrize("values", [2, 3])
def test_smoothing_adds_to_every_count(values: int) -> None:
    x = torch.tensor([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    model = fitted(MarkovChain((2,), num_categories=values, smoothing=0.5), x)
    assert model.table.sum(1).tolist() == pytest.approx([1.0] * len(model.counts))
    whole = 2 + 0.5 * values  # two examples begin with 0, and both go on with 1
    expected = (2.5 / (3 + 0.5 * values)) * (0.5 / whole)
    assert model.log_prob(torch.zeros(1, 2)).exp().item() == pytest.approx(expected)
    joint = fitted(JointTable((2,), num_categories=values, smoothing=0.5), x)
    assert joint.log_prob(x[:1]).exp().item() == pytest.approx(2.5 / (3 + 0.5 * values**2))


def test_another_epoch_counts_anew_and_batches_add() -> None:
    x = bits(100, 6)
    once = fitted(MarkovChain((6,)), x).counts.clone()
    model = MarkovChain((6,))
    for _ in range(2):
        model.on_train_epoch_start()
        for part in x.split(30):
            model.training_step((part,), 0) if model._trainer else model.count((part,))
    assert torch.equal(model.counts, once)


# --- Markov chains -------------------------------------------------------------------------------

A = torch.tensor([[0.9, 0.1], [0.5, 0.5]], dtype=torch.float64)
NU = torch.tensor([1.0, 0.0], dtype=torch.float64)
TWO_SYMBOLS = [0, 0, 0, 1, 1]  # what is seen of the five states


def chain_of(n: int, initial: Tensor = NU, transition: Tensor = A) -> MarkovChain:
    model = MarkovChain((n,), homogeneous=True, smoothing=0.0, num_categories=len(initial))
    model.put(torch.cat([initial[None], transition]))
    return model


def test_distribution_of_a_step() -> None:
    assert distribution_after(NU, A, 2).tolist() == pytest.approx([0.86, 0.14])
    assert distribution_after(NU, A, 3).tolist() == pytest.approx([0.844, 0.156])
    assert stationary(A).tolist() == pytest.approx([5 / 6, 1 / 6])
    model = chain_of(4)
    torch.testing.assert_close(model.marginals()[3], distribution_after(NU, A, 3))
    every = contracts.configurations((4,)).double()
    enumerated = (model.log_prob(every).exp()[:, None] * every).sum(0)
    torch.testing.assert_close(model.marginals()[:, 1], enumerated)
    samples = model.sample(50_000, generator=contracts.seeded(0))
    assert samples[:, 3].mean().item() == pytest.approx(0.156, abs=0.008)


def test_position_specific_marginals() -> None:
    model = fitted(MarkovChain((5,)), bits(60, 5))
    every = contracts.configurations((5,)).double()
    enumerated = (model.log_prob(every).exp()[:, None] * every).sum(0)
    torch.testing.assert_close(model.marginals()[:, 1], enumerated)


def test_what_fitted_chains_reach() -> None:
    pi = stationary(A)
    assert -(pi * pi.log2()).sum().item() == pytest.approx(0.6500224, abs=1e-7)
    x = chain_of(400, initial=pi).sample(1000, generator=contracts.seeded(0))
    for memory, limit in ((1, 0.5574963), (0, 0.6500224)):
        model = fitted(MarkovChain((400,), memory=memory, homogeneous=True), x)
        nats = -model.log_prob(x).mean().item() / 400
        assert nats / math.log(2) == pytest.approx(limit, abs=0.005)


def test_fair_walk() -> None:
    distribution = walk_distribution(4)
    assert (distribution * 16).tolist() == [1, 0, 4, 0, 6, 0, 4, 0, 1]
    steps = torch.zeros(9, 9, dtype=torch.float64)
    for i in range(1, 8):
        steps[i, i - 1] = steps[i, i + 1] = 0.5
    steps[0, 0] = steps[8, 8] = 1
    middle = torch.zeros(9, dtype=torch.float64).index_fill(0, torch.tensor(4), 1)
    torch.testing.assert_close(distribution_after(middle, steps, 4), distribution)


def test_the_printed_matrix_is_the_transpose_of_a_transition_matrix() -> None:
    printed, transition = torch.tensor(PRINTED).double(), torch.tensor(FIVE_STATES).double()
    assert printed.sum(1).tolist() == pytest.approx([1.2, 1.2, 0.7, 1.2, 0.7], abs=1e-6)
    with pytest.raises(ValueError, match="row 3 sums to"):
        check_transition(printed)
    check_transition(transition)
    assert (stationary(transition) * 24).tolist() == pytest.approx([6, 5, 4, 5, 4], abs=1e-5)


def test_an_image_of_a_chain_remembers_further_back() -> None:
    transition = torch.tensor(FIVE_STATES, dtype=torch.float64)

    def p(*history: int) -> float:  # of symbol 1, after symbols 1 and 2
        return history_distribution(transition, TWO_SYMBOLS, [h - 1 for h in history])[0].item()

    assert p(1, 2) == pytest.approx(0, abs=1e-9) and p(2, 2) == pytest.approx(1 / 2, abs=1e-7)
    assert p(2) == pytest.approx(1 / 3, abs=1e-7)
    assert p(2, 1) == pytest.approx(5 / 6) and p(2, 1, 1) == pytest.approx(4 / 5)
    assert p(2, 1, 1, 1) == pytest.approx(3 / 4)
    # and as samples of the chain have it
    states = chain_of(6, stationary(transition), transition).sample(40_000, generator=contracts.seeded(0))
    seen = torch.tensor(TWO_SYMBOLS)[states.long()] + 1
    after = seen[(seen[:, 3] == 2) & (seen[:, 4] == 2)][:, 5]
    assert (after == 1).double().mean().item() == pytest.approx(0.5, abs=0.03)
    assert not (seen[(seen[:, 3] == 1) & (seen[:, 4] == 2)][:, 5] == 1).any()


def test_a_history_that_never_occurs_has_no_distribution() -> None:
    distribution = history_distribution(torch.eye(2, dtype=torch.float64), [0, 1], [0, 1], NU)
    assert distribution.isnan().all()


# --- The Gaussian chain --------------------------------------------------------------------------


def test_gaussian_chain_is_one_multivariate_normal() -> None:
    model = GaussianChain(event_shape=(5,))
    model.put(0.8, 0.6)
    x = torch.tensor([[0.3, -0.2, 0.5, 1.0, 0.0]], dtype=torch.float64)
    assert model.log_prob(x).item() == pytest.approx(-4.8591679, abs=1e-7)
    mean, covariance = model.moments()
    gaps = (torch.arange(5)[:, None] - torch.arange(5)).abs()
    torch.testing.assert_close(covariance, 0.8 ** gaps.double(), rtol=0, atol=1e-12)
    whole = torch.distributions.MultivariateNormal(mean, covariance)
    torch.testing.assert_close(whole.log_prob(x), model.log_prob(x), rtol=0, atol=1e-10)


def test_gaussian_walk_spreads() -> None:
    model = GaussianChain(event_shape=(6,))
    model.put(1.0, 0.5, first_variance=0.25)
    assert model.moments()[1].diag().tolist() == pytest.approx([0.25 * t for t in range(1, 7)])


def test_least_squares_finds_the_chain_and_samples_follow_it() -> None:
    truth = GaussianChain(event_shape=(20,))
    truth.put(0.7, 0.4, first_variance=2.0, shift=0.3)
    x = truth.sample(5000, generator=contracts.seeded(0))
    model = fitted(GaussianChain(event_shape=(20,)), x)
    results = [float(v) for v in (model.slopes, model.shift, model.variance, model.first_variance)]
    assert results == pytest.approx([0.7, 0.3, 0.16, 2.0], rel=0.06)
    flat = torch.linalg.lstsq(
        torch.stack([x[:, :-1].flatten(), torch.ones(5000 * 19)], 1), x[:, 1:].reshape(-1, 1)
    ).solution
    assert [float(model.slopes), float(model.shift)] == pytest.approx(flat.flatten().tolist(), abs=1e-6)
    mean, covariance = truth.moments()
    torch.testing.assert_close(x.mean(0), mean, rtol=0, atol=0.1)
    torch.testing.assert_close(x.t().cov(), covariance, rtol=0, atol=0.15)
    assert -model.log_prob(x).mean() <= -truth.log_prob(x).mean()  # maximum likelihood on its own data


def test_a_chain_of_memory_two_is_one_multivariate_normal() -> None:
    """The resonance of Yule: stationary by its first covariance, from Yule and Walker's equations."""
    a1, a2, s = 1.2, -0.81, 0.5
    rho1 = a1 / (1 - a2)
    variance = s**2 / (1 - a1 * rho1 - a2 * (a1 * rho1 + a2))
    first = variance * torch.tensor([[1, rho1], [rho1, 1]], dtype=torch.float64)
    model = GaussianChain((7,), memory=2)
    model.put([a1, a2], s, first, shift=0.0)
    rho = [1.0, rho1]
    for _ in range(5):
        rho.append(a1 * rho[-1] + a2 * rho[-2])
    gaps = (torch.arange(7)[:, None] - torch.arange(7)).abs()
    covariance = variance * torch.tensor(rho, dtype=torch.float64)[gaps]
    mean, own = model.moments()
    torch.testing.assert_close(own, covariance, rtol=0, atol=1e-10)
    assert not mean.any() and model.num_parameters == 2 + 3 + 4
    x = torch.randn(5, 7, generator=contracts.seeded(0), dtype=torch.float64)
    whole = torch.distributions.MultivariateNormal(torch.zeros(7, dtype=torch.float64), covariance)
    torch.testing.assert_close(model.log_prob(x), whole.log_prob(x), rtol=0, atol=1e-10)
    # by hand, the nearest value first
    by_hand = -0.5 * ((x[:, 4] - a1 * x[:, 3] - a2 * x[:, 2]) ** 2 / s**2 + math.log(2 * math.pi * s**2))
    torch.testing.assert_close(model.log_conditionals(x)[:, 4], by_hand, rtol=0, atol=1e-10)


def test_least_squares_of_any_memory() -> None:
    """Each of the first k values on all before it, the others on the last k: what lstsq finds on its own."""
    x = torch.randn(300, 9, generator=contracts.seeded(0), dtype=torch.float64).cumsum(1) + 2
    for memory in (1, 2, 4):
        model = fitted(GaussianChain((9,), memory=memory), x)
        L, shift, variance = model.system()
        for t in (*range(memory), memory, 8):
            pooled = [x[:, max(0, u - memory) : u + 1] for u in (range(memory, 9) if t >= memory else [t])]
            rows = torch.cat(pooled)
            design = torch.cat([torch.ones(len(rows), 1), rows[:, :-1]], 1)
            solution = torch.linalg.lstsq(design, rows[:, -1:]).solution[:, 0]
            window = slice(max(0, t - memory), t)
            torch.testing.assert_close(
                torch.cat([shift[t : t + 1], -L[t, window]]), solution, rtol=0, atol=1e-8
            )
            left = (rows[:, -1] - design @ solution).square().mean()
            torch.testing.assert_close(variance[t], left, rtol=0, atol=1e-8)
        mean, covariance = model.moments()
        whole = torch.distributions.MultivariateNormal(mean, covariance)
        torch.testing.assert_close(whole.log_prob(x), model.log_prob(x), rtol=0, atol=1e-7)
        batches = fitted(GaussianChain((9,), memory=memory), x[:100])
        batches.count((x[100:],))
        torch.testing.assert_close(batches.moments()[1], covariance, rtol=0, atol=1e-10)
    draws = model.sample(50_000, generator=contracts.seeded(1))
    spread = covariance.diagonal().sqrt()
    assert ((draws.mean(0) - mean) / spread).abs().max() < 4.5 / math.sqrt(50_000)
    assert ((draws.t().cov() - covariance) / (spread[:, None] * spread)).abs().max() < 0.03


def test_constant_data_keep_a_density() -> None:
    model = fitted(GaussianChain((4,), memory=2), torch.full((10, 4), 3.0))
    assert model.log_prob(torch.full((1, 4), 3.0)).isfinite().all() and model.variance == model.min_variance


def test_gaussian_chain_saves_and_replays(tmp_path: Path) -> None:
    model = fitted(GaussianChain(event_shape=(2, 3)), bits(50, 6))
    loaded = contracts.survives_saving(model, lambda m: m.log_prob(bits(4, 6)).float(), tmp_path)
    assert torch.equal(loaded.steps, model.steps)
    contracts.reproducible(lambda seed: model.sample(3, generator=contracts.seeded(seed)))
    trace = contracts.trace_replays(model.sample_trace)
    assert torch.equal(trace.result.flatten(), model.sample(1, generator=contracts.seeded(0)).flatten())


# --- Templates -----------------------------------------------------------------------------------


def test_templates_have_the_neighbours_their_names_say() -> None:
    assert {name: len(t) for name, t in TEMPLATES.items()} == {
        "none": 0, "left": 1, "left-up": 2, "neighbours4": 4, "neighbours12": 12, "neighbours20": 20,
    }  # fmt: skip
    assert neighbours(2, 3, TEMPLATES["neighbours4"], outside=False)[5] == [4, 1, 2]
    assert neighbours(2, 3, TEMPLATES["neighbours4"], outside=True)[5] == [4, 1, 2, -1]
    raster = MarkovChain((9,), memory=1)
    assert raster.parents == [[], *[[i] for i in range(8)]]
    with pytest.raises(ValueError, match="earlier"):
        NeighbourNet(image_shape=(1, 3, 3), template=[(0, 1)])


def test_shared_and_own_tables_of_a_template() -> None:
    x = bits(300, 9)
    for shared in (False, True):
        model = fitted(NeighbourNet(image_shape=(1, 3, 3), shared=shared), x)
        contracts.density_sums_to_one(model.log_prob, (9,))
        samples = model.sample(20_000, generator=contracts.seeded(0)).flatten(1)
        contracts.samples_follow_the_density(samples, model.log_prob)


def test_topological_order_and_circles() -> None:
    assert topological_order([[2], [], [1]]) == [1, 2, 0]
    with pytest.raises(ValueError, match="circle"):
        BayesNet((2,), [[1], [0]])
    with pytest.raises(ValueError, match="variables 0 to 1"):
        BayesNet((2,), [[], [5]])


def test_bad_input_is_named() -> None:
    for make, what in [
        (lambda: JointTable((40,)), "too many"),
        (lambda: ChainRuleTable((40,)), "too many"),
        (lambda: MarkovChain((50,), memory=30), "contexts"),
        (lambda: MarkovChain((5,), smoothing=-1), "at least 0"),
        (lambda: MarkovChain((5,), memory=-1), "at least 0"),
        (lambda: BayesNet((3,), [[]]), "one each"),
        (lambda: NeighbourNet(template="moore"), "unknown"),
        (lambda: NeighbourNet(image_shape=(3, 2, 2)), "height"),
        (
            lambda: MarkovChain((4,)).log_prob(torch.zeros(1, 4), order="reversed"),
            "before one of its parents",
        ),
        (lambda: MarkovChain((4,)).log_prob(torch.full((1, 4), 0.5)), "binarize"),
        (lambda: MarkovChain((4,), memory=2).transition(), "memory 1"),
        (lambda: GaussianChain((1,)), "more steps"),
        (lambda: GaussianChain((4,), memory=4), "more steps"),
        (lambda: GaussianChain((4,), memory=0), "at least 1"),
        (lambda: GaussianChain((4,), memory=2).put(0.5, 1.0), "1 slopes for a memory of 2"),
    ]:
        with pytest.raises(ValueError, match=what):
            make()


# --- Real data -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mnist(real_data: Any) -> dict[str, tuple[Tensor, Tensor]]:
    """All 60,000 training and 10,000 test digits under both binarizations."""
    from datamodules.mnist import MNIST, static_draw

    real_data("MNIST")
    data = MNIST()
    train, test = (data.read(split)[0][:, None] for split in ("train", "test"))  # type: ignore[arg-type]
    numbers = [torch.arange(60_000), 60_000 + torch.arange(10_000)]
    static = [static_draw(x / 255, k).flatten(1) for x, k in zip((train, test), numbers, strict=True)]
    return {"threshold": ((train > 127).flatten(1), (test > 127).flatten(1)), "static": tuple(static)}  # type: ignore[dict-item]


def ladder(model: Any, train: Tensor, test: Tensor) -> float:
    for part in train.split(5000):
        model.count((part,))
    return -torch.cat([model.log_prob(part) for part in test.split(2500)]).mean().item()


class OneTable(ConditionalTables):
    """The homogeneous chain as it was first measured: the first k pixels too use the one table of all, as if
    empty paper came before them. `MarkovChain` gives them tables of their own."""

    def __init__(self, memory: int) -> None:
        super().__init__((784,))
        parents = [[i - j if i >= j else OUTSIDE for j in range(1, memory + 1)] for i in range(784)]
        self.set_parents(parents, 0.5, [0] * 784)


def template(name: str, shared: bool) -> Callable[[], NeighbourNet]:
    return lambda: NeighbourNet(template=name, shared=shared)


# test nats: under the threshold, and under one static draw (measured earlier)
LADDER: dict[str, tuple[Callable[[], Any], float, float]] = {
    "independent": (template("none", False), 205.85, 205.81),
    "chain 1, own": (lambda: MarkovChain(memory=1), 135.74, 145.32),
    "chain 2, own": (lambda: MarkovChain(memory=2), 131.10, 143.30),
    "chain 3, own": (lambda: MarkovChain(memory=3), 129.79, 141.67),
    "chain 8, own": (lambda: MarkovChain(memory=8), 125.89, 138.12),
    "chain 1, one table": (lambda: OneTable(1), 168.95, 180.33),
    "chain 2, one table": (lambda: OneTable(2), 164.90, 177.62),
    "chain 3, one table": (lambda: OneTable(3), 164.66, 176.57),
    "chain 8, one table": (lambda: OneTable(8), 163.73, 175.71),
    "left, up, own": (template("left-up", False), 105.30, 118.67),
    "left, up, one table": (template("left-up", True), 124.24, 137.70),
    "4 neighbours, own": (template("neighbours4", False), 85.54, 104.14),
    "4 neighbours, one table": (template("neighbours4", True), 96.89, 115.51),
    "12 neighbours, one table": (template("neighbours12", True), 81.18, 103.58),
    "20 neighbours, one table": (template("neighbours20", True), 77.11, 100.42),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "4 neighbours, own" else
                     pytest.mark.heavy if in_turn(name, "modules/autoregressive") else pytest.mark.soak)
        for name in LADDER
    ],
)  # fmt: skip
def test_ladder_of_counted_models_on_mnist(name: str, mnist: dict[str, Any]) -> None:
    make, threshold, static = LADDER[name]
    assert ladder(make(), *mnist["threshold"]) == pytest.approx(threshold, abs=0.01)
    # our own draw of the bits: the same nats within its spread, and never to be mixed with the threshold's
    assert ladder(make(), *mnist["static"]) == pytest.approx(static, abs=0.15)
