"""PixelCNN and Gated PixelCNN: masks, blind spot, counts, one pass against pixel by pixel."""

import math
from typing import Any

import contracts
import pytest
import torch
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.pixelcnn import MaskedConv2d, PixelCNN, PixelModel, causal_mask
from modules.base import SPLITS

SMALL: dict[str, Any] = {"channels": 6, "layers": 2, "first_kernel": 3}
MODELS: dict[str, tuple[type[PixelModel], dict[str, Any]]] = {
    "plain": (PixelCNN, {"image_shape": (1, 3, 3), **SMALL}),
    "bottleneck, places": (PixelCNN, {"image_shape": (1, 2, 3), "bottleneck": 4, "positions": True, **SMALL}),
    "three values": (PixelCNN, {"image_shape": (1, 2, 3), "num_categories": 3, **SMALL}),
    "colours": (PixelCNN, {"image_shape": (3, 2, 2), "bottleneck": 3, **SMALL}),
    "three colours, three values": (PixelCNN, {"image_shape": (3, 1, 2), "num_categories": 3, **SMALL}),
    "gated": (GatedPixelCNN, {"image_shape": (1, 3, 3), **SMALL}),
    "gated, three values": (GatedPixelCNN, {"image_shape": (1, 3, 2), "num_categories": 3, **SMALL}),
    "gated, colours": (GatedPixelCNN, {"image_shape": (3, 2, 2), **SMALL}),
    "gated, classes": (
        GatedPixelCNN,
        {"image_shape": (1, 2, 3), "conditional": True, "num_classes": 3, **SMALL},
    ),
}
every_model = pytest.mark.parametrize("name", MODELS)


def make(name: str) -> PixelModel:
    cls, arguments = MODELS[name]
    return contracts.exact(cls(**arguments))


def some(model: PixelModel, count: int = 4, seed: int = 0) -> Tensor:
    generator = contracts.seeded(seed)
    return torch.randint(0, model.num_categories, (count, model.n), generator=generator).double()


# --- Masks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "a", "b"), [(3, 4, 5), (5, 12, 13), (7, 24, 25)])
def test_ones_in_a_mask(kernel: int, a: int, b: int) -> None:
    centre = (kernel // 2, kernel // 2)
    for kind, ones in (("A", a), ("B", b)):
        mask = causal_mask(1, 1, (kernel, kernel), centre, kind)  # type: ignore[arg-type]
        assert mask.sum() == ones
        assert mask.flatten()[:a].all() and not mask.flatten()[a + 1 :].any()
        assert mask[0, 0, centre[0], centre[1]] == (kind == "B")


def test_colours_read_earlier_colours_of_their_pixel() -> None:
    centre = {kind: causal_mask(3, 3, (3, 3), (1, 1), kind, 3)[:, :, 1, 1] for kind in ("A", "B")}  # type: ignore[arg-type]
    assert centre["A"].tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]  # rows R, G, B read columns R, G, B
    assert centre["B"].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    wide = causal_mask(6, 12, (1, 1), (0, 0), "B", 3)[:, :, 0, 0]
    assert wide.sum(1).tolist() == [4, 4, 8, 8, 12, 12]


def test_masked_weights_get_no_gradient_and_keep_their_value() -> None:
    model = contracts.exact(PixelCNN(image_shape=(1, 4, 4), **SMALL)).train()
    layers = [m for m in model.modules() if isinstance(m, MaskedConv2d)]
    before = [layer.weight.detach().clone() for layer in layers]
    model.step((some(model, 16),), "train").backward()
    torch.optim.Adam(model.parameters(), lr=0.1).step()
    hidden = 0
    for layer, old in zip(layers, before, strict=True):
        masked = layer.mask == 0
        hidden += int(masked.sum())
        assert not layer.weight.grad[masked].any()
        assert torch.equal(layer.weight[masked], old[masked])
        assert not torch.equal(layer.weight[~masked], old[~masked])
    assert hidden == 6 * 5 + 2 * 36 * 4


# --- A density ----------------------------------------------------------------------------------


@every_model
def test_sums_to_one(name: str) -> None:
    model = make(name)
    contracts.density_sums_to_one(model.log_prob, (model.n,), num_categories=model.num_categories)


