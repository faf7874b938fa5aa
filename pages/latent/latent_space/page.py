"""Latent space: where a model puts digits, and what it makes of any place."""

from typing import Any

from datamodules import fetch
from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab import ui
from lab.figures import basic
from lab.lenses import latent
from lab.ui.plane import plane as map_of_plane
from modules.latent.vae import LOG_2PI, VAE, gaussian_kl, reparameterize
from pages.latent.latent_space import figures

DRAWN, DIGITS, IMAGES = "drawn by MADE", "small digits", "MNIST"
EXTENT, GRID, STEPS, COUNT, FEW = 3.5, 29, 11, 500, 300
SIZES = [1, 2, 5, 10, 20, 50, 100, 500]
check: tuple[str, list[Any], Any, str]  # question, options, answer, why

ui.header("Latent space", "A model that gives every digit a place in a small space, and every place a digit.")


# --- What is computed once ---------------------------------------------------------------------


@ui.cached
def examples(kind: str, side: int) -> tuple:
    """Pictures and labels that no model of these was trained on."""
    if kind == DRAWN:
        return latent.drawn_digits(ui.load("made-mnist"), ui.load("cnn-mnist"), FEW)
    if kind == IMAGES:
        images = MNIST(binarize="none")
        images.setup("fit")
        return latent.held_out([images.val_set], COUNT)
    data = Digits(binarize="none")
    data.setup()
    small, classes = latent.held_out([data.val_set, data.test_set], COUNT)
    return (latent.in_mnist_frame(small) if side == 28 else small), classes


def kinds(side: int) -> list[str]:
    """What the dots can be; MNIST itself only where its files are."""
    here = any(row["present"] for row in fetch.status() if row["dataset"] == "MNIST")
    return [DRAWN, DIGITS, *([IMAGES] if here else [])] if side == 28 else [DIGITS]


@ui.cached
def overview(name: str, kind: str) -> latent.Overview:
    """Codes of the examples and the plane through them."""
    model = ui.load(name)
    return latent.overview(model, latent.as_input(model, examples(kind, latent.side_of(model))[0]))


@ui.cached
def tiles(name: str, kind: str):
    return latent.decode_plane(ui.load(name), overview(name, kind).plane, EXTENT, GRID)


@ui.cached
def exact(name: str, x):
    return latent.grid_posterior(ui.load(name), x)


@ui.cached
def guess(name: str, x, beta: float, seed: int):
    """The best q(z|x) for this one digit."""
    model = ui.load(name)
    return latent.refit(model, x, beta, latent.normal_noise(16, model.latent_dim, seed))


@ui.cached
def climb(name: str, x, seed: int):
    """L_S for several S, effective sample size of 500 weights, standard error of L_500."""
    weights = latent.importance(ui.load(name), x, 2000, seed)
    return (
        latent.weighted_bounds(weights, SIZES),
        latent.effective_sample_size(weights) / 4,
        latent.error(weights),
    )


# --- Controls --------------------------------------------------------------------------------------

left, right = ui.columns(2)
with left:
    name = ui.experiment("Model", family="latent", key="model", default="vae2d-mnist")
model = ui.load(name)
side, k = latent.side_of(model), model.latent_dim
with right:
    kind = ui.choice(
        "Examples",
        kinds(side),
        key="examples",
        help="The dots: digits that the model has not been trained on. Those that made-mnist draws and "
        "cnn-mnist names with certainty need no file; MNIST's own (validation split) are offered where the "
        "data is; scikit-learn's small digits are strange to a model of MNIST: upright and thick.",
    )
view = ui.choice("View", ["Plane", "Path", "Traversal", "Sums", "ELBO"], key="view", default="Plane")
pictures, labels = examples(kind, side)
seen = overview(name, kind)
chosen = latent.examples(pictures, labels)
left, right = ui.columns(2)
with left:
    picture_a = ui.draw("Digit A", key="a", size=side, examples=chosen)
with right:
    picture_b = ui.draw("Digit B", key="b", size=side, examples=[*chosen[1:], chosen[0]])
x_a, x_b = latent.as_input(model, picture_a), latent.as_input(model, picture_b)
code_a, code_b = latent.codes(model, x_a)[0], latent.codes(model, x_b)[0]
norm_a, norm_b = code_a.norm().item(), code_b.norm().item()
ui.divider()


def vector(values, limit: int = 3) -> str:
    """Numbers of a code, the first few of many."""
    shown = [f"{v:.2f}" for v in values[:limit].tolist()]
    return "(" + ",\\ ".join(shown + ([r"\dots"] if len(values) > limit else [])) + ")"


