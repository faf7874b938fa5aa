"""MADE against enumeration: the numbers of the field, exact in float64."""

import itertools
import math

import contracts
import lightning as L
import pytest
import torch
import torch.nn.functional as F

from lab import weights
from modules.autoregressive.made import MADE, MaskedLinear, draw_degrees, make_masks
from modules.autoregressive.orders import observed_first, ranks, resolve_order


def all_bits(n: int) -> torch.Tensor:
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=n)), dtype=torch.float64)


def random_made(n: int, hidden=(12,), scale: float = 1.5, seed: int = 0, **arguments) -> MADE:
    """A MADE in float64 with weights large enough that the conditionals are far from 1/2."""
    model = MADE(event_shape=(n,), hidden=list(hidden), **arguments).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(scale * torch.randn(p.shape, generator=generator, dtype=torch.float64))
    return model.eval()


def chi2_is_plausible(counts: torch.Tensor, p: torch.Tensor) -> bool:
    """Pearson's statistic below its mean by less than 5 standard deviations (cells with mass)."""
    assert counts[p == 0].sum() == 0
    counts, p = counts[p > 0], p[p > 0]
    expected = p * counts.sum()
    degrees = len(p) - 1
    return float(((counts - expected) ** 2 / expected).sum()) < degrees + 5 * math.sqrt(2 * degrees)


CONFIGURATIONS = [
    {},
    {"direct": True},
    {"hidden": (9, 7), "degrees": "random"},
    {"hidden": (9, 7, 5), "direct": True, "order": "random"},
    {"hidden": (6,), "order": [2, 0, 5, 1, 4, 3], "direct": True},
    {"hidden": (2,), "order": "reversed"},
    {"hidden": (4, 3), "degrees": [[1, 5, 2, 4], [3, 5, 1]], "direct": True, "order": "random"},
]


# --- Density ------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", CONFIGURATIONS)
def test_sums_to_one_and_conditionals_agree_with_enumeration(arguments):
    model, x = random_made(6, **arguments), all_bits(6)
    p = model.log_prob(x).exp()
    assert p.sum().item() == pytest.approx(1, abs=1e-10)
    assert p.max() - p.min() > 1e-3  # not the trivial uniform distribution
    # each conditional from the joint alone: p(x_i = 1 | x_<i) = p(x_<i, x_i = 1) / p(x_<i)
    hat = model.conditionals(x)
    for r, i in enumerate(model.order.tolist()):
        past = model.order[:r]
        for row in range(0, len(x), 7):
            same = (x[:, past] == x[row, past]).all(-1)
            expected = p[same & (x[:, i] == 1)].sum() / p[same].sum()
            assert hat[row, i].item() == pytest.approx(expected.item(), abs=1e-10)


@pytest.mark.parametrize("arguments", CONFIGURATIONS)
def test_one_pass_equals_the_sequential_conditionals(arguments):
    model = random_made(6, **arguments)
    generator = torch.Generator().manual_seed(3)
    x, logits = model._draw(50, None, model.order, 0, 1.0, generator)
    torch.testing.assert_close(torch.sigmoid(logits), model.conditionals(x), atol=1e-12, rtol=0)
    # and with plain passes, one per variable, the later ones still zero
    y = torch.zeros_like(x)
    for i in model.order.tolist():
        torch.testing.assert_close(
            model.conditionals(y)[:, i], torch.sigmoid(logits[:, i]), atol=1e-12, rtol=0
        )
        y[:, i] = x[:, i]


def test_event_shape_and_flat_inputs_agree():
    model = MADE(event_shape=(1, 3, 2), hidden=[5], direct=True).double()
    x = all_bits(6)
    torch.testing.assert_close(model.log_prob(x), model.log_prob(x.reshape(-1, 1, 3, 2)), atol=0, rtol=0)
    assert model.conditionals(x).shape == (64, 1, 3, 2)
    assert model.sample(4).shape == (4, 1, 3, 2)


def test_one_variable_is_a_coin():
    model = random_made(1, hidden=(3,), direct=True)
    p = model.log_prob(all_bits(1)).exp()
    assert p.sum().item() == pytest.approx(1, abs=1e-12)
    assert p[1].item() == pytest.approx(torch.sigmoid(model.out.bias)[0].item(), abs=1e-12)


@pytest.mark.parametrize("arguments", CONFIGURATIONS)
def test_contracts_of_a_density(arguments):
    model = contracts.exact(MADE(event_shape=(6,), **({"hidden": [12]} | arguments)))
    x = all_bits(6)
    contracts.density_sums_to_one(model.log_prob, (6,))
    contracts.one_pass_equals_sequential(model.conditionals, x, model.order.tolist())
    contracts.conditionals_make_the_density(model.log_prob, model.conditionals, x)
    draws = model.sample(20_000, generator=torch.Generator().manual_seed(0))
    contracts.samples_follow_the_density(draws, model.log_prob)


# --- Masks --------------------------------------------------------------------------------------


def test_the_worked_order_x2_x3_x1():
    rank = ranks(resolve_order([1, 2, 0], 3))
    assert rank.tolist() == [3, 1, 2]
    first, last = make_masks(rank, [torch.tensor([1, 2, 1, 2])], direct=False)
    assert first.int().tolist() == [[0, 1, 0], [0, 1, 1], [0, 1, 0], [0, 1, 1]]
    assert last.int().tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]]
    assert (last.int() @ first.int()).tolist() == [[0, 4, 2], [0, 0, 0], [0, 2, 0]]