def test_mask_b_first_is_no_density() -> None:
    model = contracts.exact(PixelCNN(image_shape=(1, 3, 3), first_mask="B", **SMALL))
    total = model.log_prob(contracts.configurations((9,)).double()).exp().sum().item()
    assert abs(total - 1) > 0.01


@every_model
def test_logits_have_no_gradient_to_their_own_and_later_pixels(name: str) -> None:
    model = make(name)
    rank = torch.empty(model.n, dtype=torch.int64)
    rank[model.order] = torch.arange(model.n)
    outputs = 1 if model.num_categories == 2 else model.num_categories
    allowed = (rank[:, None] > rank[None, :]).repeat_interleave(outputs, 0)
    contracts.jacobian_is_sparse(lambda x: model.logits(x[None])[0], some(model, 1)[0], allowed)


def test_gated_colours_read_all_that_comes_before() -> None:
    model = contracts.exact(GatedPixelCNN(image_shape=(3, 3, 3), channels=6, layers=4, first_kernel=3))
    rank = torch.empty(model.n, dtype=torch.int64)
    rank[model.order] = torch.arange(model.n)
    for parameter in model.parameters():  # positive and small: nothing cancels, no unit dies or saturates
        parameter.data.abs_().mul_(0.2)
    allowed = rank[:, None] > rank[None, :]
    contracts.jacobian_is_sparse(lambda x: model.logits(x[None])[0], some(model, 1)[0], allowed, reached=True)


@every_model
def test_one_pass_gives_the_conditionals_of_pixel_by_pixel(name: str) -> None:
    model = make(name)

    def conditionals(x: Tensor) -> Tensor:
        return model.conditionals(x).reshape(len(x), model.n, -1)

    contracts.one_pass_equals_sequential(conditionals, some(model), model.order.tolist())


@every_model
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_kept_activations_give_what_full_passes_give(name: str, share: float) -> None:
    """From nothing, and from a beginning that ends in the middle of a row or of a pixel."""
    model = make(name)
    known = some(model, seed=1)
    start = int(share * model.n)
    known[:, model.order[start:]] = math.nan
    given = known if start else None
    for index in {0, model.num_components - 1}:
        generator = contracts.seeded(2)
        x, logits = model._draw(4, given, model.order, index, 1.0, generator)
        torch.testing.assert_close(logits, model.logits(x, index=index), rtol=0, atol=1e-12)
        assert torch.equal(x[:, model.order[:start]], known[:, model.order[:start]])


@pytest.mark.parametrize("name", ["plain", "colours", "gated", "gated, classes"])
def test_samples_follow_the_density(name: str) -> None:
    model = make(name)
    samples = model.sample(20_000, generator=contracts.seeded(0)).flatten(1)
    contracts.samples_follow_the_density(samples, model.log_prob)


def test_completion_is_exact_and_keeps_what_is_given() -> None:
    model = make("plain")
    given = torch.tensor([1.0, 0, 1, 1, 0, *[math.nan] * 4], dtype=torch.float64)
    samples = model.sample(20_000, given=given, generator=contracts.seeded(0)).flatten(1)
    assert torch.equal(samples[:, :5], given[:5].expand(len(samples), 5))

    def rest(x: Tensor) -> Tensor:
        whole = model.log_prob(torch.cat([given[:5].expand(len(x), 5), x], 1))
        return whole - every.logsumexp(0)

    ends = contracts.configurations((4,)).double()
    every = model.log_prob(torch.cat([given[:5].expand(16, 5), ends], 1))
    contracts.samples_follow_the_density(samples[:, 5:], rest)
    with pytest.raises(ValueError, match="beginning"):
        model.sample(1, given=given.flip(0))


def test_temperature_zero_is_greedy() -> None:
    model = make("gated")
    greedy = model.sample(3, temperature=0)
    assert torch.equal(greedy, greedy[:1].expand_as(greedy))
    assert torch.equal(greedy[0], (model.conditionals(greedy[:1])[0] > 0.5).double())


# --- Classes ------------------------------------------------------------------------------------