def nearest(code, count: int = 6):
    """The examples nearest to a code, drawn."""
    index, distance = latent.neighbours(seen.means, code, count)
    classes = labels[index].tolist()
    fig = basic.images(pictures[index], columns=count, labels=[f"{d:.2f}" for d in distance.tolist()])
    ui.caption("The nearest examples, and their distance in code space")
    ui.figure(
        fig,
        alt=f"The {count} examples nearest to the code: {', '.join(map(str, classes))}",
        data={"example": index, "class": classes, "distance": distance},
        key="nearest",
    )
    return classes


# --- Plane: scatter, and decode under the pointer --------------------------------------------------

if view == "Plane":
    left, right = ui.columns(2)
    with left:
        show_tiles = ui.toggle("Decoded digits behind the dots", True, key="tiles")
    with right:
        show_exact = k == 2 and ui.toggle(
            "Exact posterior of A",
            False,
            key="posterior",
            help="p(z|x) by Bayes' rule on a grid of the plane.",
        )
    path = latent.walk(code_a, code_b, STEPS)
    place = map_of_plane(
        tiles(name, kind),
        key="z",
        alt=(
            f"{len(labels)} examples ({kind}) placed by {name}, coloured by class; the picture under the "
            f"pointer is decoded"
        ),
        extent=EXTENT,
        names=seen.plane.names,
        points=seen.plane.place(seen.means),
        labels=labels,
        marks=[
            {
                "line": latent.ellipse(seen.plane, code_a, model.encode_parameters(x_a)[1][0]),
                "color": "#0072B2",
            },
            {"line": seen.plane.place(path), "color": "#8A929C"},
            {"name": "A", "at": seen.plane.place(code_a), "color": "#0072B2"},
            {"name": "B", "at": seen.plane.place(code_b), "color": "#D55E00"},
        ],
        show_tiles=show_tiles,
        density=exact(name, x_a).density if show_exact else None,
        density_reach=5.0,
        data={
            "u": seen.plane.place(seen.means)[:, 0],
            "v": seen.plane.place(seen.means)[:, 1],
            "class": labels,
        },
    )
    ui.caption(
        f"Point anywhere: the small picture is decoded at the pointer. Click to hold a place. "
        f"The dots are {len(labels)} examples ({kind}), one colour a class; the blue outline is "
        f"twice the standard "
        f"deviation of the encoder's answer for A."
    )
    selected = place is not None
    code = seen.plane.at(*place) if place else code_a
    left, right = ui.columns([1, 3])
    with left:
        what = "Decoded at the selected place" if selected else "Decoded at A's place"
        ui.caption(what)
        ui.figure(basic.image(latent.decoded(model, code[None])[0], height=240), alt=what, key="decoded")
    with right:
        classes = nearest(code)
    squares, half_log = code.square().sum().item(), 0.5 * k * LOG_2PI
    ui.equation(
        rf"z={vector(code)},\quad\log p(z)=-\tfrac12\lVert z\rVert^2-\tfrac K2\log 2\pi"
        rf"=-\tfrac12\cdot{squares:.3f}-{half_log:.3f}={model.prior.log_prob(code).item():.3f}",
        "z is the selected place (the code of A while none is); p(z) = N(0, I) is the prior that "
        "samples are "
        f"drawn from. The plane holds {seen.plane.share:.0%} of the codes' variance.",
    )
    ui.notice(
        "Neighbouring places decode to similar digits, so classes form continents and their borders are "
        "shapes between two digits. The prior's middle is crowded and its edge is empty: training pulled the "
        "codes towards N(0, I). "
        + (
            "With more than two dimensions the plane is only a slice: dots of other depth fall on it too."
            if k > 2
            else "Two numbers cannot hold everything, so some classes overlap and their digits blur."
        )
    )
    question = (
        "Does the code that is decoded here lie closer to the origin than a typical draw from the prior?"
    )
    typical = latent.typical_length(k)
    check = (
        question,
        ["closer", "farther"],
        "closer" if code.norm().item() < typical else "farther",
        f"Its length is {code.norm().item():.2f}; draws from N(0, I) have {typical:.2f} on average.",
    )

# --- Path: between two own inputs ------------------------------------------------------------------

