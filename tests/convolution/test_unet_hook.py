"""Hooks of a U-Net: what they see, and that they change only what they return otherwise."""

import torch
from torch import Tensor

from modules.convolution.unet import UNet


def built() -> tuple[UNet, Tensor]:
    torch.manual_seed(0)
    net = UNet(1, (8, 16), blocks=2, heads=2)
    torch.nn.init.normal_(net.last.weight)
    return net.eval(), torch.randn(3, 1, 8, 8)


def test_every_stage_and_skip_is_seen_once_and_nothing_changes() -> None:
    net, x = built()
    seen: dict[str, Tensor] = {}

    def keep(name: str, h: Tensor) -> Tensor:
        assert name not in seen
        seen[name] = h
        return h

    with torch.no_grad():
        assert torch.equal(net(x, None, keep), net(x))
    assert list(seen) == [
        "first", "down 1", "down 2", "down 3", "down 4", "middle 1", "middle 2",
        "skip 4", "up 1", "skip 3", "up 2", "skip 2", "up 3", "skip 1", "up 4", "skip 0",
    ]  # fmt: skip
    for k in range(1, 5):
        assert torch.equal(seen[f"skip {k}"], seen[f"down {k}"])
    assert torch.equal(seen["skip 0"], seen["first"]) and seen["middle 1"].shape == (3, 16, 4, 4)


def test_what_a_hook_returns_goes_on() -> None:
    net, x = built()
    with torch.no_grad():
        whole = net(x)
        for name in ("first", "down 2", "middle 1", "up 3", "skip 0", "skip 3"):
            cut = net(x, None, lambda text, h, name=name: torch.zeros_like(h) if text == name else h)
            assert (cut - whole).abs().max() > 1e-3, name