def test_without_a_class_the_density_is_the_mixture_of_all() -> None:
    model = make("gated, classes")
    x = some(model, 5)
    each = torch.stack([model.log_prob(x, y=y) for y in range(3)])
    assert (each[0] - each[1]).abs().min() > 1e-3  # a class that changes nothing would pass below
    torch.testing.assert_close(model.log_prob(x), each.logsumexp(0) - math.log(3), rtol=0, atol=1e-12)
    mixed = model.log_prob(x, y=torch.tensor([0, 1, 2, 0, 1]))
    torch.testing.assert_close(mixed, each[[0, 1, 2, 0, 1], torch.arange(5)], rtol=0, atol=1e-12)
    contracts.density_sums_to_one(lambda v: model.log_prob(v, y=1), (6,))


def test_samples_of_a_class_follow_its_density() -> None:
    model = make("gated, classes")
    samples = model.sample(20_000, y=2, generator=contracts.seeded(0)).flatten(1)
    contracts.samples_follow_the_density(samples, lambda x: model.log_prob(x, y=2))


def test_completion_without_a_class_draws_it_from_what_is_given() -> None:
    model = make("gated, classes")
    given = torch.tensor([1.0, 0, 1, *[math.nan] * 3], dtype=torch.float64)
    ends = contracts.configurations((3,)).double()
    every = model.log_prob(torch.cat([given[:3].expand(8, 3), ends], 1))
    by_class = torch.stack(
        [model.log_prob(torch.cat([given[:3].expand(8, 3), ends], 1), y=y).logsumexp(0) for y in range(3)]
    )
    torch.testing.assert_close(model.class_posterior(given[None])[0], by_class.softmax(0), rtol=0, atol=1e-12)
    samples = model.sample(20_000, given=given, generator=contracts.seeded(0)).flatten(1)
    contracts.samples_follow_the_density(
        samples[:, 3:],
        lambda x: model.log_prob(torch.cat([given[:3].expand(len(x), 3), x], 1)) - every.logsumexp(0),
    )


def test_a_trace_draws_any_class() -> None:
    """Its numbers are those of the class; without one it is drawn first, evenly or from what is given."""
    model = make("gated, classes")
    for y in range(3):
        trace = contracts.trace_replays(
            lambda seed, y=y: model.sample_trace(generator=contracts.seeded(seed), y=y)
        )
        assert trace.result["y"] == y
        x = trace.result["x"][None]
        assert trace[-1].values["log_prob"] == pytest.approx(model.log_prob(x, y=y).item(), abs=1e-12)
        surprisal = -model.conditional_log_prob(model.logits(x.flatten(1), index=y), x.flatten(1))
        torch.testing.assert_close(trace.result["surprisal"].flatten(), surprisal[0], rtol=0, atol=1e-12)
    drawn = torch.tensor(
        [model.sample_trace(generator=contracts.seeded(seed)).result["y"] for seed in range(100)]
    )
    assert ((drawn.bincount(minlength=3) / 100 - 1 / 3).abs() < 4 * (2 / 9 / 100) ** 0.5).all()
    given = torch.tensor([1.0, 0, 1, *[math.nan] * 3], dtype=torch.float64)
    distribution = model.class_posterior(given[None])[0]
    drawn = torch.tensor(
        [model.sample_trace(given=given, generator=contracts.seeded(seed)).result["y"] for seed in range(100)]
    )
    off = (drawn.bincount(minlength=3) / 100 - distribution).abs()
    assert (off < 4 * (distribution * (1 - distribution) / 100) ** 0.5).all()
    assert torch.equal(
        model.sample_trace(given=given, generator=contracts.seeded(3)).result["x"].flatten()[:3],
        given[:3],
    )
    with pytest.raises(ValueError, match="0 to 2"):
        model.sample_trace(y=3)
    with pytest.raises(ValueError, match="no classes"):
        make("gated").sample_trace(y=0)  # type: ignore[call-arg]


def test_the_test_split_reports_the_mixture_and_the_class() -> None:
    model = make("gated, classes")
    batch = (some(model, 6), torch.tensor([0, 1, 2, 0, 1, 2]))
    loss = model.step(batch, "test")
    assert loss.item() == pytest.approx(-model.log_prob(*batch[:1], y=batch[1]).mean().item())
    assert model.meters["test_nll"].compute().item() == pytest.approx(-model.log_prob(batch[0]).mean().item())
    assert model.meters["test_nll_given_class"].compute().item() == pytest.approx(loss.item())