elif view == "Path":
    step = ui.stepper(STEPS, key="step", default=STEPS // 2)
    t, ts = step / (STEPS - 1), [i / (STEPS - 1) for i in range(STEPS)]
    walks = latent.walks(code_a, code_b, STEPS)
    ui.figure(
        figures.contact_sheet(
            latent.decoded(model, walks.codes),
            ["linear", "spherical"],
            [f"{v:.1f}" for v in ts],
            step,
            xlabel="t",
        ),
        alt=f"{STEPS} digits on the way from A to B, in a straight line and on an arc; t = {t:.1f} is framed",
        key="walks",
    )
    ui.figure(
        figures.norms(ts, walks.lengths, latent.typical_length(k), t),
        alt="Length of the code along both walks, against the typical length of a draw from the prior",
        data={"t": ts, **walks.lengths},
        key="norms",
    )
    straight, arc = (walks.lengths[kind][step].item() for kind in ("linear", "spherical"))
    w = walks.omega
    ui.equation(
        rf"\begin{{aligned}}z_{{\text{{linear}}}}&={1 - t:.1f}\,z_A+{t:.1f}\,z_B,&\lVert z\rVert&"
        rf"={straight:.3f}\\"
        rf"z_{{\text{{spherical}}}}&=\tfrac{{\sin({1 - t:.1f}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,z_A"
        rf"+\tfrac{{\sin({t:.1f}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,z_B,"
        rf"&\lVert z\rVert&={arc:.3f}\end{{aligned}}",
        f"ω = {w:.3f} is the angle between z_A, of length {norm_a:.3f}, and z_B, of length {norm_b:.3f}, "
        "both answered by the encoder for the two drawn digits."
        + ("" if walks.spherical else " They point the same or opposite ways, so both walks are the line."),
    )
    ui.notice(
        "Both ends are your own digits as the model rebuilds them. The straight walk cuts through the inside "
        f"of the ball: in {k} dimensions draws from the prior have length "
        f"{latent.typical_length(k):.2f}, and "
        "hardly any are as short as the middle of the line. The arc keeps the length; the more "
        "dimensions, the "
        "more that matters."
    )
    half = {kind: walks.lengths[kind][STEPS // 2].item() for kind in walks.lengths}
    longer = "spherical" if half["spherical"] > half["linear"] + 5e-4 else "neither"
    check = (
        "Halfway, at t = 0.5, which walk's code is longer?",
        ["linear", "spherical", "neither"],
        longer,
        f"Linear {half['linear']:.3f}, spherical {half['spherical']:.3f}.",
    )

# --- Traversal: one dimension at a time ------------------------------------------------------------

elif view == "Traversal":
    rows = ui.slider(
        "Dimensions shown", 1, min(k, 16), min(k, 8), key="rows", help="Those with most KL first."
    )
    dims, values = seen.order[:rows], [-3.0, -2.25, -1.5, -0.75, 0.0, 0.75, 1.5, 2.25, 3.0]
    grid = latent.traverse(code_a, values, dims)
    names = [f"z{figures.subscript(d)}" for d in dims]
    clicked = ui.clickable(
        figures.contact_sheet(
            latent.decoded(model, grid), names, [f"{v:+.2f}" for v in values], xlabel="value", clickable=True
        ),
        key="cell",
        alt=f"Digit A decoded with one dimension changed at a time; a row each for {', '.join(names)}",
        mark=True,
    )
    row, column = clicked["customdata"][:2] if clicked else (0, len(values) - 1)
    code = grid[row, column]
    change = latent.decoded(model, code[None])[0] - latent.decoded(model, code_a[None])[0]
    left, right = ui.columns([1, 1])
    with left:
        ui.caption(
            f"Pixels that change: {names[row]} from {code_a[dims[row]].item():.2f} to {values[column]:+.2f}"
        )
        ui.figure(
            basic.image(change, scale="diverging", height=320),
            alt="Decoded with the changed dimension minus decoded at A's code",
            key="change",
        )
    parts = latent.bound(model, x_a, latent.normal_noise(1, k, 0))
    with right:
        ui.caption("KL of the largest dimensions: what the code says about this digit")
        ui.figure(
            figures.dimensions(parts.kl, seen.kl, seen.order[:16], row),
            alt="KL in nats of each latent dimension, for digit A and on average over the examples",
            data={
                "dimension": [d + 1 for d in seen.order],
                "A": parts.kl[seen.order],
                "mean": seen.kl[seen.order],
            },
            key="kl",
        )
    d = dims[row]
    m, log_var = parts.mean[d].item(), parts.log_var[d].item()
    variance = parts.log_var.exp()[d].item()
    ui.equation(
        rf"\mathrm{{KL}}_{{{d + 1}}}=\tfrac12(\sigma^2+\mu^2-1-\log\sigma^2)"
        rf"=\tfrac12({variance:.4f}+{m * m:.4f}-1-({log_var:.4f}))={parts.kl[d].item():.4f}",
        f"μ = {m:.4f} and σ² = {variance:.4f} are the encoder's answer for digit A in dimension "
        f"{d + 1}; σ² = 1 and μ = 0 "
        "would say nothing, at no cost.",
    )
    ui.notice(
        f"{seen.active} of {k} dimensions are active: their mean moves with the digit. The others "
        f"stay at the "
        "prior, and their rows show the same digit all along. No dimension was told what to mean; slant, "
        "width or loops appear because they pay."
    )
    options = sorted({seen.active, max(1, k // 2), k, max(0, seen.active - 1 - k // 5)})
    check = (
        "How many dimensions have a mean that varies by more than 0.01 over the examples?",
        options,
        seen.active,
        f"The largest mean KL is {seen.kl.max().item():.2f} nats, the smallest {seen.kl.min().item():.4f}.",
    )

# --- Sums: attribute arithmetic ---------------------------------------------------------------------

elif view == "Sums":
    left, middle, right = ui.columns(3)
    with left:
        minus = ui.choice("Take away", list(range(10)), key="minus", default=0)
    with middle:
        plus = ui.choice("Add", list(range(10)), key="plus", default=6)
    with right:
        strength = ui.slider("Strength s", -1.0, 2.0, 1.0, key="strength", step=0.25)
    arrow = latent.exchange(seen.means, labels, minus, plus)
    strengths = [-1 + 0.25 * i for i in range(13)]
    line = latent.along(code_a, arrow, strengths)
    at = strengths.index(strength)
    ui.figure(
        figures.contact_sheet(
            latent.decoded(model, line)[None], ["A"], [f"{v:g}" for v in strengths], at, xlabel="s"
        ),
        alt=(
            f"Digit A plus s times the mean {plus} minus the mean {minus}, s from −1 to 2; s = "
            f"{strength:g} is framed"
        ),
        key="sum",
    )
    classes = nearest(line[at])
    ui.equation(
        rf"\begin{{aligned}}z_A+s\,(\bar z_{{{plus}}}-\bar z_{{{minus}}})"
        rf"&={vector(code_a)}+{strength:g}\cdot{vector(arrow)}\\&={vector(line[at])}\end{{aligned}}",
        f"z̄ is the mean code of a class among the examples; the difference has length "
        f"{arrow.norm().item():.3f}.",
    )
    ui.notice(
        "The difference of two mean codes is a direction that turns one kind of digit into the "
        "other, also for a "
        "digit that is neither. Where the decoder bends, the same arrow means something else: that "
        "is the limit "
        "of arithmetic with codes."
    )
    check = (
        f"At s = {strength:g}, which class has the example nearest to the sum?",
        list(range(10)),
        classes[0],
        "The first of the nearest examples above.",
    )

# --- ELBO: the bound of the drawn digit, in its parts -------------------------------------------------

else:
    left, middle, right = ui.columns([3, 1, 2])
    with left:
        beta = ui.slider("β, the weight of the KL", 0.0, 50.0, 1.0, key="beta", step=0.5)
    with middle:
        seed = ui.number("Noise seed", 0, 999, 0, key="seed")
    with right:
        refit = ui.toggle(
            "Best q for this digit at this β", False, key="refit",
            help=("Instead of the encoder's answer: 80 steps of gradient ascent on μ and σ, for this "
            "digit alone."),
        )  # fmt: skip
    noise = latent.normal_noise(16, k, seed)
    q = guess(name, x_a, beta, seed) if refit else None
    parts = latent.bound(model, x_a, noise, q)
    bounds, effective, error = climb(name, x_a, seed)
    evidence = exact(name, x_a).log_evidence if k <= 2 else None
    one, two, three = ui.columns(3)
    with one:
        ui.caption("What the model sees")
        ui.figure(
            basic.image(latent.pictures_of(model, x_a)[0], height=260), alt="Digit A as input", key="input"
        )
    with two:
        ui.caption("Decoded at the mean of q")
        ui.figure(
            basic.image(latent.decoded(model, parts.mean[None])[0], height=260),
            alt="Digit A rebuilt",
            key="rec",
        )
    with three:
        ui.caption("Where the nats go: −log p of each pixel")
        ui.figure(
            basic.image(-latent.pictures_of(model, parts.pixels[None])[0], scale="diverging", height=260),
            alt="Cost of each pixel in nats, blue where it costs",
            key="pixels",
        )
    total, rec = parts.kl.sum().item(), parts.reconstruction
    rows = ["−ELBO", f"β = {beta:g}"]
    ui.figure(
        figures.costs(rows, [-rec, -rec], [total, beta * total]),
        alt=(
            f"The bound as a cost: reconstruction {-rec:.2f} nats and KL {total:.2f} nats, and the "
            f"same with KL × {beta:g}"
        ),
        data={"row": rows, "reconstruction": [-rec, -rec], "kl": [total, beta * total]},
        key="costs",
    )
    ui.equation(
        rf"\begin{{gathered}}\underbrace{{{rec:.3f}}}_{{E_q\log p(x|z)}}"
        rf"-\underbrace{{{total:.3f}}}_{{\mathrm{{KL}}}}"
        rf"={parts.elbo:.3f}=\mathrm{{ELBO}}\\ L_{{500}}\approx{bounds[-1]:.3f}\pm{error:.3f}"
        + (rf"\qquad\log p(x)={evidence:.2f}" if evidence is not None else "")
        + r"\end{gathered}",
        "In expectation ELBO ≤ L₅₀₀ ≤ log p(x). The first term is a mean over 16 draws of z, the KL "
        "is exact. "
        f"L₅₀₀ is the mean of four estimates with 500 draws of the encoder each, worth "
        f"{effective:.0f} equally "
        "weighted ones; ± is its standard error, too small where few draws carry all the weight."
        + (" log p(x) is summed over a grid of the plane." if evidence is not None else ""),
    )
    ui.equation(
        rf"E_q\log p(x|z)-\beta\,\mathrm{{KL}}={rec:.3f}-{beta:g}\cdot{total:.3f}"
        rf"={parts.objective(beta):.3f}",
        "What a β-VAE maximises. Below β = 1 it is no bound: it can exceed log p(x).",
    )
    left, right = ui.columns(2)
    with left:
        ui.caption("KL of each dimension, the largest first")
        ui.figure(
            figures.dimensions(parts.kl, seen.kl, seen.order[:16]),
            alt="KL in nats of each latent dimension, for digit A and on average over the examples",
            data={
                "dimension": [d + 1 for d in seen.order],
                "A": parts.kl[seen.order],
                "mean": seen.kl[seen.order],
            },
            key="kl",
        )
    with right:
        ui.caption("More draws of the encoder, a tighter bound")
        ui.figure(
            figures.staircase(SIZES, bounds, evidence),
            alt=f"The bound L_S climbs from {bounds[0]:.2f} at one sample to {bounds[-1]:.2f} nats at 500",
            data={"S": SIZES, "L_S": bounds},
            key="staircase",
        )
    ui.notice(
        "The bound buys pixels with nats of code: every dimension that says something about this digit costs "
        "KL, and is worth it as long as the reconstruction gains more. Refit q and raise β: dimension by "
        "dimension the code falls silent, and the picture turns into an average. The box is no digit: see "
        "what it costs."
    )
    fall = f"it falls by {total:.2f} nats"
    check = (
        "q stays as it is, and β grows by 1. What happens to the objective?",
        ["it does not change", fall, f"it falls by {-rec:.2f} nats", f"it rises by {total:.2f} nats"],
        fall,
        "Each unit of β charges the KL once more; the reconstruction does not know β.",
    )

ui.presets(
    {
        "From a 1 to an 8": {"view": "Path", "a": "1", "b": "8", "step": 5},
        "Exact posterior": {
            "model": "vae2d-mnist",
            "view": "Plane",
            "posterior": True,
            "tiles": False,
            "a": "4",
        },
        "Many dimensions": {"model": "vae-mnist", "view": "Traversal", "rows": 12},
        "A 0 with the loop of a 6": {"view": "Sums", "a": "0", "minus": 0, "plus": 6, "strength": 1.0},
        "β = 50: a code falls silent": {
            "model": "vae-mnist",
            "view": "ELBO",
            "beta": 50.0,
            "refit": True,
        },
        "No digit at all": {"view": "ELBO", "a": "box", "beta": 1.0, "refit": False},
    }
)
ui.check(*check)
ui.source(
    VAE.encode_parameters, reparameterize, VAE.decode, gaussian_kl, VAE.elbo_parts, VAE.iwae, latent.slerp,
    latent.refit, latent.grid_posterior,
    references=[
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "Burda, Grosse and Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519",
        "Higgins et al. 2017, β-VAE",
        "White 2016, Sampling Generative Networks, arXiv:1609.04468",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
    ],
)  # fmt: skip
