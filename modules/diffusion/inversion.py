r"""Encoding by DDIM: the deterministic sampler run upwards gives every input a code of noise.

    x_u = √(ᾱ_u/ᾱ_t) x_t + (√(1−ᾱ_u) − √(ᾱ_u/ᾱ_t) √(1−ᾱ_t)) ε̂(x_t, t),    t < u

Down and up are Euler steps of one ODE, and encoding then decoding returns to within O(1/S). Codes are nearly
N(0, I), whose mass lies on a shell of radius √D: interpolate on the arc (slerp); the middle of a straight
line has norm √(D/2), which no draw has.

Shapes: x (B, ...).
References: Song, Meng, Ermon 2021, arXiv:2010.02502; Shoemake 1985 (slerp). Beyond the texts; [UDL] fig. 14.3
denies diffusion models a latent space, which this is ("disentangled ✗" holds).
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from modules.diffusion.exact import Denoiser
from modules.diffusion.samplers import predict_x0_eps
from modules.diffusion.schedule import Schedule


def invert(predict: Denoiser, schedule: Schedule, x: Tensor, times: Sequence[int]) -> Tensor:
    """Inversion by DDIM's ODE: data x at times[-1] (0 or more) to its noise at times[0].

    ε̂ is evaluated at the time that is left; at 0, where there is none, at the first above it.
    """
    upwards = [*reversed(times)]
    for t, up in pairwise(upwards):
        a_t, a_u = float(schedule.alpha_bar[t]), float(schedule.alpha_bar[up])
        eps = predict_x0_eps(predict, schedule, x, max(t, 1))[1]
        x = math.sqrt(a_u / a_t) * x + (math.sqrt(1 - a_u) - math.sqrt(a_u / a_t) * math.sqrt(1 - a_t)) * eps
    return x


def slerp(a: Tensor, b: Tensor, share: float | Tensor) -> Tensor:
    """Spherical interpolation: on the arc from a to b (B, ...); equal norms stay. Antipodal pairs turn
    through a fixed direction."""
    u, v = a.flatten(1), b.flatten(1)
    s = torch.as_tensor(share, dtype=u.dtype, device=u.device).reshape(-1, 1)
    cosine = torch.nn.functional.cosine_similarity(u, v, dim=1, eps=1e-30).clamp(-1, 1)[:, None]
    # a second direction, square to a: what b adds, or, where b lies on a's line, any
    unit = u / u.norm(dim=1, keepdim=True)
    other = v / v.norm(dim=1, keepdim=True) - cosine * unit
    angle = torch.atan2(other.norm(dim=1, keepdim=True), cosine)  # acos has half the digits near 0 and π
    spare = torch.nn.functional.one_hot(unit.abs().argmin(1), unit.shape[1]).to(unit)
    spare = spare - (spare * unit).sum(1, keepdim=True) * unit
    other = torch.where(other.norm(dim=1, keepdim=True) > 1e-6, other, spare)
    other = other / other.norm(dim=1, keepdim=True)
    norm = (1 - s) * u.norm(dim=1, keepdim=True) + s * v.norm(dim=1, keepdim=True)
    turned = norm * ((s * angle).cos() * unit + (s * angle).sin() * other)
    turned = torch.where(s == 0, u, torch.where(s == 1, v, turned))  # the ends to the bit
    return turned.reshape(a.shape)
