"""i-ResNet log-det: det (I + J) by series, probes and roulette; what makes h + f(h) invertible."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from modules.flow import conv_residual, iresnet, tangent
from pages.flow.log_det import conv, figures, lens

REFERENCES = [
    "Behrmann et al. 2019, Invertible residual networks, arXiv:1811.00995",
    "Chen et al. 2019, Residual flows, arXiv:1906.02735",
]
VIEWS = ["Series", "Inverse", "Kernel"]
PROBES = ["rademacher", "gaussian"]
J0, M0, K0 = "0.3 0.2; -0.1 0.4", "0.5 10; 0 0.5", "1 1 1; 1 1 1; 1 1 1"

stage = ui.stage("i-ResNet log-det", "A series of traces stands for the determinant of I + J.")
stage.scenes(
    {
        "One term": ui.scene("One term is the trace, 0.7: too much by 0.09. More terms, less bias.", n=1),
        "Five terms": ui.scene("Five terms lie on the dotted line; random probes scatter around it.", n=5),
        "As printed": ui.scene("Without 1/k, or with powers of the trace, the sum settles elsewhere.", n=12),
        "Gaussian probes": ui.scene("Gaussian noise scatters 7 times as wide as ±1 here.",
                                    noise="gaussian", n=5),
        "Nearly 1": ui.scene("Eigenvalues near 1: a slow series, and a roulette without a finite variance.",
                             J="0.9 0.2; 0 0.85", n=5),
        "Singular values": ui.scene("Largest singular value below 1: one zero, so the block can be inverted.",
                                    view="Inverse"),
        "Eigenvalues": ui.scene("Eigenvalues are below 1 already, and three points go to 0.",
                                view="Inverse", rule="eigenvalue"),
        "Flat kernel": ui.scene("Laid flat its norm is 0.9, as a map of pictures 2.49: the way back is lost.",
                                view="Kernel"),
        "One pixel": ui.scene("A kernel of one number: both norms agree, and each step brings x nearer.",
                              view="Kernel", K="0 0 0; 0 1 0; 0 0 0"),
    }
)  # fmt: skip


@ui.cached
def known(rows: list[list[float]]) -> lens.Sums:
    return lens.sums(lens.matrix(rows))


@ui.cached
def probed(rows: list[list[float]], noise: str, seed: int) -> lens.Spread:
    return lens.probed(lens.matrix(rows), noise, seed)


def estimated(rows: list[list[float]], noise: str, p: float, seed: int) -> lens.Spread:
    """All estimates; those by probes do not know of p."""
    ui.ahead(probed, *((rows, each, seed) for each in PROBES if each != noise), (rows, noise, seed + 1))
    return lens.with_roulette(probed(rows, noise, seed), lens.matrix(rows), p)


def estimates() -> None:
    with stage.rail:
        text = ui.text("J, rows between semicolons", J0, key="J", max_chars=120,
                       says=typed.square_commas)  # fmt: skip
        try:
            rows = typed.square(text, 1.5, 4)
        except UserError as error:
            ui.stop(str(error))
        noise = ui.choice("Probes", PROBES, key="noise", as_list=True)
        p = ui.slider("Roulette stops with p", 0.1, 0.9, 0.5, key="p", step=0.05)
        seed = ui.number("Seed of the probes", 0, 999, 0, key="seed")
    found, spread = known(rows), estimated(rows, noise, p, seed)
    counts = range(1, lens.TERMS + 1)
    film = ui.film(lens.TERMS, key="n", values=counts, default=3, label="Terms", seconds=0.8)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.sums(found.exact, found.right, found.without, found.powers, film.at + 1),
                alt="Partial sums of the series, and of two misreadings of it, against the exact value",
                key="sums", share=1.0, film=film,
                frames={"data.4.x": [[n] for n in counts], "data.4.y": found.right[:, None]},
                data={"n": counts, "series": found.right, "without 1/k": found.without,
                      "(tr J)^k": found.powers},
            )  # fmt: skip
        with right:
            fig, moves = figures.estimates(found.exact, spread.names, spread.means, spread.sds, film.at)
            ui.figure(fig, alt="Random estimates with n terms: mean and standard deviation", key="estimates",
                      share=1.0, film=film, frames=moves,
                      data={"estimate": spread.names, "mean": spread.means[:, film.at],
                            "sd": spread.sds[:, film.at]})  # fmt: skip
    with stage.foot:
        film.bar(captions=[lens.caption(found, spread, n) for n in counts],
                 equations=[lens.equation(found, n) for n in counts])  # fmt: skip
    stage.metrics(
        {
            "log det(I + J)": f"{found.exact:.6f}",
            "‖J‖₂": f"{found.norm:.4f}",
            "Largest |eigenvalue|": f"{found.radius:.4f}",
            "Roulette sd": f"{float(spread.sds[-1, 0]):.4f}",
        }
    )
    with stage.below:
        ui.notice(
            "Few terms are biased whatever the number of probes; many probes only narrow the scatter, as one "
            "over the root of their number. The roulette draws how many terms to take and weighs each by "
            "one over the chance to be reached: no bias, more scatter. Its variance is finite if the square "
            f"of the largest eigenvalue, {found.radius**2:.3f}, is below {1 - p:.2f}. [UDL] 16.22 prints the "
            "series without 1/k, and its trace[·]ᵏ can be read as a power of the trace."
        )
        finite = float(spread.sds[-1, 0]) < float("inf")
        ui.check(
            "Does the roulette's variance exist here?", ["yes", "no"], "yes" if finite else "no",
            f"{found.radius:.3f}² = {found.radius**2:.3f} against 1 − p = {1 - p:.2f}.",
            wrong={"yes": "A right mean is no finite variance: terms must fall faster than √(1 − p) a step.",
                   "no": "Weights grow as terms get rarer, but here the terms fall faster than those grow."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from modules.flow.iresnet import series

            J = torch.tensor({rows}, dtype=torch.float64)
            eye = torch.eye(len(J), dtype=torch.float64)
            result = [series(lambda v: v @ J.T, eye, n).sum() for n in (1, 3, 5)]
            result.append(torch.linalg.slogdet(eye + J).logabsdet)
            """,
            shows=[*(float(found.right[n - 1]) for n in (1, 3, 5)), found.exact],
        )
        ui.source(iresnet.series, iresnet.roulette, tangent.probes, references=REFERENCES)