def test_given_degrees_are_the_masks_of_the_worked_order():
    model = random_made(3, hidden=(4,), degrees=[[1, 2, 1, 2]], order=[1, 2, 0])
    first, last = model.masks()
    assert (last @ first).tolist() == [[0, 4, 2], [0, 0, 0], [0, 2, 0]]
    assert model.hparams["degrees"] == [[1, 2, 1, 2]]  # the card remembers them
    contracts.density_sums_to_one(model.log_prob, (3,))


def test_masks_by_index_would_make_the_last_variable_unconditional():
    # the text's rule m(k) >= j with the index j in place of its rank
    index = torch.tensor([1, 2, 3])
    first, last = make_masks(index, [torch.tensor([1, 2, 1, 2])], direct=False)
    assert (last.int() @ first.int()).tolist() == [[0, 0, 0], [2, 0, 0], [4, 2, 0]]


def test_the_worked_sampling_trace():
    """Outputs set so that the passes give x2 = 1, x3 = 0, x1 = 1; passes 2 and 3 see equal inputs."""
    model = random_made(3, hidden=(4,), order=[1, 2, 0])
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model.out.bias.copy_(torch.tensor([5.0, 5.0, -5.0]))
    trace = model.sample_trace(temperature=0)
    assert [step.values["pixel"] for step in trace] == [1, 2, 0]
    assert [step.values["bit"] for step in trace] == [1, 0, 1]
    assert trace.result["x"].tolist() == [1, 1, 0]
    inputs = [torch.nan_to_num(step.values["x"], nan=0.0).tolist() for step in trace]
    assert inputs == [[0, 1, 0], [0, 1, 0], [1, 1, 0]]


def test_deep_masks_and_their_path_counts():
    degrees = [torch.tensor([1, 2, 3, 1, 2]), torch.tensor([1, 2, 3, 2])]
    masks = make_masks(torch.arange(1, 5), degrees, direct=False)
    assert [int(m.sum()) for m in masks] == [9, 15, 8]
    first, middle, last = (m.long() for m in masks)
    expected = [[0, 0, 0, 0], [2, 0, 0, 0], [10, 4, 0, 0], [15, 7, 1, 0]]
    assert (last @ middle @ first).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("direct", [False, True])
def test_jacobian_is_exactly_zero_where_the_masks_say_and_nonzero_elsewhere(seed, direct):
    model = MADE(
        event_shape=(7,), hidden=[11, 9], direct=direct, degrees="random", order="random", seed=seed
    ).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.rand_like(p) + 0.1)  # positive weights and inputs: every relu is open
    masks = model.masks()
    x = torch.rand(7, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda v: model(v[None], masks)[0], x)
    rank = ranks(model.order)
    later = rank[None, :] >= rank[:, None]
    assert (jacobian[later] == 0).all()
    paths = masks[2] @ masks[1] @ masks[0] + (masks[3] if direct else 0)
    assert torch.equal(jacobian != 0, paths > 0)
    assert (jacobian[model.order[0]] == 0).all()  # the first variable's logit is a constant
    assert (jacobian[:, model.order[-1]] == 0).all()  # the last variable is never read
    if direct:
        assert torch.equal(jacobian != 0, ~later)


@pytest.mark.parametrize("rule", ["even", "random"])
@pytest.mark.parametrize(("n", "width"), [(9, 5), (9, 8), (9, 40), (30, 17)])
def test_ones_in_both_masks_are_n_times_d(rule, n, width):
    degrees = draw_degrees(n, [width], rule, torch.Generator().manual_seed(1))
    masks = make_masks(torch.arange(1, n + 1), degrees, direct=False)
    assert int(masks[0].sum() + masks[1].sum()) == n * width


def lost_predecessors(n: int, width: int, rule: str, seed: int = 0) -> int:
    m = draw_degrees(n, [width], rule, torch.Generator().manual_seed(seed))[0]
    assert int(m.min()) >= 1 and int(m.max()) <= n - 1
    return n - 1 - len(m.unique())


def test_lost_predecessor_edges_of_a_narrow_layer():
    runs = torch.tensor([lost_predecessors(784, 500, "random", s) for s in range(40)], dtype=torch.float64)
    expected = 783 * (1 - 1 / 783) ** 500
    assert round(expected) == 413
    assert runs.mean().item() == pytest.approx(expected, abs=4 * runs.std().item() / math.sqrt(40) + 1e-9)
    assert lost_predecessors(784, 500, "even") == 283
    assert lost_predecessors(784, 783, "even") == lost_predecessors(784, 800, "even") == 0
    wide = sum(lost_predecessors(784, 8000, "random", s) for s in range(200)) / 200
    assert wide == pytest.approx(783 * (1 - 1 / 783) ** 8000, abs=0.05)