def test_one_name_has_one_meaning_in_every_split() -> None:
    """`nll` is of the mixture wherever there is one: what is given the class is never called that."""
    model = make("gated, classes")
    batch = (some(model, 6), torch.tensor([0, 1, 2, 0, 1, 2]))
    for split in SPLITS:
        model.step(batch, split)
        mixed = [f"{split}/nll"] if split == "test" else []
        assert model.metric_names(split) == [*mixed, f"{split}/nll_given_class"]
        assert int(model.meters[f"{split}_nll"].count) == 6 * (split == "test")
        assert int(model.meters[f"{split}_nll_given_class"].count) == 6
    assert make("gated").metric_names("val") == ["val/nll"]
    for name in ("gatedpixelcnn-digits", "gatedpixelcnn-mnist"):  # and on their cards
        card = weights.read_card(ZOO / name)
        assert set(card["metrics"]) == {"val/nll_given_class", "test/nll", "test/nll_given_class"}
        assert card["best"]["monitor"] == card["config"]["monitor"] == "val/nll_given_class"
        # measured again later, on another machine
        assert card["best"]["value"] == pytest.approx(card["metrics"]["val/nll_given_class"], rel=1e-4)


# --- Counts, initial loss, floor -----------------------------------------------------------------


def test_parameters_and_multiply_adds() -> None:
    model = PixelCNN(image_shape=(1, 28, 28), channels=32, layers=5, kernel=3, first_kernel=7)
    layers = [m for m in model.modules() if isinstance(m, MaskedConv2d)]
    assert model.num_parameters == 48_929
    assert 784 * sum(layer.weight.numel() for layer in layers) == 38_183_936
    assert 784 * sum(int(layer.mask.sum()) for layer in layers) == 21_500_416


def test_parameters_of_a_gated_layer() -> None:
    model = GatedPixelCNN(image_shape=(1, 28, 28), channels=64, layers=1, kernel=3)
    assert sum(p.numel() for p in model.layers[1].parameters()) == 86_464


@every_model
def test_starts_near_the_uniform_distribution(name: str) -> None:
    torch.manual_seed(0)
    cls, arguments = MODELS[name]
    model = cls(**arguments)
    batch = (some(model, 200).float(), torch.arange(200) % 3)
    contracts.loss_at_start(model, batch, model.n * math.log(model.num_categories), tolerance=0.1)


def test_zero_logits_are_one_bit_or_eight_bits_a_pixel() -> None:
    for values, nats in ((2, 543.4274), (256, 4347.419)):
        model = PixelCNN(num_categories=values, channels=1, layers=0)
        torch.nn.init.zeros_(model.head[-1].weight)
        torch.nn.init.zeros_(model.head[-1].bias)
        x = torch.randint(0, values, (2, 784)).float()
        assert -model.log_prob(x).mean().item() == pytest.approx(nats, abs=1e-3)
        assert nats / (784 * math.log(2)) == pytest.approx(math.log2(values), abs=1e-6)


@pytest.mark.parametrize(("cls", "extra"), [(PixelCNN, {"positions": True}), (GatedPixelCNN, {})])
def test_overfitting_stops_at_the_floor(cls: type[PixelModel], extra: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model = cls(image_shape=(1, 4, 4), channels=16, layers=2, **extra).double()
    contracts.overfits_one_batch(model, (some(model, 8),), math.log(8) + 0.1, floor=math.log(8))


def test_mask_b_first_breaks_the_floor() -> None:
    torch.manual_seed(0)
    model = PixelCNN(image_shape=(1, 4, 4), first_mask="B", **SMALL).double()
    with pytest.raises(AssertionError, match="leak"):
        contracts.overfits_one_batch(model, (some(model, 8),), 9.0, floor=math.log(8), steps=200)


@pytest.mark.parametrize("name", ["bottleneck, places", "colours", "gated, classes"])
def test_every_parameter_learns(name: str) -> None:
    model = make(name).train()
    batch = (some(model, 32), torch.arange(32) % 3)
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))


def test_a_class_moves_either_stack_by_numbers_of_its_own() -> None:
    model = make("gated, classes").train()
    model.step((some(model, 32), torch.arange(32) % 3), "train").backward()
    for layer in model.stack:
        down, across = layer.classes.weight.grad.chunk(2, dim=1)
        assert across.all() and (down.all() or layer is model.stack[-1])  # the last column is not read


# --- The blind spot ------------------------------------------------------------------------------


