"""Heads of a mixer: what projects tokens to queries, keys and values of H heads, and joins what they mixed.

    q = x W_Q,   k = s W_K,   v = s W_V   (rows, each with its bias),   s = x or another source
    y = [head_1, …, head_H] W_O           joined on features

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a head, `C` = H·D channels.
"""

from torch import Tensor, nn

from modules.transformer.attention import current_recorder


class Heads(nn.Module):
    """Base of mixers: projections of C channels to H heads and back, 4(C² + C) parameters.

    Args:
        width: C. heads: H, a divisor of C. bias: of all projections.

    Raises:
        ValueError: C is no multiple of H, or H is below 1.
    """

    def __init__(self, width: int, heads: int, bias: bool = True) -> None:
        super().__init__()
        if heads < 1 or width < 1 or width % heads:
            raise ValueError(
                f"width {width} cannot be shared by {heads} heads: choose a multiple of the heads."
            )
        self.width, self.heads = width, heads
        self.query = nn.Linear(width, width, bias=bias)
        self.keyvalue = nn.Linear(width, 2 * width, bias=bias)
        self.proj = nn.Linear(width, width, bias=bias)

    def extra_repr(self) -> str:
        return f"width={self.width}, heads={self.heads}"

    def split(self, x: Tensor, source: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of x (B, T, C), keys and values of the source (B, S, C): (B, H, T or S, D) each."""
        k, v = self.keyvalue(x if source is None else source).chunk(2, dim=2)
        q, k, v = (
            t.unflatten(2, (self.heads, -1)).transpose(1, 2)  # (B, S, C) -> (B, S, H, D) -> (B, H, S, D)
            for t in (self.query(x), k, v)
        )
        return q, k, v

    def join(self, y: Tensor) -> Tensor:
        """Heads joined on features, and projected: (B, H, T, D) -> (B, T, C); without those that a recorder
        has switched off."""
        recorder = current_recorder()
        if recorder is not None and self in recorder.heads:
            y = y * recorder.heads[self].to(y)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        return self.proj(y.transpose(1, 2).flatten(2))
