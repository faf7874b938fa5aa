"""The properties that every member of a family must have, one function per property.

A contract is a plain function of a model (or of one of its surfaces) and small inputs; it raises
`AssertionError` with a sentence that says which property is broken and by how much. Exact checks
run in float64 on models with *randomised* parameters: a freshly made network has layers at zero,
and zeros hide mistakes.

Use: `model = contracts.exact(MADE(event_shape=(4,)))`, then the contracts of its surfaces.
"""

import copy
import functools
import pickle
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.fabric.utilities import registry
from torch import Tensor, nn

TOLERANCE = 1e-10  # of exact checks in float64

# Every Trainer reads the metadata of all installed packages for callbacks: most of its making.
registry.entry_points = functools.cache(registry.entry_points)


# --- Preparing a model -------------------------------------------------------------------------


def exact(model: Any, seed: int = 0, scale: float = 0.5) -> Any:
    """The model in float64 and eval mode, every parameter drawn anew from N(0, scale²).

    Raises:
        ValueError: if `scale` is not positive (zeros hide mistakes).
    """
    if scale <= 0:
        raise ValueError(f"scale is {scale}: it must be positive.")
    generator = torch.Generator().manual_seed(seed)
    model = model.double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.copy_(scale * noise)
    return model


def configurations(shape: tuple[int, ...], num_categories: int = 2) -> Tensor:
    """All `num_categories ** n` arrays of that shape with entries 0 … num_categories − 1, n = prod(shape).

    Returns: (num_categories^n, *shape) int64, in lexicographic order.
    """
    n = int(torch.tensor(shape).prod())
    if num_categories**n > 2_000_000:
        raise ValueError(
            f"{num_categories}^{n} configurations are too many to enumerate: take a smaller shape."
        )
    index = torch.arange(num_categories**n)
    powers = num_categories ** torch.arange(n - 1, -1, -1)
    return (index[:, None] // powers % num_categories).reshape(-1, *shape)


# --- Density -----------------------------------------------------------------------------------


@torch.no_grad()
def density_sums_to_one(
    log_prob: Callable[[Tensor], Tensor],
    shape: tuple[int, ...],
    num_categories: int = 2,
    given: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
    tolerance: float = TOLERANCE,
) -> None:
    """Σ_x p(x) = 1 over every configuration of that shape, x having entries 0 … num_categories − 1.

    Binary vectors: `density_sums_to_one(model.log_prob, (10,))`. Language: `shape=(T,)`,
    `num_categories=vocab_size`, `dtype=torch.int64`, and `given` (a prefix, (S,)) put before every x where
    the model scores a continuation.
    """
    x = configurations(shape, num_categories).to(dtype)
    if given is not None:
        x = torch.cat([given.to(dtype).expand(len(x), -1), x], dim=1)
    log_p = torch.cat([log_prob(chunk) for chunk in x.split(4096)])
    assert log_p.shape == (len(x),), (
        f"log_prob gives {tuple(log_p.shape)} for {len(x)} examples: one number each is due."
    )
    assert log_p.dtype == torch.float64, f"an exact check needs float64, log_prob answers in {log_p.dtype}."
    total = log_p.exp().sum().item()
    assert abs(total - 1) <= tolerance, f"the density sums to {total!r} over all {len(x)} configurations."


@torch.no_grad()
def next_tokens_make_the_density(
    next_log_probs: Callable[[Tensor], Tensor],
    log_prob: Callable[[Tensor], Tensor],
    tokens: Tensor,
    tolerance: float = TOLERANCE,
) -> None:
    """log p(x) = Σ_t log p(x_t | x_<t) for `tokens` (B, T) int64, and each p(· | x_<t) sums to 1.

    The first step asks for what follows the empty prefix, (B, 0).
    """
    total = torch.zeros(len(tokens), dtype=torch.float64)
    for t in range(tokens.shape[1]):
        rows = next_log_probs(tokens[:, :t])
        assert rows.ndim == 2 and len(rows) == len(tokens), f"step {t} gives {tuple(rows.shape)}."
        excess = (rows.exp().sum(-1) - 1).abs().max().item()
        assert excess <= tolerance, f"step {t}: the next-token probabilities sum to 1 ± {excess:.2e}."
        total += rows.gather(1, tokens[:, t : t + 1])[:, 0]
    difference = (total - log_prob(tokens)).abs().max().item()
    assert difference <= tolerance, f"log_prob differs from the sum of its next tokens by {difference:.2e}."


@torch.no_grad()
def incremental_decoding_is_a_full_pass(
    model: Any,
    prefix: Tensor,
    padding: Tensor | None = None,
    steps: int = 4,
    tolerance: float = TOLERANCE,
) -> None:
    """A model's `incremental_decoder` says what `next_log_probs` says of the texts so far.

    prefix (B, T) grows by random tokens; rows are repeated and dropped on the way, and every state is gone on
    from twice.
    """
    decoder, generator = model.incremental_decoder(), torch.Generator().manual_seed(0)
    log_p, state = decoder.start(prefix) if padding is None else decoder.start(prefix, padding)
    for t in range(steps + 1):
        whole = model.next_log_probs(prefix) if padding is None else model.next_log_probs(prefix, padding)
        # log 0 is −∞ on both sides
        difference = (log_p.exp() - whole.exp()).abs().max().item()
        assert difference <= tolerance, f"after {t} steps p differs by {difference:.2e}."
        if t == steps:
            return
        rows = torch.randint(len(prefix), (len(prefix) + 1,), generator=generator)
        prefix, state, log_p = prefix[rows], state[rows], log_p[rows]
        padding = None if padding is None else torch.nn.functional.pad(padding[rows], (0, 1))
        token = torch.multinomial(log_p.exp(), 1, generator=generator)[:, 0]
        before, (log_p, later) = state, decoder.step(state, token)
        again, _ = decoder.step(before, token)
        assert (again.exp() - log_p.exp()).abs().max().item() <= tolerance, f"step {t} changed its state."
        decoder.step(before, (token + 1) % log_p.shape[1])  # leaves what came of it before alone
        prefix, state = torch.cat([prefix, token[:, None]], dim=1), later


def floor_is_kept(nll: float, distinct: int) -> None:
    """A valid density has a mean NLL of at least ln N on N distinct points (Gibbs' inequality).

    A model below the floor sees its own target.
    """
    floor = torch.tensor(float(distinct)).log().item()
    assert nll >= floor - 1e-6, (
        f"mean NLL {nll:.6f} on {distinct} distinct examples is below ln {distinct} = {floor:.6f}: a leak."
    )


@torch.no_grad()
def bound_is_below(bound: Tensor, log_prob: Tensor, tolerance: float) -> None:
    """Each bound (B,) is at most log p (B,), apart from the `tolerance` of its estimate; and finite."""
    assert bound.isfinite().all(), "the bound is not finite."
    excess = (bound - log_prob).max().item()
    assert excess <= tolerance, f"the bound exceeds log p by {excess:.4f} nats."


@torch.no_grad()
def one_pass_equals_sequential(
    conditionals: Callable[[Tensor], Tensor],
    x: Tensor,
    order: Iterable[int],
    tolerance: float = TOLERANCE,
) -> None:
    """The conditionals of one pass over a full `x` are those a sampler meets while filling `x`.

    The sampler sees zeros in the places not yet drawn. `conditionals(x)` is (B, n) (or (B, n, K)),
    `x` is (B, n); `order` lists the places from the first drawn to the last.
    """
    order = list(order)
    assert sorted(order) == list(range(x.shape[1])), f"{order} is no order of {x.shape[1]} places."
    at_once = conditionals(x)
    seen = torch.zeros_like(x)
    for place in order:
        difference = (conditionals(seen)[:, place] - at_once[:, place]).abs().max().item()
        assert difference <= tolerance, (
            f"place {place}: the sampler's conditional differs from the one-pass one by {difference:.2e}."
        )
        seen[:, place] = x[:, place]


@torch.no_grad()
def conditionals_make_the_density(
    log_prob: Callable[[Tensor], Tensor],
    probabilities: Callable[[Tensor], Tensor],
    x: Tensor,
    tolerance: float = TOLERANCE,
) -> None:
    """log p(x) = Σ_i log p(x_i | x_<i) for binary x (B, n); `probabilities(x)` is p(x_i = 1 | x_<i)."""
    p = probabilities(x)
    total = (x * p.log() + (1 - x) * (1 - p).log()).flatten(1).sum(1)
    difference = (total - log_prob(x)).abs().max().item()
    assert difference <= tolerance, f"log_prob differs from the sum of its conditionals by {difference:.2e}."


@torch.no_grad()
def samples_follow_the_density(
    samples: Tensor, log_prob: Callable[[Tensor], Tensor], num_categories: int = 2, alarm: float = 1e-6
) -> None:
    """χ² of discrete samples (N, n) against the enumerated density; `alarm` is its false-alarm rate.

    Cells expecting fewer than five samples are pooled.
    """
    from scipy.stats import chi2

    count, shape = len(samples), tuple(samples.shape[1:])
    cells = configurations(shape, num_categories)
    expected = log_prob(cells.to(samples.dtype)).exp().double() * count
    powers = num_categories ** torch.arange(cells[0].numel() - 1, -1, -1)
    index = (samples.flatten(1).long() * powers).sum(1)
    observed = torch.bincount(index, minlength=len(cells)).double()

    large = expected >= 5
    pooled = [(observed[large], expected[large])]
    if expected[~large].sum() > 0:
        pooled.append((observed[~large].sum()[None], expected[~large].sum()[None]))
    o, e = (torch.cat(parts) for parts in zip(*pooled, strict=True))
    statistic = ((o - e) ** 2 / e).sum().item()
    limit = float(chi2.isf(alarm, max(len(o) - 1, 1)))
    assert statistic <= limit, f"χ² = {statistic:.1f} of {count} samples exceeds {limit:.1f}."


# --- Who may see whom --------------------------------------------------------------------------


def jacobian(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """∂ function(x) / ∂ x as a matrix (outputs, inputs), both flattened."""
    x = x.detach().clone()
    full = torch.autograd.functional.jacobian(function, x)
    return full.reshape(-1, x.numel())


def jacobian_is_sparse(
    function: Callable[[Tensor], Tensor], x: Tensor, allowed: Tensor, reached: bool = False
) -> None:
    """∂ output_i / ∂ input_j is *exactly* 0 wherever `allowed[i, j]` is False.

    Args:
        allowed: (outputs, inputs) bool.
        reached: also demand a non-zero entry wherever `allowed` is True (needs parameters that
            cannot cancel and units that are not dead).
    """
    matrix = jacobian(function, x)
    assert matrix.shape == allowed.shape, (
        f"the Jacobian is {tuple(matrix.shape)}, the pattern {tuple(allowed.shape)}."
    )
    leaks = ((matrix != 0) & ~allowed).nonzero().tolist()
    assert not leaks, f"{len(leaks)} outputs see inputs they must not: {leaks[:5]} (output, input)."
    if reached:
        missing = ((matrix == 0) & allowed).nonzero().tolist()
        assert not missing, f"{len(missing)} outputs miss inputs they should see: {missing[:5]}."


def causal(function: Callable[[Tensor], Tensor], x: Tensor, strict: bool = False) -> None:
    """Output t of a sequence map (T, …) → (T, …) has gradient exactly 0 to every input s > t.

    With `strict`, also to its own input s = t. Every permitted pair must have some gradient, so
    that a map which ignores its input does not pass.
    """
    x = x.detach().clone().requires_grad_()
    y = function(x)
    length = x.shape[0]
    assert y.shape[0] == length, f"{length} inputs give {y.shape[0]} outputs: one each is due."
    weights = torch.randn(y.shape, generator=torch.Generator().manual_seed(0), dtype=y.dtype)
    for t in range(length):
        (gradient,) = torch.autograd.grad((y[t] * weights[t]).sum(), x, retain_graph=True, allow_unused=True)
        assert gradient is not None, f"output {t} does not depend on the input at all."
        reach = gradient.reshape(length, -1).abs().amax(1)
        first_hidden = t if strict else t + 1
        leaks = reach[first_hidden:].nonzero().flatten() + first_hidden
        assert not len(leaks), f"output {t} sees the future: inputs {leaks.tolist()}."
        blind = (reach[:first_hidden] == 0).nonzero().flatten().tolist()
        assert not blind, f"output {t} does not see inputs {blind}."


def causal_in_tokens(
    logits: Callable[[Tensor], Tensor], embedding: nn.Module, tokens: Tensor, strict: bool = False
) -> None:
    """`causal` for a language model: the gradient is taken at the output of its token `embedding`.

    `logits` maps (1, T) int64 to (1, T, V); `tokens` is (T,).
    """
    with torch.no_grad():
        embedded = embedding(tokens[None])

    def from_vectors(vectors: Tensor) -> Tensor:  # (T, D) -> (T, V)
        handle = embedding.register_forward_hook(lambda *_: vectors[None])
        try:
            return logits(tokens[None])[0]
        finally:
            handle.remove()

    causal(from_vectors, embedded[0], strict)


@torch.no_grad()
def cache_equals_full_pass(
    full: Callable[[Tensor], Tensor],
    incremental: Callable[[Tensor], Iterable[Tensor]],
    tokens: Tensor,
    tolerance: float = TOLERANCE,
) -> None:
    """Logits computed token by token with a cache equal those of one pass over everything.

    Args:
        full: (B, T) -> (B, T, V).
        incremental: feeds `tokens` piece by piece through the cache and yields the logits of each
            piece, (B, t, V).
    """
    whole = full(tokens)
    pieces = torch.cat(list(incremental(tokens)), dim=1)
    assert pieces.shape == whole.shape, f"{tuple(pieces.shape)} with cache, {tuple(whole.shape)} without."
    difference = (pieces - whole).abs().max().item()
    assert difference <= tolerance, f"logits with cache differ from the full pass by {difference:.2e}."


@torch.no_grad()
def permutation_equivariant(
    function: Callable[[Tensor, Tensor], Tensor],
    x: Tensor,
    edge_index: Tensor,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> None:
    """Renumbering the nodes renumbers the output and changes nothing else: f(Px, PE) = P f(x, E).

    `x` is (N, D), `edge_index` is (2, E); the edges are shuffled as well.
    """
    generator = torch.Generator().manual_seed(seed)
    nodes = torch.randperm(len(x), generator=generator)  # new place k holds old node nodes[k]
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(len(nodes))
    edges = torch.randperm(edge_index.shape[1], generator=generator)
    moved = function(x[nodes], place[edge_index][:, edges])
    expected = function(x, edge_index)[nodes]
    assert not torch.allclose(expected, expected[:1].expand_as(expected)), (
        "all nodes have the same output: this input cannot show equivariance."
    )
    difference = (moved - expected).abs().max().item()
    assert difference <= tolerance, f"renumbering the nodes changes the output by {difference:.2e}."


# --- Flows -------------------------------------------------------------------------------------


def jacobians(function: Callable[[Tensor], Tensor], h: Tensor) -> Tensor:
    """∂ function(h)_b / ∂ h_b of every example b, (B, D) -> (B, D): (B, D, D), each event flattened."""
    count = len(h)
    full = torch.autograd.functional.jacobian(function, h).reshape(count, -1, count, h[0].numel())
    return torch.stack([full[b, :, b] for b in range(count)])


def inverts_with_its_log_determinant(
    layer: Any,
    z: Tensor,
    context: Tensor | None = None,
    tolerance: float = 1e-8,
    scale: float | None = 0.3,
    dead: Iterable[str] = (),
    stateless: bool = True,
) -> None:
    """What every flow layer and every stack keeps, `z` (B, ...) float64, one example a row of `context`.

    Round trips are the identity; each ladj is `slogdet` of the autograd Jacobian; both cancel; the inverse
    has the inverse Jacobian; every parameter gets a gradient (but `dead` ones); training mode, deep copies
    and pickles answer with the same bits. Errors are measured against the size of the values.

    Args:
        scale: of the parameters drawn anew; None leaves them, which makes fresh couplings the identity.
        stateless: training mode computes the same; False for layers that learn from the batch they see.
    """
    layer = (layer.double() if scale is None else exact(layer, 0, scale)).eval()
    with torch.no_grad():
        x, up = layer.generate(z, context)
        back, down = layer.normalize(x, context)
        there = layer.generate(back, context)[0]
    assert up.shape == down.shape == (len(z),), f"ladj is {tuple(up.shape)}: one number per example is due."
    assert x.isfinite().all() and up.isfinite().all(), "the values or their ladj are not finite."
    size = 1 + max(x.abs().max().item(), up.abs().max().item())
    for name, one, other in (("z", back, z.reshape(back.shape)), ("x", there, x), ("ladj", up, -down)):
        error = (one - other).abs().max().item()
        assert error <= tolerance * size, f"{name} comes back off by {error:.2e}."
    forward = jacobians(lambda h: layer.generate(h, context)[0], z)
    backward = jacobians(lambda h: layer.normalize(h, context)[0], x)
    for name, matrix, ladj in (("generate", forward, up), ("normalize", backward, down)):
        error = (torch.linalg.slogdet(matrix).logabsdet - ladj).abs().max().item()
        assert error <= 100 * tolerance * size, f"ladj of {name} differs from slogdet by {error:.2e}."
    excess = (forward @ backward - torch.eye(forward.shape[-1], dtype=z.dtype)).abs().max().item()
    assert excess <= 1e4 * tolerance * size, f"the Jacobian of the inverse is off by {excess:.2e}."
    if list(layer.parameters()):

        def loss() -> Tensor:
            (noise, down), (result, up) = layer.normalize(x, context), layer.generate(z, context)
            return noise.square().mean() + result.square().mean() + (3 * up - down).mean()

        every_parameter_gets_a_gradient(layer, loss, dead)
    with torch.no_grad():
        copies = {"deepcopy": copy.deepcopy(layer), "pickle": pickle.loads(pickle.dumps(layer))}
        if stateless:
            copies["training mode"] = layer.train()
        for how, other in copies.items():
            assert torch.equal(other.generate(z, context)[0], x), f"after {how} a layer answers differently."
    layer.eval()


@torch.no_grad()
def mass_on_the_plane(log_prob: Callable[[Tensor], Tensor], reach: float = 8.0, cells: int = 401) -> float:
    """The integral of a density of two numbers over [−reach, reach]², by the rectangle rule in float64."""
    axis = torch.linspace(-reach, reach, cells, dtype=torch.float64)
    parts = torch.cartesian_prod(axis, axis).split(20_000)
    total = sum(float(log_prob(part).exp().sum()) for part in parts)
    return total * (axis[1] - axis[0]).item() ** 2


# --- Training ----------------------------------------------------------------------------------


def every_parameter_gets_a_gradient(
    model: nn.Module, loss: Callable[[], Tensor], except_for: Iterable[str] = ()
) -> None:
    """Each parameter has a finite gradient with at least one entry that is not 0.

    Args:
        except_for: names of parameters that are dead by construction; they must have no gradient.
    """
    model.zero_grad(set_to_none=True)
    loss().backward()
    dead = set(except_for)
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        if name in dead:
            assert gradient is None or not gradient.any(), f"{name} is said to be dead but gets a gradient."
            continue
        assert gradient is not None and gradient.any(), f"{name} gets no gradient."
        assert gradient.isfinite().all(), f"{name} gets a gradient that is not finite."
    unknown = dead - {name for name, _ in model.named_parameters()}
    assert not unknown, f"no such parameters: {sorted(unknown)}."
    model.zero_grad(set_to_none=True)


def overfits_one_batch(
    model: Any, batch: Any, below: float, floor: float | None = None, steps: int = 300, lr: float = 1e-2
) -> float:
    """Adam on one batch drives the model's own training loss below `below`, never below `floor`.

    The loss is the mean of the last ten steps, so a model with noise in its loss is judged fairly.

    Returns: that loss.
    """
    torch.manual_seed(0)
    model = copy.deepcopy(model).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses: list[float] = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = model.step(batch, "train")
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    last = sum(losses[-10:]) / 10
    assert last < below, f"after {steps} steps on one batch the loss is {last:.4f}, not below {below:.4f}."
    if floor is not None:
        assert min(losses) >= floor - 1e-6, (
            f"the loss {min(losses):.6f} fell below the least possible {floor:.6f}: a leak."
        )
    return last


@torch.no_grad()
def em_never_falls(fit: Callable[[], list[float]], steps: int, slack: float = 1e-9) -> list[float]:
    """Σ log p before each of `steps` steps of EM and after the last: finite, and none below the one before.

    Returns: the totals.
    """
    totals = fit()
    assert len(totals) == steps + 1, (
        f"{len(totals)} totals for {steps} steps: one before each, one at the end."
    )
    values = torch.tensor(totals, dtype=torch.float64)
    assert values.isfinite().all(), "the likelihood is not finite."
    falls = values.diff()
    worst = int(falls.argmin())
    assert falls[worst] >= -slack, (
        f"step {worst + 1} lowers the log-likelihood by {-float(falls[worst]):.2e}."
    )
    return totals


@torch.no_grad()
def loss_at_start(model: Any, batch: Any, expected: float, tolerance: float) -> None:
    """The loss of a freshly made model is near its analytic value (relative `tolerance`)."""
    model.eval()
    loss = float(model.step(batch, "val"))
    assert abs(loss - expected) <= tolerance * abs(expected), (
        f"the loss at the start is {loss:.4f}, expected {expected:.4f} within {tolerance:.0%}."
    )


# --- Keeping and replaying ---------------------------------------------------------------------


@torch.no_grad()
def survives_saving(model: Any, call: Callable[[Any], Tensor], folder: Path) -> Any:
    """Saved by `lab.weights` in its own precision and loaded, the model answers `call` with the same bits.

    Returns: the loaded model.
    """
    from lab import weights

    model.eval()
    before = call(model)
    weights.save(folder, model, {}, model.dtype)
    loaded = weights.load(folder)
    assert type(loaded) is type(model), f"saved a {type(model).__name__}, loaded a {type(loaded).__name__}."
    assert not loaded.training, "a loaded model must be in eval mode."
    assert loaded is not model
    after = call(loaded)
    assert before.dtype == after.dtype and torch.equal(before, after), "the loaded model answers differently."
    return loaded


def loader(batch: Any, times: int = 2) -> Any:
    """Epochs of one batch, `times` over."""
    batches: Any = [batch] * times
    # of its own, as a datamodule's: it draws when it begins, and a resume begins it at another moment
    return torch.utils.data.DataLoader(batches, batch_size=None, generator=torch.Generator())


def trainer(epochs: int = 1, **options: Any) -> L.Trainer:
    """What trains a small model here, seeded as `lab fit` is."""
    from lab.training.callbacks import EpochSeed

    return L.Trainer(
        accelerator="cpu", max_epochs=epochs, logger=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0,
        **{"devices": 1, "callbacks": [EpochSeed(0)], "enable_checkpointing": False} | options,
    )  # fmt: skip


def fitted(model: Any, batch: Any, epochs: int = 1, ckpt_path: Path | None = None, **options: Any) -> Any:
    """The model after some epochs of two equal batches, validated on one after each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few workers and of short epochs
        trainer(epochs, **options).fit(
            model,
            loader(batch),
            loader(batch, 1),
            ckpt_path=ckpt_path,
            weights_only=True if ckpt_path else None,
        )
    return model


def resumes(make: Callable[[], Any], batch: Any, folder: Path, epochs: int = 4) -> None:
    """`epochs` at once are half of them and, in another object, the rest from the checkpoint: the same bits
    in the weights, the optimizers and whatever else a model keeps."""
    from lab.checkpoints import Checkpoint, SealedIO
    from lab.training.callbacks import EpochSeed

    half = Checkpoint(dirpath=folder, filename="{epoch}", every_n_epochs=epochs // 2, save_top_k=-1,
        save_on_train_epoch_end=True,
    )  # fmt: skip
    keep: dict[str, Any] = {
        "callbacks": [EpochSeed(0), half], "enable_checkpointing": True, "plugins": [SealedIO()],
    }  # fmt: skip
    whole = fitted(make(), batch, epochs, **keep)
    rest = fitted(make(), batch, epochs, folder / f"epoch={epochs // 2 - 1}.ckpt", plugins=[SealedIO()])
    for kept in ("parameters", "buffers"):
        ours, theirs = (dict(getattr(m, f"named_{kept}")()) for m in (whole, rest))
        for name in ours:
            assert torch.equal(ours[name].nan_to_num(), theirs[name].nan_to_num()), (
                f"resumed, {name} is not what it is after {epochs} epochs at once."
            )


def survives_a_life(model: Any, batch: Any, call: Callable[[Any], Tensor], folder: Path) -> None:
    """Tested, then fitted, then copied, pickled, saved and turned to another precision, all caches warm.

    `call`, which gives a model its input in its own precision, has the same answer from every copy. What
    the test made under inference mode must serve the training after it, and what is kept in one precision
    must not be taken for another.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few workers and of short epochs
        trainer().test(model, loader(batch), verbose=False)
    fitted(model, batch)
    model.eval()
    with torch.inference_mode():
        call(model)
    with torch.no_grad():
        before = call(model)
        copies = {
            "deepcopy": copy.deepcopy(model),
            "pickle": pickle.loads(pickle.dumps(model)),
            "saving": survives_saving(model, call, folder),
        }
        for how, other in copies.items():
            assert torch.equal(call(other), before), f"after {how} the model answers differently."
        new = type(model)(**model.hparams)
        new.load_state_dict(model.state_dict())
        for dtype in (torch.float64, torch.float32):
            warm, cold = call(model.to(dtype)), call(copy.deepcopy(new).to(dtype).eval())
            assert torch.equal(warm, cold), f"in {dtype} what was kept in another precision is used."


def reproducible(draw: Callable[[int], Any]) -> None:
    """`draw(seed)` gives the same bits for the same seed, others for another, whatever the global state."""
    torch.manual_seed(1)
    first = _tensor(draw(3))
    torch.manual_seed(2)
    state = torch.get_rng_state()
    second = _tensor(draw(3))
    assert torch.equal(first, second), "the same seed gives other samples."
    assert torch.equal(torch.get_rng_state(), state), (
        "sampling with its own seed disturbs the global generator."
    )
    assert any(not torch.equal(first, _tensor(draw(seed))) for seed in range(4, 8)), (
        "the seed changes nothing."
    )


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def trace_replays(run: Callable[[int], Any]) -> Any:
    """`run(seed)` gives a Trace that replays to the same bits, and has a caption for each step.

    Returns: the trace of seed 0.
    """
    first = run(0)
    again = run(0)
    assert len(first) > 0, "the trace has no steps."
    assert first.digest() == again.digest(), "the trace replays to other bits."
    assert _same(first.result, again.result), "the trace replays to another result."
    assert all(step.caption.strip() for step in first), "a step has no caption."
    assert all(step.values for step in first), "a step has nothing to draw."
    return first


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else torch.as_tensor(value)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return isinstance(b, Tensor) and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_same(u, v) for u, v in zip(a, b, strict=True))
    return bool(a == b)
