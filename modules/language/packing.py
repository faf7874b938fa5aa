"""Almost orthogonal directions, how many there are: at random, and by a construction.

    random      cos² of two random unit vectors in R^n is Beta(½, (n − 1)/2), its sd of cos 1/√n
    explicit    f_{α,β}(x) = (−1)^{Tr(αx + βx³)} / 2^{m/2},     x, α, β ∈ GF(2^m)

With m = 10 the explicit family has 2^20 = 1,048,576 unit vectors in R^1024, all inner products of two
of them 0, ±1/32 or ±1/16: every angle at least 86.4°. Among random vectors of that size one pair in
hundreds violates a bound of 85° at n = 1000, so fewer than twenty can be had without one.

([GM] §1.6.1 promises 2^{7.5} ≈ 181 as a count, then as a factor, of vectors within 85°-95° in R^1000.
181 is fewer than the 1,000 orthogonal ones; that there are hundreds of thousands is true all the same.)

The inner products of f_{α,β} and f_{α',β'} depend on α+α' and β+β' alone, and for one β all of them are
one Walsh-Hadamard transform of f_{0,β}: 2^m transforms check all 2^{4m} pairs.

References: Kerdock 1972; MacWilliams & Sloane 1977, ch. 15 (double-error-correcting BCH codes, Gold
functions); [GM] §1.6.1.
"""

import math

import torch
from torch import Tensor

POLYNOMIALS = {3: 0b1011, 5: 0b100101, 7: 0b10001001, 10: 0b10000001001}  # x^10 + x^3 + 1


def products(a: Tensor, b: Tensor, m: int = 10) -> Tensor:
    """a · b in GF(2^m), elements as int64 bit masks; shapes broadcast.

    Raises:
        ValueError: no polynomial is known for m.
    """
    if m not in POLYNOMIALS:
        raise ValueError(f"m is {m}: choose one of {', '.join(map(str, POLYNOMIALS))}.")
    result = torch.zeros_like(a ^ b)
    for bit in range(m):
        result ^= torch.where((b >> bit) & 1 == 1, a, torch.zeros_like(a))
        a = a << 1
        a = torch.where((a >> m) & 1 == 1, a ^ POLYNOMIALS[m], a)
    return result


def trace(a: Tensor, m: int = 10) -> Tensor:
    """Tr(a) = a + a² + a⁴ + … + a^{2^{m−1}}, 0 or 1."""
    total, power = a.clone(), a
    for _ in range(m - 1):
        power = products(power, power, m)
        total ^= power
    return total


def quadratic(m: int = 10) -> Tensor:
    """(−1)^{Tr(βx³)} for all β (rows) and x (columns): (2^m, 2^m), ±1."""
    x = torch.arange(2**m)
    cube = products(products(x, x, m), x, m)
    table = trace(torch.arange(2**m), m)
    return 1 - 2 * table[products(x[:, None], cube[None, :], m)]


def hadamard(values: Tensor) -> Tensor:
    """Walsh-Hadamard transform of the last dimension, Σ_x (−1)^{a·x} f(x), in n log n."""
    n = values.shape[-1]
    step = 1
    while step < n:
        pairs = values.reshape(*values.shape[:-1], n // (2 * step), 2, step)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        values = torch.stack([first + second, first - second], dim=-2).reshape(values.shape)
        step *= 2
    return values


def spectra(m: int = 10) -> Tensor:
    """Inner products times 2^m of all pairs that differ in β: row β ≠ 0, column α, (2^m − 1, 2^m).

    x ↦ Tr(αx) runs through all linear forms as α does, so a row is a Walsh-Hadamard transform, its
    columns in another order.
    """
    return hadamard(quadratic(m)[1:])


def family(alphas: Tensor, betas: Tensor, m: int = 10) -> Tensor:
    """The unit vectors f_{α,β} themselves: (N,), (N,) -> (N, 2^m) float64."""
    x = torch.arange(2**m)
    cube = products(products(x, x, m), x, m)
    exponent = products(alphas[:, None], x, m) ^ products(betas[:, None], cube, m)
    return (1 - 2 * trace(exponent, m)).double() / math.sqrt(2**m)


def violation(n: int, epsilon: float) -> float:
    """P(|cos| > ε) of two random unit vectors in R^n: cos has density ∝ (1 − c²)^{(n − 3)/2}."""
    c = torch.linspace(0, 1, 20_001, dtype=torch.float64)
    density = (1 - c**2) ** ((n - 3) / 2)
    whole = torch.trapezoid(density, c)
    c_inside = torch.linspace(0, epsilon, 20_001, dtype=torch.float64)
    inside = torch.trapezoid((1 - c_inside**2) ** ((n - 3) / 2), c_inside)
    return 1 - float(inside / whole)


def random_cosines(n: int, vectors: int, seed: int = 0) -> Tensor:
    """Cosines of all pairs of random unit vectors in R^n: (M(M − 1)/2,)."""
    drawn = torch.randn(vectors, n, generator=torch.Generator().manual_seed(seed))
    unit = drawn / drawn.norm(dim=1, keepdim=True)
    return (unit @ unit.T)[torch.ones(vectors, vectors, dtype=torch.bool).triu(1)]
