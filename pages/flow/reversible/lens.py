"""Two additions that can be taken back: a plane sheared twice, its Jacobian, and the memory of a deep stack.

h1' = h1 + f1(h2),   h2' = h2 + f2(h1')      J = [[1, f1'], [f2', 1 + f2' f1']],   det J = 1
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.flow.layer import FlowStack
from modules.flow.revnet import Recomputed, ReversibleBlock

KINDS = ("sine", "line", "bend", "network")
REACH = 2.0  # of the grid
LINES, DOTS = 9, 41
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
FEATURES, BATCH, HIDDEN = 32, 128, (64,)
MISSED, FINEST = 1e-3, 30_000  # of an area, by a polygon; its corners a side of the patch at most


class Addition(nn.Module):
    """a · (sin 2h, h, or |h| with a corner at 0), of one number."""

    def __init__(self, kind: str, strength: float) -> None:
        super().__init__()
        self.kind, self.strength = kind, strength

    def forward(self, h: Tensor) -> Tensor:
        value = {"sine": (2 * h).sin, "line": h.clone, "bend": h.abs}[self.kind]()
        return self.strength * value


def addition(kind: str, strength: float, seed: int) -> nn.Module:
    """f of a kind; "network" has random weights, and ends in the strength."""
    if kind != "network":
        return Addition(kind, strength)

    def make() -> nn.Module:
        return nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    result = seeded(make, seed).double().requires_grad_(False)
    result[0].weight *= 3  # type: ignore[index, operator]
    result[2].weight *= 2 * strength  # type: ignore[index, operator]
    return result


def block(kinds: tuple[str, str], strength: float) -> ReversibleBlock:
    return ReversibleBlock(2, addition(kinds[0], strength, 1), addition(kinds[1], strength, 2))


@dataclass(frozen=True)
class Round:
    """Forward through two additions a block, and back.

    Attributes:
        grid: (F, P, 2) points of a grid at every frame; gaps are not among them.
        patch: (F, Q, 2) the outline of a small square.
        point: (F, 2) one point.
        jacobians: (F, 2, 2) of what has been done so far, at the point.
        areas: (F,) of the patch.
        captions, equations: of each frame, what it did in words, and in LaTeX with numbers.
    """

    grid: Tensor
    patch: Tensor
    point: Tensor
    jacobians: Tensor
    areas: Tensor
    captions: list[str]
    equations: list[str]


def grid() -> Tensor:
    """Horizontal lines, then vertical ones, (2 · LINES, DOTS, 2)."""
    along = torch.linspace(-REACH, REACH, DOTS, dtype=torch.float64)
    across = torch.linspace(-REACH, REACH, LINES, dtype=torch.float64)
    level = torch.stack(torch.broadcast_tensors(along, across[:, None]), -1)
    return torch.cat([level, level.flip(-1)])


def outline(centre: Tensor, half: float = 0.4, dots: int = 200) -> Tensor:
    """A square around a point, (4 · dots + 1, 2)."""
    side = torch.linspace(-half, half, dots + 1, dtype=torch.float64)[:-1]
    full = torch.full_like(side, half)
    parts = [(side, -full), (full, side), (-side, full), (-full, -side)]
    path = torch.cat([torch.stack(part, -1) for part in parts])
    return centre + torch.cat([path, path[:1]])


def area(path: Tensor) -> float:
    """Inside of a closed outline (Q, 2)."""
    x, y = path.T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum().abs() / 2)


def areas(steps: list[tuple[nn.Module, int, int]], centre: Tensor) -> Tensor:
    """Areas of the patch before and after every step (f, which half, sign), (len(steps) + 1,).

    By a polygon with as many corners as it takes. What it misses falls with the square of its sides: a third
    of what every second corner adds is still missed, and is added.
    """
    dots = 400
    while True:
        path = outline(centre, dots=dots)
        results = [(area(path), area(path[::2]))]
        for f, which, sign in steps:
            path = added(path, f, which, sign)
            results.append((area(path), area(path[::2])))
        whole, half = torch.tensor(results, dtype=torch.float64).T
        missed = (whole - half) / 3
        if float(missed.abs().max()) < MISSED or 4 * dots > FINEST:
            return whole + missed
        dots *= 4


def travel(kinds: tuple[str, str], strength: float, blocks: int, point: tuple[float, float]) -> Round:
    """Every addition forward, then every subtraction back: 4 · blocks + 1 frames."""
    result = block(kinds, strength)
    h = torch.tensor(point, dtype=torch.float64)
    sets = [grid().reshape(-1, 2), outline(h), h[None]]
    order = [(0, 1), (1, 1)] * blocks + [(1, -1), (0, -1)] * blocks
    results: list[list[Tensor]] = [[s] for s in sets]
    jacobian, jacobians = torch.eye(2, dtype=torch.float64), [torch.eye(2, dtype=torch.float64)]
    captions, equations = ["The plane as it comes."], [rf"h = ({point[0]:.3f},\ {point[1]:.3f})"]
    for number, (which, sign) in enumerate(order):
        f = (result.f1, result.f2)[which]
        here = results[2][-1][0]
        slope = torch.autograd.functional.jacobian(f, here[1 - which : 2 - which])[0, 0]  # type: ignore[arg-type]
        shear = torch.eye(2, dtype=torch.float64)
        shear[which, 1 - which] = sign * slope
        jacobian = shear @ jacobian
        jacobians.append(jacobian)
        for states in results:
            states.append(added(states[-1], f, which, sign))
        a, b = which + 1, 2 - which
        amount, new = float(f(here[1 - which, None])), float(results[2][-1][0, which])
        word, mark = ("add", "+") if sign > 0 else ("subtract", "-")
        captions.append(
            f"Block {1 + number % (2 * blocks) // 2 if sign > 0 else blocks - (number - 2 * blocks) // 2}: "
            f"{word} f{a}(h{b}). h{b} stays, so it can be read again on the way back."
        )
        equations.append(
            rf"h_{a} {mark} f_{a}(h_{b}) = {float(here[which]):.3f} {mark} ({amount:.3f}) = {new:.3f},"
            rf"\qquad \det J = {float(torch.linalg.det(jacobian)):.6f}"
        )
    paths = [torch.stack(states) for states in results]
    sizes = areas([((result.f1, result.f2)[which], which, sign) for which, sign in order], h)
    return Round(paths[0], paths[1], paths[2][:, 0], torch.stack(jacobians), sizes, captions, equations)


@torch.no_grad()
def added(h: Tensor, f: nn.Module, which: int, sign: int) -> Tensor:
    """Points (P, 2) with ± f(other half) in one half."""
    moved = h.clone()
    moved[:, which] += sign * f(h[:, 1 - which, None])[:, 0]
    return moved


def network_jacobian(features: int, seed: int = 0) -> Tensor:
    """Jacobian of one block with random networks at a random point, (D, D)."""

    def initialise() -> tuple[ReversibleBlock, Tensor]:
        result = ReversibleBlock.of_vectors(features, HIDDEN).double()
        for parameter in result.parameters():
            parameter.data.normal_(0, 0.3)
        return result, torch.randn(features, dtype=torch.float64)

    result, h = seeded(initialise, seed)
    with torch.enable_grad():
        return torch.autograd.functional.jacobian(lambda z: result.generate(z)[0], h)


# --- Memory ---------------------------------------------------------------------------------------


def saved_bytes(stack: FlowStack, x: Tensor) -> int:
    """Bytes that autograd keeps of a forward pass for the backward one; parameters are not counted."""
    own = {p.data_ptr() for p in stack.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        stack.generate(x)[0].square().sum()  # the graph holds what it saved until here
    return sum(kept.values())


def gradients(stack: FlowStack, x: Tensor) -> Tensor:
    with torch.enable_grad():
        value = stack.generate(x)[0].square().mean()
        return torch.cat([g.ravel() for g in torch.autograd.grad(value, list(stack.parameters()))])


def memory(depths: tuple[int, ...] = DEPTHS) -> Iterator[tuple[float, dict[str, list[float]]]]:
    """KiB kept by the plain stack and by the recomputing one, and how far their gradients differ."""
    rows: dict[str, list[float]] = {"depth": [], "stored": [], "recomputed": [], "difference": []}
    x = torch.randn(BATCH, FEATURES, generator=torch.Generator().manual_seed(0))
    for done, depth in enumerate(depths, 1):

        def initialise(depth: int = depth) -> list[ReversibleBlock]:
            results = [ReversibleBlock.of_vectors(FEATURES, HIDDEN) for _ in range(depth)]
            for one in results:
                for parameter in one.parameters():
                    parameter.data.normal_(0, 0.05)
            return results

        blocks = seeded(initialise)
        stored, again = FlowStack(blocks), Recomputed(blocks)
        one, two = gradients(stored, x), gradients(again, x)
        rows["depth"].append(depth)
        rows["stored"].append(saved_bytes(stored, x) / 1024)
        rows["recomputed"].append(saved_bytes(again, x) / 1024)
        rows["difference"].append(float((one - two).abs().max() / one.abs().max()))
        yield done / len(depths), {name: list(values) for name, values in rows.items()}