def unseen(model: PixelModel, pixel: int) -> Tensor:
    """Which of the earlier pixels have gradient 0, (earlier,) bool, with all weights equal to one another."""
    model = model.double()
    for module in model.modules():
        if isinstance(module, MaskedConv2d):
            # positive, so nothing cancels; small, so that no gate saturates
            torch.nn.init.constant_(module.weight, 1 / module.weight[0].numel())
            torch.nn.init.zeros_(module.bias)
    x = torch.full((1, model.n), 0.5, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(model.logits(x)[0, pixel], x)
    assert not gradient[0, pixel:].any()
    return gradient[0, :pixel] == 0


@pytest.mark.parametrize(
    ("first_kernel", "kernel", "layers", "missed"),
    [(3, 3, 30, 78), (7, 3, 30, 55), (5, 5, 15, 36), (7, 7, 10, 22)],
)
def test_blind_spot_of_square_masks(first_kernel: int, kernel: int, layers: int, missed: int) -> None:
    sizes = {"first_kernel": first_kernel, "kernel": kernel, "layers": layers, "channels": 1}
    blind = unseen(PixelCNN(**sizes), 14 * 28 + 14)
    assert len(blind) == 406 and int(blind.sum()) == missed
    assert int(unseen(PixelCNN(**(sizes | {"layers": layers + 3})), 14 * 28 + 14).sum()) == missed


@pytest.mark.parametrize(("first_kernel", "extra"), [(3, 0), (7, 2)])
def test_reach_to_the_right_grows_by_one_a_row(first_kernel: int, extra: int) -> None:
    model = PixelCNN(first_kernel=first_kernel, kernel=3, layers=20, channels=1)
    blind = unseen(model, 14 * 28 + 8)
    for up in range(1, 12):
        row = blind[(14 - up) * 28 :][:28]
        assert int((~row).nonzero().max()) == 8 + up + extra


@pytest.mark.parametrize(("first_kernel", "kernel", "layers"), [(3, 3, 13), (7, 7, 5)])
def test_the_gated_model_has_none(first_kernel: int, kernel: int, layers: int) -> None:
    model = GatedPixelCNN(first_kernel=first_kernel, kernel=kernel, layers=layers, channels=1)
    assert int(unseen(model, 14 * 28 + 14).sum()) == 0


# --- Bad input -----------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    model = PixelCNN(image_shape=(1, 3, 3), **SMALL)
    for arguments, what in [
        ({"image_shape": (3, 3)}, "colours, height"),
        ({"kernel": 4}, "odd"),
        ({"image_shape": (3, 2, 2), "channels": 4}, "multiples"),
        ({"layers": -1}, "at least 0"),
    ]:
        with pytest.raises(ValueError, match=what):
            PixelCNN(**arguments)
    with pytest.raises(ValueError, match="raster"):
        model.log_prob(torch.zeros(1, 9), order="reversed")
    with pytest.raises(ValueError, match="binarize"):
        model.log_prob(torch.full((1, 9), 0.5))
    with pytest.raises(ValueError, match="no classes"):
        GatedPixelCNN(image_shape=(1, 3, 3), **SMALL).log_prob(torch.zeros(1, 9), y=0)
    with pytest.raises(ValueError, match="0 to 9"):
        GatedPixelCNN(image_shape=(1, 3, 3), conditional=True, **SMALL).log_prob(torch.zeros(1, 9), y=10)


@pytest.mark.parametrize("name", ["pixelcnn-digits", "gatedpixelcnn-digits"])
def test_shipped_models_sample_what_they_score(name: str) -> None:
    """On trained weights in float32, kept activations against one pass."""
    from lab import weights

    model = weights.load(name)
    x, logits = model._draw(4, None, model.order, 0, 1.0, contracts.seeded(0))  # type: ignore[attr-defined]
    torch.testing.assert_close(logits, model.logits(x), rtol=0, atol=1e-3)  # type: ignore[attr-defined, operator]


def test_what_a_mask_hides_is_zero_from_the_start():
    model = PixelCNN((1, 4, 4), channels=4, layers=1, first_kernel=3)
    layers = [module for module in model.modules() if isinstance(module, MaskedConv2d)]
    assert layers and all(torch.equal(layer.weight, layer.weight * layer.mask) for layer in layers)
    assert any((layer.mask == 0).any() for layer in layers)
