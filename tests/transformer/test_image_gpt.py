"""ImageGPT: a density over palette indices, its empirical first pixel, completion, palettes, labels."""

import math

import contracts
import pytest
import torch
import torch.nn.functional as F

from modules.autoregressive.base import Autoregressive
from modules.transformer.gpt import GPT
from modules.transformer.image_gpt import ImageGPT, ImageGPTClassifier, colours, nearest, nine_bits


def tiny(cls=ImageGPT, **kwargs):
    sizes = {"image_shape": (1, 2, 2), "num_categories": 3, "layers": 2, "heads": 2, "width": 8}
    model = contracts.exact(cls(**(sizes | kwargs)))
    model.counts += torch.tensor([3, 0, 5, 1][: model.num_categories])
    return model


@pytest.mark.parametrize("values", [2, 3])
def test_pictures_sum_to_one_and_sampling_follows(values):
    model = tiny(num_categories=values)
    contracts.density_sums_to_one(model.log_prob, (4,), values)  # 81 pictures of three levels
    samples = model.sample(20_000, generator=contracts.seeded())
    contracts.samples_follow_the_density(samples.flatten(1), model.log_prob, values)
    contracts.one_pass_equals_sequential(model.logits, samples.flatten(1)[:8], range(4))
    contracts.trace_replays(lambda seed: model.sample_trace(generator=contracts.seeded(seed)))


@torch.no_grad()
def test_pixels_are_tokens_of_a_gpt_shifted_by_one():
    model = tiny(image_shape=(1, 3, 4), num_categories=4)
    gpt = contracts.exact(GPT(4, 12, 2, 2, 8, bias=True, tied=False))
    gpt.embedding.load_state_dict(model.embedding.state_dict())
    gpt.stack.load_state_dict(model.stack.state_dict())
    gpt.head.weight.copy_(model.head.weight)
    x = torch.randint(4, (5, 12), generator=contracts.seeded()).double()
    torch.testing.assert_close(model.logits(x)[:, 1:], gpt(x.long())[:, :-1] + model.head.bias)
    assert torch.equal(model.log_prob(x), model.log_prob(x.view(5, 1, 3, 4)))


def test_the_first_pixel_has_its_empirical_distribution():
    x = torch.tensor([[0, 1, 2, 1], [2, 0, 0, 0], [2, 1, 1, 0], [2, 2, 0, 1]]).float().view(4, 1, 2, 2)
    model = ImageGPT((1, 2, 2), 3, 1, 2, 8)
    assert model.conditionals(x)[0, 0, 0, 0].tolist() == pytest.approx([1 / 3] * 3)
    contracts.fitted(model, (x, torch.zeros(4).long()), epochs=5)
    times = int(model.counts.sum()) // 4
    assert times >= 5 and model.counts.tolist() == [times, 0, 3 * times]
    p = model.conditionals(x)[0, 0, 0, 0]
    assert p.tolist() == pytest.approx([(n + 1) / (4 * times + 3) for n in (times, 0, 3 * times)])


@torch.no_grad()
def test_completion_keeps_given_pixels_and_kept_keys_change_nothing():
    model = tiny(image_shape=(1, 4, 3), num_categories=4)
    given = torch.full((4, 3), math.nan)
    given[:2] = torch.tensor([[3.0, 0, 1], [2, 2, 0]])
    samples = model.sample(40, given=given[None], generator=contracts.seeded())
    assert torch.equal(samples[:, 0, :2].float(), given[:2].expand(40, -1, -1))
    assert len(samples.flatten(1).unique(dim=0)) > 30
    x = samples.flatten(1)[:5]
    for start in (0, 1, 6, 11, 12):
        # a full pass for each pixel
        wanted = list(Autoregressive._sequential_logits(model, x, model.order, 0, start))
        found = list(model._sequential_logits(x, model.order, 0, start))
        assert len(wanted) == len(found) == 12 - start
        for a, b in zip(wanted, found, strict=True):
            torch.testing.assert_close(a, b, atol=1e-12, rtol=0)


def test_a_pixel_knows_those_before_it_alone():
    model = tiny(image_shape=(1, 2, 3))
    x = torch.randint(3, (6,), generator=contracts.seeded()).double()
    base = model.logits(x[None])[0]
    for j in range(6):
        other = x.clone()
        other[j] = (x[j] + 1) % 3
        changed = (model.logits(other[None])[0] - base).abs().sum(-1) > 0
        assert not changed[: j + 1].any() and changed[j + 1 :].all()


def test_palettes():
    palette = nine_bits()
    assert len(palette) == 512 and len(palette.unique(dim=0)) == 512
    x = torch.rand(2, 3, 3, 4, generator=contracts.seeded())
    indices = nearest(x, palette)
    assert indices.shape == (2, 1, 3, 4)
    torch.testing.assert_close(colours(indices, palette), (x * 7).round() / 7)
    assert torch.equal(nearest(colours(indices, palette), palette), indices)
    own = torch.rand(5, 3, generator=contracts.seeded(1))
    found = colours(nearest(x, own), own)
    distance = torch.cdist(x.movedim(1, -1).reshape(-1, 3), own)
    torch.testing.assert_close(found.movedim(1, -1).reshape(-1, 3), own[distance.argmin(1)])


def test_labels_are_learned_together_with_pixels():
    model = tiny(ImageGPTClassifier, num_classes=5, generative_weight=0.25)
    x = torch.randint(3, (6, 1, 2, 2), generator=contracts.seeded()).double()
    y = torch.arange(6) % 5
    wanted = F.cross_entropy(model.predict(x), y) - 0.25 * model.log_prob(x).mean()
    torch.testing.assert_close(model.step((x, y), "train"), wanted)
    torch.testing.assert_close(model.classes(model.features(x)[:, -1]), model.predict(x))
    assert model.features(x).shape == (6, 3, 8)
    contracts.density_sums_to_one(model.log_prob, (4,), 3)
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step((x, y), "train"))
    bare = tiny()
    contracts.every_parameter_gets_a_gradient(bare, lambda: bare.step((x, y), "train"))
    torch.testing.assert_close(bare.step(x, "val"), -bare.log_prob(x).mean())


def test_sizes_of_the_text():
    assert (64 * 64) ** 2 == 16_777_216 and 64 * 64 * 9 == 36_864
    with torch.device("meta"):
        model = ImageGPT((1, 64, 64), 512, 1, 1, 8)
    assert model.n == 4096 and model.n * math.log2(model.num_categories) == 36_864


def test_edges_and_bad_input():
    one = tiny(image_shape=(1, 1, 1))
    contracts.density_sums_to_one(one.log_prob, (1,), 3)
    assert one.sample(2, generator=contracts.seeded()).shape == (2, 1, 1, 1)
    for settings, sentence in (
        ({"image_shape": (3, 2, 2)}, "one number a pixel"),
        ({"image_shape": (2, 2)}, "colours, height and width"),
        ({"num_categories": 1}, "at least 2"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ImageGPT(**({"image_shape": (1, 2, 2)} | settings))
    with pytest.raises(ValueError, match="raster order alone"):
        tiny().logits(torch.zeros(1, 4).double(), torch.tensor([3, 2, 1, 0]))
    with pytest.raises(ValueError, match="generative_weight is -1"):
        ImageGPTClassifier(generative_weight=-1)
    with pytest.raises(ValueError, match="whole numbers 0 to 2"):
        tiny().log_prob(torch.full((1, 4), 3.0))