def test_direct_connections_restore_every_edge():
    model = MADE(event_shape=(784,), hidden=[50], degrees="random", direct=True)
    first, last, direct = model.masks()
    lost = (last @ first).diagonal(-1) == 0
    assert lost.sum() > 700
    assert ((last @ first + direct).diagonal(-1) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_random_deep_degrees_cut_no_unit_off(seed):
    layers = draw_degrees(20, [3, 15, 15], "random", torch.Generator().manual_seed(seed))
    for mask in make_masks(torch.arange(1, 21), layers, direct=False)[:-1]:
        assert mask.any(1).all()


def test_parameter_counts_of_the_published_sizes():
    assert MADE(hidden=[500]).num_parameters == 785_284
    assert MADE(hidden=[500, 500]).num_parameters == 1_035_784
    assert MADE(hidden=[8000]).num_parameters == 12_552_784
    direct = MADE(hidden=[500], direct=True)
    assert int(direct.masks()[-1].sum()) == 306_936


# --- Orders and ensembles -----------------------------------------------------------------------


def test_orders_are_different_joints_each_normalised():
    model, x = random_made(5, hidden=(8, 8)), all_bits(5)
    one, other = model.log_prob(x), model.log_prob(x, order="reversed")
    assert one.exp().sum().item() == pytest.approx(1, abs=1e-10)
    assert other.exp().sum().item() == pytest.approx(1, abs=1e-10)
    assert (one - other).abs().max() > 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_orders": 4},
        {"num_orders": 0, "ensemble": 3},
        {"num_masks": 3, "degrees": "random"},
        {"num_orders": 0, "num_masks": 0, "degrees": "random"},
    ],
)
def test_ensemble_is_a_mixture_of_joints(arguments):
    model, x = random_made(5, hidden=(8,), **arguments), all_bits(5)
    each = torch.stack([model._log_prob(x, index=s) for s in range(model.num_components)])
    assert (each[0] - each[1]).abs().max() > 1e-3
    mixed = model.log_prob(x)
    assert mixed.exp().sum().item() == pytest.approx(1, abs=1e-10)
    torch.testing.assert_close(mixed.exp(), each.exp().mean(0), atol=1e-12, rtol=0)
    assert (-mixed <= -each.mean(0) + 1e-12).all()  # Jensen, for every x
    # and its samples come from the mixture
    draws = model.sample(40_000, generator=torch.Generator().manual_seed(0))
    code = (draws * 2 ** torch.arange(4, -1, -1)).sum(-1).long()
    assert chi2_is_plausible(torch.bincount(code, minlength=32).double(), mixed.exp().detach())


def test_one_component_equals_the_plain_density():
    model, x = random_made(5, num_orders=1), all_bits(5)
    assert model.num_components == 1
    torch.testing.assert_close(model.log_prob(x), model.log_prob(x, order="raster"), atol=0, rtol=0)


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def test_averaging_conditionals_or_logits_is_no_density():
    joint = torch.tensor([0.18, 0.02, 0.08, 0.72], dtype=torch.float64)  # of 00, 01, 10, 11
    x = all_bits(2)
    forward, backward = (
        random_made(2, hidden=(1,), direct=True),
        random_made(2, hidden=(1,), direct=True, order=[1, 0]),
    )
    with torch.no_grad():
        for model in (forward, backward):
            for p in model.parameters():
                p.zero_()
        forward.out.bias.copy_(torch.tensor([logit(0.80), logit(0.02 / 0.20)], dtype=torch.float64))
        forward.skip.weight[1, 0] = logit(0.72 / 0.80) - logit(0.02 / 0.20)
        backward.out.bias.copy_(torch.tensor([logit(0.08 / 0.26), logit(0.74)], dtype=torch.float64))
        backward.skip.weight[0, 1] = logit(0.72 / 0.74) - logit(0.08 / 0.26)
    for model in (forward, backward):
        torch.testing.assert_close(model.log_prob(x).exp(), joint, atol=1e-12, rtol=0)
    logits = [model(x, model.masks()).detach() for model in (forward, backward)]

    def total(hat: torch.Tensor) -> float:
        return torch.where(x == 1, hat, 1 - hat).prod(-1).sum().item()

    assert total(sum(torch.sigmoid(l) for l in logits) / 2) == pytest.approx(1.1330561, abs=1e-7)
    assert total(torch.sigmoid(sum(logits) / 2)) == pytest.approx(1.1670597, abs=1e-7)


def test_relabelling_variables_with_their_order_changes_nothing():
    model = random_made(6, hidden=(9, 8), direct=True, order="random")
    perm = torch.tensor([3, 0, 5, 1, 4, 2])  # new variable v is old variable perm[v]
    new_order = [perm.tolist().index(j) for j in model.order.tolist()]
    other = random_made(6, hidden=(9, 8), direct=True, order=new_order)
    with torch.no_grad():
        for mine, theirs in zip(other.parameters(), model.parameters(), strict=True):
            mine.copy_(theirs)
        other.layers[0].weight.copy_(model.layers[0].weight[:, perm])
        other.out.weight.copy_(model.out.weight[perm])
        other.out.bias.copy_(model.out.bias[perm])
        other.skip.weight.copy_(model.skip.weight[perm][:, perm])
    x = all_bits(6)
    torch.testing.assert_close(other.log_prob(x[:, perm]), model.log_prob(x), atol=1e-12, rtol=0)


def test_fresh_orders_follow_the_step_and_differ():
    model = MADE(event_shape=(20,), hidden=[30], num_orders=0, num_masks=0, degrees="random")
    assert model.order_agnostic
    orders = [tuple(model.component_order(s).tolist()) for s in range(50)]
    assert len(set(orders)) == 50
    assert orders[7] == tuple(model.component_order(7).tolist())
    assert not torch.equal(model.component_degrees(1)[0], model.component_degrees(2)[0])
    pool = MADE(event_shape=(20,), hidden=[30], num_orders=3)
    assert len({tuple(pool.component_order(s).tolist()) for s in range(50)}) == 3
    assert torch.equal(MADE(event_shape=(20,)).component_order(9), torch.arange(20))