def invertible() -> None:
    with stage.rail:
        text = ui.text("M, rows between semicolons", M0, key="M", max_chars=80,
                       says=typed.square_commas)  # fmt: skip
        try:
            rows = typed.square(text, 20, 2)
        except UserError as error:
            ui.stop(str(error))
        if len(rows) != 2 or not any(v for row in rows for v in row):
            ui.stop("This view takes two rows of two numbers, not all of them 0.")
        rule = ui.choice("Rule for the weights", lens.RULES, key="rule", as_list=True)
        c = ui.slider("Scaled to at most c", 0.1, 0.99, 0.9, key="c", step=0.01, disabled=rule == "none")
    M = lens.matrix(rows)
    found = lens.applied(M, rule, c)
    t, components, end = lens.along(M, found.scaled)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(figures.line(t, components, lens.on_line(found.zeros, end)), key="line", share=1.0,
                      alt="Both numbers of h + f(h) along a line through 0",
                      data={"t": t, "first": components[0], "second": components[1]})  # fmt: skip
        with right:
            ui.figure(figures.values(lens.singular(M), found.singular, found.eigen), key="values", share=1.0,
                      alt="Singular values before and after the rule, and moduli of eigenvalues")  # fmt: skip
    stage.metrics(
        {
            "Largest singular value": f"{float(found.singular.max()):.4f}",
            "Largest |eigenvalue|": f"{float(found.eigen.max()):.4f}",
            "Points that go to 0": str(len(found.zeros)),
            "Inverse of a test point": "not found" if found.steps is None else f"{found.steps} steps",
        }
    )
    stage.equation(
        rf"f(h) = -M^\top \tanh(M h),\qquad \mathrm{{Lip}} f \le \sigma_{{\max}}(M)^2 = "
        rf"{float(found.singular.max()) ** 2:.4f}",
        f"The line leads from 0 to ({float(end[0]):.3f}, {float(end[1]):.3f}) at t = 1.",
    )
    with stage.below:
        ui.notice(
            "Eigenvalues say what many applications of a matrix do in the end; how far one application can "
            "move two points apart is said by the largest singular value. [UDL] 16.3.7 bounds the former. "
            f"With this rule {len(found.zeros)} point{'s' * (len(found.zeros) != 1)} found go to 0: "
            + ("so h + f(h) cannot be inverted." if len(found.zeros) > 1 else "no two were found.")
        )
        ui.check(
            "Is h + f(h) sure to be invertible with these weights?", ["yes", "no"],
            "yes" if float(found.singular.max()) < 1 else "no",
            f"The largest singular value is {float(found.singular.max()):.4f}.",
            wrong={
                "yes": "Small entries are not enough: one singular value of 1 or more may fold the plane.",
                "no": "All singular values lie below 1: f is a contraction, so each value comes once.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.source(tangent.Lipschitz, lens.applied, lens.zeros, references=REFERENCES)


@ui.cached
def normed(rows: list[list[float]], c: float) -> conv.Norms:
    return conv.looked(rows, c)


def convolution() -> None:
    with stage.rail:
        text = ui.text("Kernel, rows between semicolons", K0, key="K", max_chars=80,
                       says=typed.square_commas)  # fmt: skip
        try:
            rows = typed.square(text, 20, 3)
        except UserError as error:
            ui.stop(str(error))
        if len(rows) != 3 or not any(v for row in rows for v in row):
            ui.stop("A kernel has three rows of three numbers, not all of them 0.")
        c = ui.slider("Scaled to at most c", 0.1, 0.99, 0.9, key="c", step=0.01)
    found = normed(rows, c)
    film = ui.film(len(conv.SIDES), key="side", values=conv.SIDES, default=8, label="Side", seconds=0.8)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.norms(conv.SIDES, found.scaled, film.at), key="norms", share=1.0, film=film,
                alt="Norm of the scaled convolution as a map of pictures, by their side, under both rules",
                frames={"data.2.x": [[side] * 2 for side in conv.SIDES], "data.2.y": found.scaled},
                data={"side": conv.SIDES, **dict(zip(conv.RULES, found.scaled.T, strict=True))},
            )  # fmt: skip
        with right:
            fig, moves = figures.way_back(found.errors, film.at, conv.LEAST, conv.MOST)
            ui.figure(fig, key="back", share=1.0, film=film, frames=moves,
                      alt="Error of the way back, step by step, under both rules",
                      data=dict(zip(conv.RULES, found.errors[film.at], strict=True)))  # fmt: skip
    with stage.foot:
        film.bar(captions=conv.captions(found), equations=conv.equations(found, c))
    by_flat = float(found.scaled[film.at, 0])
    with stage.below:
        ui.notice(
            "A padded convolution adds up to nine shifted pictures, and its norm grows with their size up to "
            "the largest gain of any wave. The flat kernel's norm knows nothing of it: of nine equal numbers "
            "it may be a third. The project's residual convolutions are scaled by the norm of the map. A "
            "norm below 1 is enough for the way back, not needed: some longer maps can be undone too."
        )
        ui.check(
            "Scaled by the norm of the flat kernel: is the convolution a contraction of these pictures?",
            ["yes", "no"], "yes" if by_flat < 1 else "no", f"As a map its norm is {by_flat:.4f}.",
            wrong={"yes": "The flat kernel's norm bounds one patch: patches overlap and add up.",
                   "no": "Overlaps could add up to more than the flat norm: with this kernel they do not."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from modules.flow.tangent import conv_norm

            kernel = torch.tensor({rows}, dtype=torch.float64)
            result = [float(conv_norm(kernel[None, None], (side, side))) for side in (2, 8, 16)]
            """,
            shows=[float(found.whole[conv.SIDES.index(side)]) for side in (2, 8, 16)],
        )
        ui.source(tangent.conv_norm, conv_residual.ConvResidual, conv.looked, references=REFERENCES)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
dict(zip(VIEWS, (estimates, invertible, convolution), strict=True))[view]()
