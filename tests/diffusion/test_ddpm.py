"""The learned models: starts, gradients, EMA, labels, bounds, samples: DF-O31 to O33."""

import math

import contracts
import pytest
import torch
from lightning.pytorch.callbacks import EMAWeightAveraging
from torch import Tensor

from modules.convolution.unet import UNet
from modules.diffusion import exact
from modules.diffusion.ddpm import DDPM, ImageDDPM
from modules.diffusion.denoisers import TimeEmbedding
from modules.diffusion.schedule import linear
from modules.transformer.recorder import record_attention


def images(n: int, side: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(17, (n, 1, side, side), generator=generator) / 16.0, torch.arange(n) % 3


SMALL = {"widths": (8, 16), "heads": 2, "embedding": 16, "levels": 17, "conditional": True, "num_classes": 3}


@pytest.mark.parametrize(("side", "widths"), [(8, (8, 16)), (16, (8, 8, 8)), (28, (8, 16, 16))])
def test_an_untrained_unet_says_no_noise_and_keeps_the_shape(side: int, widths: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    model = ImageDDPM((1, side, side), **(SMALL | {"widths": widths, "noise_steps": 100}))
    x = images(64, side)
    text = model.net(x[0], torch.full((64,), 7), x[1])
    assert text.shape == x[0].shape and not text.any()
    contracts.loss_at_start(model, x, 1.0, 0.03)  # E‖ε‖² a number


def test_every_parameter_learns_once_the_last_layer_has_moved() -> None:
    torch.manual_seed(0)
    for model, batch in (
        (ImageDDPM((1, 8, 8), **SMALL, label_dropout=0.5, attention=(1,)), images(16)),
        (
            DDPM(conditional=True, num_classes=3, width=16, embedding=8),
            (torch.randn(16, 2), torch.arange(16) % 3),
        ),
    ):
        torch.nn.init.normal_(
            model.net.last.weight if isinstance(model, DDPM) else model.net.unet.last.weight
        )  # type: ignore[union-attr, arg-type]
        contracts.every_parameter_gets_a_gradient(model, lambda m=model, b=batch: m.step(b, "train"))  # type: ignore[misc]


def test_the_output_depends_on_time_class_and_every_pixel() -> None:
    torch.manual_seed(0)
    model = ImageDDPM((1, 8, 8), **SMALL).eval()
    torch.nn.init.normal_(model.net.unet.last.weight)  # type: ignore[union-attr, arg-type]
    x = images(1)[0].requires_grad_()
    one = model.net(x, torch.tensor([10]), torch.tensor([0]))
    assert not torch.allclose(one, model.net(x, torch.tensor([500]), torch.tensor([0])))
    assert not torch.allclose(one, model.net(x, torch.tensor([10]), torch.tensor([1])))
    (reach,) = torch.autograd.grad(one[0, 0, 0, 0], x)
    assert bool((reach != 0).all())  # the middle's attention sees the whole grid


def test_skips_are_joined_and_a_recorder_sees_the_middle() -> None:
    torch.manual_seed(0)
    net = UNet(1, (8, 16), heads=2)
    torch.nn.init.normal_(net.last.weight)  # type: ignore[arg-type]
    x = torch.randn(2, 1, 8, 8)
    with record_attention() as seen:
        recorded = net(x)
    assert torch.allclose(recorded, net(x), atol=1e-5)
    (calls,) = seen.calls.values()
    assert calls[0].weights.shape == (2, 2, 16, 16)  # 4×4 positions
    assert net.up[0].block.conv1.in_channels == 32 and net.last.in_channels == 16  # type: ignore[union-attr]
    for level in net.middle:  # with the bottom cut the skips still carry the picture
        for p in level.parameters():
            p.data.zero_()
    assert net(x).std() > 0.1
    with pytest.raises(ValueError, match="halved 1 times"):
        net(torch.zeros(1, 1, 7, 8))
    with pytest.raises(ValueError, match="vector τ"):
        UNet(1, (8,), embedding=4)(x)


def test_patches_are_read_and_written_as_channels() -> None:
    """A picture of 28×28 runs on a grid of 14×14, and every pixel comes back to its place."""
    torch.manual_seed(0)
    net = UNet(1, (8, 16), heads=2, patch=2)
    seen: dict[str, Tensor] = {}

    def hook(name: str, h: Tensor) -> Tensor:
        seen[name] = h
        return h

    x = torch.randn(3, 1, 28, 28)
    assert net(x, hook=hook).shape == x.shape and seen["first"].shape == (3, 8, 14, 14)
    with torch.no_grad():  # a net whose features are the pixels themselves gives the picture back
        net.last.weight.zero_(), net.first.weight.zero_(), net.first.bias.zero_()  # type: ignore[union-attr]
        for i in range(4):
            net.first.weight[i, i, 1, 1] = net.last.weight[i, 8 + i, 1, 1] = 1.0
        net.join = torch.nn.Identity()  # type: ignore[assignment]
        assert torch.allclose(net(x), torch.nn.functional.silu(x), atol=1e-6)
    assert UNet(1, (8, 16), outputs=2, patch=2)(x).shape == (3, 2, 28, 28)
    with pytest.raises(
        ValueError, match=r"26×28 in patches of 2 cannot be halved 1 times: .* multiples of 4"
    ):
        net(torch.zeros(1, 1, 26, 28))
    with pytest.raises(ValueError, match="patch"):
        UNet(1, (8,), patch=0)


def test_the_bound_is_clamped_as_samples_are() -> None:
    """A network that says nothing guesses huge numbers under the last noise; clamped they cost little."""
    free, kept = (
        ImageDDPM((1, 4, 4), widths=(4,), noise_schedule="cosine", noise_steps=20, clip_bound=clip)
        for clip in (False, True)
    )
    kept.load_state_dict(free.state_dict())
    x = torch.rand(3, 1, 4, 4, generator=torch.Generator().manual_seed(0)) * 2 - 1
    terms = [model.bound(x, generator=torch.Generator().manual_seed(1)).steps for model in (free, kept)]
    assert bool((terms[1] <= terms[0] + 1e-9).all()) and bool((terms[1][-1] < 0.01 * terms[0][-1]).all())


def test_no_class_has_a_row_of_its_own() -> None:
    embedding, t = TimeEmbedding(8, num_classes=3), torch.tensor([1.0, 5.0])
    each = [embedding(t, torch.full((2,), y)) for y in range(4)]
    assert torch.equal(embedding(t), each[3])
    assert not any(torch.allclose(each[3], other) for other in each[:3])


def test_times_are_of_each_example_and_uniform() -> None:
    results: list[Tensor] = []

    class Told(torch.nn.Module):
        def forward(self, x: Tensor, t: Tensor, y: Tensor | None = None) -> Tensor:
            results.append(t)
            return x * 0

    model = DDPM()
    model.net = Told()
    torch.manual_seed(0)
    model.step((torch.randn(4000, 2),), "train")
    t = results[0]
    assert int(t.min()) >= 1 and int(t.max()) <= 1000 and len(t.unique()) > 900
    counts = torch.histc(t.float(), 10, 1, 1000)
    assert float(((counts - 400) ** 2 / 400).sum()) < 33  # χ² of 9 degrees, 1 in 10,000
    model.schedule = linear(4)
    model.step((torch.randn(200, 2),), "train")
    assert results[-1].unique().tolist() == [1, 2, 3, 4]
    model.schedule = linear()
    results.clear()
    model.step((torch.randn(4000, 2),), "val")
    counts = torch.histc(results[0].float(), 10, 1, 1000)
    assert float(((counts - 400) ** 2 / 400).sum()) < 33


def test_of_data_at_zero_the_best_answer_has_no_loss() -> None:
    model = DDPM()
    t = torch.tensor([1, 500, 1000])

    class Best(torch.nn.Module):
        def forward(self, x: Tensor, t: Tensor, y: Tensor | None = None) -> Tensor:
            return x / model.schedule.sigma(t, x)

    model.net = Best()
    assert float(model.losses(torch.zeros(3, 2), t, torch.randn(3, 2))[0].max()) < 1e-10


def test_labels_are_dropped_as_often_as_said() -> None:
    results: list[Tensor] = []

    class Told(torch.nn.Module):
        def forward(self, x: Tensor, t: Tensor, y: Tensor) -> Tensor:
            results.append(y)
            return x * 0

    model = DDPM(conditional=True, num_classes=4, label_dropout=0.2)
    model.net = Told()
    torch.manual_seed(0)
    batch = torch.randn(5000, 2), torch.arange(5000) % 4
    model.step(batch, "train")
    dropped = float((results[0] == 4).float().mean())
    assert abs(dropped - 0.2) < 4 * math.sqrt(0.16 / 5000)
    model.step(batch, "val")
    assert not bool((results[1] == 4).any())


@pytest.mark.parametrize(
    ("target", "min_snr_gamma", "bar"),
    [("eps", None, 0.6), ("x0", None, 0.75), ("v", None, 1.0), ("eps", 5.0, 0.4), ("v", 5.0, 0.3)],
)  # an untrained network has about 1, 1.1, 1.1, 0.7 and 0.34
def test_every_target_learns(target: str, min_snr_gamma: float | None, bar: float) -> None:
    torch.manual_seed(0)
    x = exact.eight(1.5, 0.15).draw(256, torch.Generator().manual_seed(0))[0].float()
    model = DDPM(
        width=32, blocks=2, embedding=16, target=target, min_snr_gamma=min_snr_gamma, noise_schedule="cosine"
    )  # type: ignore[arg-type]
    contracts.overfits_one_batch(model, (x,), below=bar, steps=200, lr=3e-3)


def test_zero_terminal_schedules_ask_for_v_or_x0_and_sample() -> None:
    with pytest.raises(ValueError, match="set target to v or x0"):
        DDPM(noise_schedule="linear-zero")
    model = DDPM(noise_schedule="linear-zero", target="v", width=8, blocks=1, embedding=8)
    assert bool(model.sample(3, steps=10, generator=torch.Generator().manual_seed(0)).isfinite().all())


def test_averaged_weights() -> None:
    """EMA of constant weights is constant; the first kept weighs γⁿ; at the end the model is the average."""
    import lightning as L

    torch.manual_seed(0)
    for rate, decay in ((0.0, 0.9), (0.05, 0.9)):
        model = DDPM(width=4, blocks=1, embedding=4, optimizer=lambda p, r=rate: torch.optim.SGD(p, r))  # type: ignore[misc]
        torch.nn.init.normal_(model.net.last.weight)  # type: ignore[union-attr, arg-type]
        results = [model.net.last.bias.detach().clone()]  # type: ignore[union-attr, operator]

        class Watch(L.Callback):
            def on_train_batch_end(
                self, trainer: L.Trainer, module: L.LightningModule, *rest: object
            ) -> None:
                results.append(module.net.last.bias.detach().clone())  # type: ignore[union-attr, operator]  # noqa: B023

        trainer = L.Trainer(
            accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
            callbacks=[Watch(), EMAWeightAveraging(decay=decay)],
        )  # fmt: skip
        trainer.fit(model, torch.utils.data.DataLoader([(torch.randn(8, 2),)] * 5, batch_size=None))  # type: ignore[arg-type]
        # torch's first update copies: θ_1 takes the place of θ_0
        average = results[1]
        for value in results[2:]:
            average = decay * average + (1 - decay) * value
        end = model.net.last.bias.detach()  # type: ignore[union-attr, operator]
        assert torch.allclose(end, average, atol=1e-7)
        assert torch.equal(end, results[0]) == (rate == 0) and len(results) == 6


def test_guidance_and_labels_of_a_model() -> None:
    model = ImageDDPM((1, 8, 8), **SMALL).eval()
    torch.nn.init.normal_(model.net.unet.last.weight, std=0.1)  # type: ignore[union-attr, arg-type]
    plain, led = (
        model.sample(3, steps=4, y=1, guidance=w, generator=torch.Generator().manual_seed(0))
        for w in (0.0, 2.0)
    )
    assert plain.shape == (3, 1, 8, 8) and not torch.allclose(plain, led)
    assert float(plain.min()) >= -1e-6 and float(plain.max()) <= 1 + 1e-6
    contracts.reproducible(
        lambda seed: model.sample(2, steps=4, eta=1.0, generator=torch.Generator().manual_seed(seed))
    )
    contracts.trace_replays(
        lambda seed: model.sample_trace(2, steps=4, eta=1.0, generator=torch.Generator().manual_seed(seed))
    )
    with pytest.raises(ValueError, match="whole numbers from 0 to 2"):
        model.sample(1, y=3)
    with pytest.raises(ValueError, match="knows no classes"):
        DDPM().sample(1, guidance=1.0)
    with pytest.raises(ValueError, match="steps is 1001"):
        DDPM().sample(1, steps=1001)