def test_training_moves_to_the_next_order_with_each_step(tmp_path):
    model = MADE(event_shape=(6,), hidden=[8], num_orders=0)
    used, masks = [], model.masks
    model.masks = lambda order=None, index=0: used.append(index) or masks(order, index)
    batches = [torch.bernoulli(torch.full((4, 6), 0.5)) for _ in range(3)]
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", default_root_dir=tmp_path, **quiet)
    trainer.fit(model, torch.utils.data.DataLoader(batches, batch_size=None))
    assert used == [0, 1, 2, 3, 4, 5]  # from the step's number alone, which a checkpoint restores


# --- Weights under masks ------------------------------------------------------------------------


def test_masked_weights_get_no_gradient_and_keep_their_value():
    model = MADE(event_shape=(6,), hidden=[9, 8], direct=True, order="random", num_orders=0)
    layers = [*model.layers, model.out, model.skip]
    before = [layer.weight.detach().clone() for layer in layers]
    first, second = model.masks(index=0), model.masks(index=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    x = torch.bernoulli(torch.full((64, 6), 0.5), generator=torch.Generator().manual_seed(0))
    (-model._log_prob(x, index=0).mean()).backward()
    for layer, mask in zip(layers, first, strict=True):
        assert (layer.weight.grad[mask == 0] == 0).all()
    optimizer.step()
    for layer, mask, old in zip(layers, first, before, strict=True):
        assert torch.equal(layer.weight[mask == 0], old[mask == 0])
    # the other order still finds what the first one hid
    hidden_by_first = (first[0] == 0) & (second[0] == 1)
    assert hidden_by_first.any() and (layers[0].weight[hidden_by_first] != 0).all()


@pytest.mark.parametrize("direct", [False, True])
def test_gradient_reaches_every_live_parameter(direct):
    torch.manual_seed(0)  # the biases too decide which units are shut
    model = MADE(event_shape=(6,), hidden=[12, 12], direct=direct).double()
    x = all_bits(6)
    total = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for seed in range(20):  # a relu may be shut for one draw of the weights
        torch.manual_seed(seed)
        for layer in model.modules():
            if isinstance(layer, MaskedLinear):
                torch.nn.init.normal_(layer.weight)
        model.zero_grad()
        weights = torch.rand(64, dtype=torch.float64)
        (model.log_prob(x) * weights).sum().backward()
        for name, p in model.named_parameters():
            total[name] += p.grad.abs()
    masks = model.masks()
    names = ["layers.0", "layers.1", "out", *(["skip"] if direct else [])]
    paths_in = [m.double() for m in masks]
    for name, mask in zip(names, masks, strict=True):
        live = mask.bool()
        # a unit of the last layer whose degree no output exceeds does not exist: m <= n - 1 < n
        assert (total[f"{name}.weight"][live] > 0).all(), name
        assert (total[f"{name}.weight"][~live] == 0).all(), name
    for name in names[:3]:
        assert (total[f"{name}.bias"] > 0).all()
    assert len(paths_in) == len(names)


@pytest.mark.parametrize(
    "arguments", [{"order": "random", "seed": 3}, {"order": [2, 0, 1, 5, 4, 3]}, {"num_orders": 0}]
)
def test_saved_and_loaded_weights_give_equal_bits(tmp_path, arguments):
    model = MADE(event_shape=(6,), hidden=[9], direct=True, **arguments)
    contracts.survives_saving(model, lambda m: m.log_prob(all_bits(6).float()), tmp_path)


# --- Sampling -----------------------------------------------------------------------------------


def frequencies(x: torch.Tensor) -> torch.Tensor:
    n = x.shape[1]
    code = (x * 2 ** torch.arange(n - 1, -1, -1)).sum(-1).long()
    return torch.bincount(code, minlength=2**n).double()


@pytest.mark.parametrize("arguments", CONFIGURATIONS[:4])
def test_samples_follow_the_density(arguments):
    model = random_made(6, **arguments)
    draws = model.sample(50_000, generator=torch.Generator().manual_seed(1))
    assert chi2_is_plausible(frequencies(draws), model.log_prob(all_bits(6)).exp().detach())


def test_imputation_is_an_exact_conditional_of_the_chosen_orders():
    model = random_made(8, hidden=(16,), direct=True, num_orders=0, ensemble=3, scale=0.8)
    given = torch.full((8,), torch.nan, dtype=torch.float64)
    given[[1, 4, 6, 7]] = torch.tensor([1.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    known = ~given.isnan()
    orders = [order for order, _ in model.joints_given(given)]
    assert len(orders) == 3 and all(set(order[:4].tolist()) == {1, 4, 6, 7} for order in orders)
    draws = model.sample(60_000, given=given, generator=torch.Generator().manual_seed(2))
    assert torch.equal(draws[:, known], given[known].expand(60_000, 4))
    x = all_bits(8)
    consistent = (x[:, known] == given[known]).all(-1)
    mixed = sum(model.log_prob(x, order=order).exp() for order in orders)
    p = torch.where(consistent, mixed, 0.0).detach()
    assert chi2_is_plausible(frequencies(draws), p / p.sum())
    # in a named order it is that one joint's
    draws = model.sample(60_000, given=given, order=orders[2], generator=torch.Generator().manual_seed(2))
    one = torch.where(consistent, model.log_prob(x, order=orders[2]).exp(), 0.0).detach()
    assert chi2_is_plausible(frequencies(draws), one / one.sum())
    assert not chi2_is_plausible(frequencies(draws), p / p.sum())


def test_clamping_a_suffix_in_raster_order_is_not_the_conditional():
    model = random_made(8, hidden=(16,), direct=True, scale=0.8)
    given = torch.full((8,), torch.nan, dtype=torch.float64)
    given[4:] = torch.tensor([1.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    with pytest.raises(ValueError, match="only what comes last"):
        model.sample(1, given=given)
    draws = model.sample(60_000, given=given, order="raster", generator=torch.Generator().manual_seed(2))
    assert (draws[:, 4:] == given[4:]).all()  # kept all the same
    x = all_bits(8)
    p = torch.where((x[:, 4:] == given[4:]).all(-1), model.log_prob(x).exp(), 0.0).detach()
    assert not chi2_is_plausible(frequencies(draws), p / p.sum())
    # a beginning is fine without naming an order
    given = given.flip(0)
    draws = model.sample(60_000, given=given, generator=torch.Generator().manual_seed(2))
    p = torch.where((x[:, :4] == given[:4]).all(-1), model.log_prob(x).exp(), 0.0).detach()
    assert chi2_is_plausible(frequencies(draws), p / p.sum())


def two_masks() -> MADE:
    """Two joints of one order that differ much in what they say of x_1 and x_2."""
    return random_made(3, hidden=(4,), degrees="random", num_masks=2, scale=2.0, seed=3)


def test_a_mixture_of_two_masks_completes_by_bayes():
    """Three variables, one given: p(joint | x_0) and p(x_1, x_2 | x_0) by enumeration of both joints.

    Masks hide nothing from x_0, which reads nothing: both joints explain it equally well.
    """
    model, x = two_masks(), all_bits(3)
    each = torch.stack([model.log_conditionals(x, index=s).sum(1) for s in range(2)]).exp().detach()
    torch.testing.assert_close(each.mean(0), model.log_prob(x).exp().detach(), rtol=0, atol=1e-12)
    for value in (0.0, 1.0):
        given = torch.tensor([value, math.nan, math.nan], dtype=torch.float64)
        fits = x[:, 0] == value
        by_hand = each[:, fits].sum(1) / each[:, fits].sum()
        posterior = model.joint_posterior(given[None], model.joints_given(given))[0]
        torch.testing.assert_close(posterior, by_hand, rtol=0, atol=1e-12)
        distribution = torch.where(fits, each.mean(0), 0.0)
        counts = frequencies(model.sample(60_000, given=given, generator=torch.Generator().manual_seed(1)))
        assert chi2_is_plausible(counts, distribution / distribution.sum())
        for one in each:  # no joint alone would do
            alone = torch.where(fits, one, 0.0)
            assert not chi2_is_plausible(counts, alone / alone.sum())
        for seed in range(6):
            trace = model.sample_trace(given=given, generator=torch.Generator().manual_seed(seed))
            drawn = model.sample(1, given=given, generator=torch.Generator().manual_seed(seed))
            assert torch.equal(trace.result["x"], drawn[0])
            # the steps are of the joint that was drawn, the end is of the mixture
            own = model.log_conditionals(drawn, index=trace.result["index"])[0]
            torch.testing.assert_close(trace.result["surprisal"], -own, rtol=0, atol=1e-12)
            assert [s.values["pixel"] for s in trace] == [-1, 1, 2, -1]
            assert trace[-2].values["log_prob"] == pytest.approx(own.sum().item(), abs=1e-12)
            assert trace[-1].values["log_prob"] == model.log_prob(drawn).item()


def test_joints_are_drawn_as_often_as_they_explain_what_is_given():
    model = two_masks()
    given = torch.tensor([[0.0, 1.0, math.nan], [1.0, 1.0, math.nan]], dtype=torch.float64).repeat(4000, 1)
    joints = model.joints_given(given)
    distribution = model.joint_posterior(given[:2], joints)
    drawn = model.draw_joints(8000, given, joints, torch.Generator().manual_seed(0)).view(-1, 2)
    for share, p in zip(drawn.double().mean(0), distribution[:, 1], strict=True):
        assert abs(share - p) < 5 * (p * (1 - p) / 4000) ** 0.5
    assert (distribution - 0.5).abs().max() > 0.05


def test_the_conditionals_of_a_mixture_are_those_of_its_density():
    model, x = two_masks(), all_bits(3)
    p = model.log_prob(x).exp().view(2, 2, 2)
    by_hand = torch.stack([p.sum((1, 2))[1] / p.sum() * torch.ones(8).double(), *(
        (part[:, 1] / part.sum(1))[x[:, :k].long() @ torch.tensor([2, 1][2 - k:])]
        for k, part in ((1, p.sum(2)), (2, p.view(4, 2)))
    )], 1)  # fmt: skip
    torch.testing.assert_close(model.conditionals(x), by_hand, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.log_conditionals(x).sum(1), model.log_prob(x), rtol=0, atol=1e-12)
    assert (model.conditionals(x, index=0) - by_hand).abs().max() > 0.05


def test_the_conditionals_of_a_mixture_stand_where_their_variables_do():
    """Visited in a circle: p(x_1), p(x_2 | x_1), p(x_0 | x_1, x_2), by enumeration."""
    order = [1, 2, 0]
    model = random_made(3, hidden=(4,), degrees="random", num_masks=2, scale=2.0, seed=3, order=order)
    x = all_bits(3)
    p = model.log_prob(x).exp().view(2, 2, 2)
    one, two, of_one = x[:, 1].long(), x[:, 2].long(), p.sum((0, 2))
    expected = torch.stack(
        [(p[1] / p.sum(0))[one, two], of_one[1].expand(8), (p.sum(0)[:, 1] / of_one)[one]], dim=1
    )
    torch.testing.assert_close(model.conditionals(x), expected, rtol=0, atol=1e-12)
    assert (model.conditionals(x, index=0) - expected).abs().max() > 0.05


def test_what_is_known_after_a_free_variable_says_nothing_of_the_joint():
    """In a named order the joint is drawn first: of what is known, only what comes before counts."""
    model = two_masks()
    known = torch.tensor([[math.nan] * 3, [math.nan, 0.0, math.nan]], dtype=torch.float64)
    first, with_later = model.joint_posterior(known, model.joints_given(known[0], "raster"))
    torch.testing.assert_close(first, with_later, rtol=0, atol=0)


def test_a_pool_of_orders_completes_with_the_orders_that_can():
    model, x = random_made(3, hidden=(8,), num_orders=6, ensemble=1, scale=1.5, seed=3), all_bits(3)
    first = [int(model.component_order(s)[0]) for s in range(6)]
    able = [s for s in range(6) if first[s] == 1]
    assert 0 < len(able) < 6 and first[0] != 1
    given = torch.tensor([math.nan, 1.0, math.nan], dtype=torch.float64)
    assert [s for _, s in model.joints_given(given)] == able
    each = torch.stack([model.log_prob(x, model.component_order(s)).exp() for s in able]).detach()
    distribution = torch.where(x[:, 1] == 1, each.mean(0), 0.0)
    counts = frequencies(model.sample(60_000, given=given, generator=torch.Generator().manual_seed(0)))
    assert chi2_is_plausible(counts, distribution / distribution.sum())
    trace = model.sample_trace(given=given, generator=torch.Generator().manual_seed(2))
    assert trace[-1].values["log_prob"] == model.log_prob(trace.result["x"][None]).item()
    # no order begins with two variables that are not next to each other in it
    pool = random_made(4, hidden=(8,), order="raster", num_orders=2)
    beginnings = [set(pool.component_order(s)[:2].tolist()) for s in range(2)]
    pair = next({a, b} for a in range(4) for b in range(a) if {a, b} not in beginnings)
    given = torch.full((4,), math.nan, dtype=torch.float64)
    given[list(pair)] = 1.0
    with pytest.raises(ValueError, match="only what comes last"):
        pool.sample(1, given=given)
    # what comes before a variable differs between the joints: their conditionals are not one thing
    with pytest.raises(ValueError, match="different orders"):
        pool.conditionals(all_bits(4))
    order = pool.component_order(1)
    assert torch.equal(pool.conditionals(all_bits(4), index=1), pool.conditionals(all_bits(4), order))


def test_a_named_order_still_mixes_the_masks():
    model, x = two_masks(), all_bits(3)
    torch.testing.assert_close(model.log_prob(x, "raster"), model.log_prob(x), rtol=0, atol=1e-12)
    counts = frequencies(model.sample(60_000, order="raster", generator=torch.Generator().manual_seed(0)))
    assert chi2_is_plausible(counts, model.log_prob(x).exp().detach())


def test_given_examples_may_differ_but_not_in_where_they_are_free():
    model = random_made(4, hidden=(6,))
    nan = math.nan
    given = torch.tensor([[0.0, 1, nan, nan], [1.0, 1, nan, nan]], dtype=torch.float64)
    assert torch.equal(model.sample(2, given=given)[:, :2], given[:, :2])
    with pytest.raises(ValueError, match="same in every"):
        model.sample(2, given=torch.tensor([[0.0, nan, nan, nan], [1.0, 1, nan, nan]]))
    with pytest.raises(ValueError, match="0, 1, or NaN"):
        model.sample(1, given=torch.tensor([0.5, nan, nan, nan]))


def test_observed_first_keeps_both_parts_in_order():
    order = torch.tensor([4, 2, 0, 1, 3])
    observed = torch.tensor([True, False, False, True, True])
    assert observed_first(observed, order).tolist() == [4, 0, 3, 2, 1]


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_temperature_sharpens_conditionals_not_the_joint(temperature):
    model, x = random_made(3, hidden=(6,), direct=True, seed=1), all_bits(3)
    sharpened = torch.sigmoid(model(x, model.masks()) / temperature).detach()
    distribution = torch.where(x == 1, sharpened, 1 - sharpened).prod(-1)
    assert distribution.sum().item() == pytest.approx(1, abs=1e-12)
    draws = model.sample(60_000, temperature=temperature, generator=torch.Generator().manual_seed(0))
    assert chi2_is_plausible(frequencies(draws), distribution)
    powered = (model.log_prob(x) / temperature).softmax(0).detach()
    assert (distribution - powered).abs().max() > 0.01
    assert not chi2_is_plausible(frequencies(draws), powered)


def test_temperature_zero_is_greedy_and_one_is_the_model():
    model = random_made(6, hidden=(9,), direct=True)
    greedy = model.sample(5, temperature=0)
    assert torch.equal(greedy, greedy[:1].expand(5, 6))
    assert torch.equal(greedy[0], (model.conditionals(greedy[:1])[0] > 0.5).double())
    g = torch.Generator
    assert torch.equal(
        model.sample(9, generator=g().manual_seed(4)), model.sample(9, generator=g().manual_seed(4))
    )


def test_trace_runs_with_the_model_and_replays_to_the_same_bits():
    model = random_made(6, hidden=(9,), direct=True, order="random")
    trace = model.sample_trace(generator=torch.Generator().manual_seed(5))
    x = trace.result["x"]
    assert len(trace) == 6
    assert [s.values["pixel"] for s in trace] == model.order.tolist()
    assert trace[-1].values["log_prob"] == pytest.approx(model.log_prob(x[None]).item(), abs=1e-10)
    hat = model.conditionals(x[None])[0]
    for step in trace:
        assert step.values["model_p"] == pytest.approx(hat[step.values["pixel"]].item(), abs=1e-10)
        assert step.values["bit"] == x[step.values["pixel"]]
    assert int(trace[2].values["x"].isnan().sum()) == 3
    contracts.trace_replays(lambda seed: model.sample_trace(generator=torch.Generator().manual_seed(seed)))
    assert trace.digest() != model.sample_trace(generator=torch.Generator().manual_seed(6)).digest()
    assert torch.equal(x, model.sample(1, generator=torch.Generator().manual_seed(5))[0])


def test_trace_of_a_completion_starts_from_what_is_given():
    model = random_made(6, hidden=(9,), direct=True)
    given = torch.tensor([1.0, 0, 1, math.nan, math.nan, math.nan], dtype=torch.float64)
    trace = model.sample_trace(given=given, temperature=0.5, generator=torch.Generator().manual_seed(1))
    assert len(trace) == 4 and trace[0].values["pixel"] == -1
    p = model.log_prob(all_bits(6)).exp()
    prefix = p[(all_bits(6)[:, :3] == given[:3]).all(-1)].sum().log()
    assert trace[0].values["log_prob"] == pytest.approx(prefix.item(), abs=1e-10)
    step = trace[1].values
    assert step["p"] == pytest.approx(1 / (1 + ((1 - step["model_p"]) / step["model_p"]) ** 2), abs=1e-10)


# --- Learning -----------------------------------------------------------------------------------


def test_loss_at_zero_logits_is_one_bit_a_pixel():
    model = MADE(event_shape=(784,), hidden=[16], direct=True)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    x = torch.bernoulli(torch.full((4, 784), 0.3))
    assert model.step((x, None), "val").item() == pytest.approx(543.4274, abs=1e-3)
    torch.manual_seed(0)
    fresh = MADE(event_shape=(784,), hidden=[500], direct=True)
    assert fresh.step((x, None), "val").item() == pytest.approx(543.4274, rel=0.02)


def fit(model: MADE, loss) -> float:
    optimizer = torch.optim.LBFGS(
        model.parameters(),
        max_iter=600,
        history_size=30,
        line_search_fn="strong_wolfe",
        tolerance_change=1e-14,
        tolerance_grad=1e-10,
    )

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    optimizer.step(closure)
    return loss().item()


def test_enough_units_reach_the_entropy_of_any_joint_of_three_bits():
    joint = torch.rand(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.05
    joint /= joint.sum()
    entropy = -(joint * joint.log()).sum().item()
    torch.manual_seed(1)
    model, x = MADE(event_shape=(3,), hidden=[32]).double(), all_bits(3)
    reached = fit(model, lambda: -(joint * model.log_prob(x)).sum())
    assert entropy - 1e-10 <= reached <= entropy + 1e-4


@pytest.mark.parametrize("count", [1, 8])
def test_overfitting_approaches_the_density_floor_from_above(count):
    torch.manual_seed(0)
    x = (torch.rand(count, 16) > 0.5).double()
    model = MADE(event_shape=(16,), hidden=[64], direct=True).double()
    floor = math.log(count)
    reached = contracts.overfits_one_batch(model, (x, None), below=floor + 0.03, floor=floor, lr=3e-2)
    contracts.floor_is_kept(reached, count)


def test_fresh_order_training_makes_any_order_usable():
    """On x = (b, b, b, b): trained on fresh orders, an order never seen is as good as any other."""
    torch.manual_seed(0)
    data = torch.tensor([[0.0] * 4, [1.0] * 4])
    agnostic = MADE(event_shape=(4,), hidden=[32], direct=True, num_orders=0)
    optimizer = torch.optim.Adam(agnostic.parameters(), lr=0.02)
    for index in range(400):
        optimizer.zero_grad()
        (-agnostic._log_prob(data, index=index).mean()).backward()
        optimizer.step()
    for order in itertools.permutations(range(4)):
        nll = -agnostic.log_prob(data, order=order).mean().item()
        assert math.log(2) <= nll < math.log(2) + 0.05


# --- Bad input ----------------------------------------------------------------------------------


def test_bad_input_is_named():
    model = MADE(event_shape=(4,), hidden=[3])
    with pytest.raises(ValueError, match="binarize"):
        model.log_prob(torch.full((2, 4), 0.5))
    with pytest.raises(ValueError, match="entries"):
        model.log_prob(torch.zeros(2, 5))
    with pytest.raises(ValueError, match="permutation"):
        model.log_prob(torch.zeros(2, 4), order=[0, 1, 1, 2])
    with pytest.raises(ValueError, match="unknown"):
        MADE(event_shape=(4,), order="spiral")
    with pytest.raises(ValueError, match="degrees"):
        MADE(event_shape=(4,), num_masks=3)
    with pytest.raises(ValueError, match="hidden"):
        MADE(event_shape=(4,), hidden=[])
    for degrees, text in (([[1, 2]], "each unit"), ([[1, 2, 4]], "below 4"), ([[0, 1, 2]], "at least 1")):
        with pytest.raises(ValueError, match=text):
            MADE(event_shape=(4,), hidden=[3], degrees=degrees)
    with pytest.raises(ValueError, match="temperature"):
        model.sample(1, temperature=-1.0)


def test_a_double_sigmoid_could_not_have_hidden_here():
    """Overfitted logits must be able to leave [0, 1], where a second sigmoid would trap them."""
    torch.manual_seed(0)
    x = torch.tensor([[1.0, 0.0, 1.0, 0.0]]).double()
    model = MADE(event_shape=(4,), hidden=[8]).double()
    fit(model, lambda: -model.log_prob(x).mean())
    logits = model(x, model.masks())
    assert logits.max() > 3 and logits.min() < -3
    expected = F.logsigmoid(torch.where(x == 1, logits, -logits)).sum()
    torch.testing.assert_close(model.log_prob(x)[0], expected, atol=1e-12, rtol=0)


def test_another_seed_gives_other_orders_and_other_masks() -> None:
    """torch's CPU generator reads 32 bits of a seed: numbers above them must not be where the seed is."""
    one, two = (MADE(event_shape=(64,), hidden=[32], degrees="random", num_orders=0, seed=s) for s in (0, 1))
    assert not torch.equal(one.component_order(0), two.component_order(0))
    assert not torch.equal(one.component_degrees(0)[0], two.component_degrees(0)[0])
    assert not torch.equal(one.component_order(0), one.component_order(1))


# --- What is drawn is stored ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["made-digits-orders", "made-masks-mnist", "made-onemask-mnist"])
def test_weights_that_ship_bring_their_orders_and_degrees(name, monkeypatch):
    """However numbers will be drawn one day, on whatever Python: what a card says was measured stays."""
    model = weights.load(name)
    x = (torch.rand(20, model.n, generator=torch.Generator().manual_seed(0)) < 0.2).float()
    expected = model.log_prob(x)
    monkeypatch.setattr(MADE, "_generator", lambda *_: torch.Generator().manual_seed(7))
    assert torch.equal(weights.load(name).log_prob(x), expected)


def test_draws_follow_from_the_seed_alone():
    """Numbers that no Python and no machine may change."""
    drawn = MADE(
        event_shape=(6,), hidden=[4], degrees="random", num_orders=2, num_masks=0, ensemble=3, seed=5
    )
    assert drawn.drawn_orders.tolist() == [[3, 2, 1, 0, 5, 4], [0, 2, 4, 1, 3, 5]]
    assert drawn.drawn_degrees.tolist() == [[3, 5, 2, 3], [5, 2, 1, 1], [5, 1, 2, 4]]
    # beyond what is stored, order-agnostic training draws on, another one for every step
    fresh = MADE(event_shape=(6,), hidden=[4], num_orders=0, ensemble=1, seed=5)
    assert torch.equal(fresh.component_order(1), drawn.component_order(1))
    assert len({tuple(fresh.component_order(s).tolist()) for s in range(20)}) > 15


@pytest.mark.parametrize("arguments", [{"degrees": "random"}, {"num_orders": 2}, {"num_orders": 0}])
def test_weights_loaded_into_a_used_model_bring_their_masks_along(arguments):
    """Masks are kept by what they are made of, not by the index of the draw; a layer's own are made anew."""
    one, two = (MADE(event_shape=(5,), hidden=[8], direct=True, seed=s, **arguments) for s in (0, 1))
    x = all_bits(5).float()
    one.log_prob(x)
    one.load_state_dict(two.state_dict())
    assert torch.equal(one.log_prob(x), two.log_prob(x))
    for mine, other in zip(one.masked_layers, two.masked_layers, strict=True):
        assert torch.equal(mine.mask, other.mask)


def test_a_masked_layer_carries_its_mask():
    """It goes along to another precision, prints itself, and is no part of the stored weights."""
    mask = torch.tensor([[1, 0, 0], [1, 1, 0]])
    layer = MaskedLinear(3, 2, mask).double()
    assert list(layer.state_dict()) == ["weight", "bias"] and layer.mask.dtype == torch.float64
    x = torch.eye(3).double()
    assert torch.equal(layer(x), F.linear(x, layer.weight * mask, layer.bias))
    assert torch.equal(layer(x, 1 - mask), F.linear(x, layer.weight * (1 - mask), layer.bias))
    assert "connections=3 of 6" in str(layer)
    with pytest.raises(ValueError, match=r"\[3, 2\]"):
        MaskedLinear(3, 2, mask.t())


def test_without_masks_a_pass_takes_those_of_its_layers():
    model = MADE(event_shape=(5,), hidden=[8, 7], degrees="random", num_masks=3, direct=True)
    x = all_bits(5).float()
    assert torch.equal(model(x), model.logits(x, index=0))
    assert not torch.equal(model(x), model.logits(x, index=1))


def test_what_is_stored_must_be_an_order():
    model = MADE(event_shape=(5,), hidden=[8], num_orders=2)
    model.drawn_orders[1, 0] = model.drawn_orders[1, 1]
    with pytest.raises(ValueError, match="permutation"):
        model.log_prob(torch.zeros(1, 5))


def test_what_the_only_mask_hides_is_zero_and_stays_zero():
    """It packs to nothing; what one of many masks or orders hides is another's, and drawn."""
    x = torch.randint(2, (8, 6), generator=torch.Generator().manual_seed(0)).float()
    one = MADE(event_shape=(6,), hidden=[7, 7], direct=True, degrees="random", order="reversed")
    optimizer = torch.optim.Adam(one.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        one.step(x, "train").backward()
        optimizer.step()
    for layer, mask in zip([*one.layers, one.out, one.skip], one.masks(), strict=True):
        assert not layer.weight[mask == 0].any() and layer.weight[mask == 1].all()
    many = MADE(event_shape=(6,), hidden=[7, 7], degrees="random", num_masks=3)
    assert all(layer.weight.all() for layer in [*many.layers, many.out])
