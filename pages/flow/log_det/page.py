"""i-ResNet log-det: det (I + J) by series, probes and roulette; what makes h + f(h) invertible."""

from collections.abc import Callable

from lab import ui
from modules.flow import conv_residual, iresnet, tangent
from pages.flow.log_det import conv, figures, lens
from pages.flow.log_det.room import INVERSE, KERNEL, ROOM, SERIES

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def estimates() -> None:
    result, spread = ui.compute(lens.sums, now), ui.compute(lens.probed, now)
    spread = lens.with_roulette(spread, lens.jacobian(now.J), now.p)
    film, counts = ui.film_of(now, lens.TERMS), range(1, lens.TERMS + 1)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.sums(result.exact, result.right, result.without, result.powers),
                alt="Partial sums of the series, and of two misreadings of it, against the exact value",
                key="sums", share=1.0, film=film,
            )  # fmt: skip
        with right:
            ui.figure(figures.estimates(result.exact, spread.names, spread.means, spread.sds),
                      alt="Random estimates with n terms: mean and standard deviation", key="estimates",
                      share=1.0, film=film)  # fmt: skip
    with stage.foot:
        film.bar(captions=[lens.caption(result, spread, n) for n in counts],
                 equations=[lens.equation(result, n) for n in counts])  # fmt: skip
    stage.metrics(
        {
            "log det(I + J)": f"{result.exact:.6f}",
            "‖J‖₂": f"{result.norm:.4f}",
            "Largest |eigenvalue|": f"{result.radius:.4f}",
            "Roulette sd": f"{float(spread.sds[-1, 0]):.4f}",
        }
    )
    with stage.below:
        ui.notice(
            "Few terms are biased whatever the number of probes; many probes only narrow the scatter, as one "
            "over the root of their number. The roulette draws how many terms to take and weighs each by "
            "one over the chance to be reached: no bias, more scatter. Its variance is finite if the square "
            f"of the largest eigenvalue, {result.radius**2:.3f}, is below {1 - now.p:.2f}. [UDL] 16.22 "
            f"prints "
            "the series without 1/k, and its trace[·]ᵏ can be read as a power of the trace."
        )
        finite = float(spread.sds[-1, 0]) < float("inf")
        ui.check(
            "Does the roulette's variance exist here?", ["yes", "no"], "yes" if finite else "no",
            f"{result.radius:.3f}² = {result.radius**2:.3f} against 1 − p = {1 - now.p:.2f}.",
            wrong={"yes": "A right mean is no finite variance: terms must fall faster than √(1 − p) a step.",
                   "no": "Weights grow as terms get rarer, but here the terms fall faster than those grow."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from modules.flow.iresnet import series

            J = torch.tensor({lens.jacobian(now.J).tolist()}, dtype=torch.float64)
            eye = torch.eye(len(J), dtype=torch.float64)
            result = [series(lambda v: v @ J.T, eye, n).sum() for n in (1, 3, 5)]
            result.append(torch.linalg.slogdet(eye + J).logabsdet)
            """,
            shows=[*(float(result.right[n - 1]) for n in (1, 3, 5)), result.exact],
        )
        ui.source(iresnet.series, iresnet.roulette, tangent.probes, references=ROOM.references)


def invertible() -> None:
    M = lens.plane_map(now.M)
    result = ui.compute(lens.applied, now)
    t, components, end = lens.along(M, result.scaled)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(figures.line(t, components, lens.on_line(result.zeros, end)), key="line", share=1.0,
                      alt="Both numbers of h + f(h) along a line through 0",
                      data={"t": t, "first": components[0], "second": components[1]})  # fmt: skip
        with right:
            ui.figure(figures.values(lens.singular(M), result.singular, result.eigen), key="values",
            share=1.0,
                      alt="Singular values before and after the rule, and moduli of eigenvalues")  # fmt: skip
    stage.metrics(
        {
            "Largest singular value": f"{float(result.singular.max()):.4f}",
            "Largest |eigenvalue|": f"{float(result.eigen.max()):.4f}",
            "Points that go to 0": str(len(result.zeros)),
            "Inverse of a test point": "not found" if result.steps is None else f"{result.steps} steps",
        }
    )
    stage.equation(
        rf"f(h) = -M^\top \tanh(M h),\qquad \mathrm{{Lip}} f \le \sigma_{{\max}}(M)^2 = "
        rf"{float(result.singular.max()) ** 2:.4f}",
        f"The line leads from 0 to ({float(end[0]):.3f}, {float(end[1]):.3f}) at t = 1.",
    )
    with stage.below:
        ui.notice(
            "Eigenvalues say what many applications of a matrix do in the end; how far one application can "
            "move two points apart is said by the largest singular value. [UDL] 16.3.7 bounds the former. "
            f"With this rule {len(result.zeros)} point{'s' * (len(result.zeros) != 1)} found go to 0: "
            + ("so h + f(h) cannot be inverted." if len(result.zeros) > 1 else "no two were found.")
        )
        ui.check(
            "Is h + f(h) sure to be invertible with these weights?", ["yes", "no"],
            "yes" if float(result.singular.max()) < 1 else "no",
            f"The largest singular value is {float(result.singular.max()):.4f}.",
            wrong={
                "yes": "Small entries are not enough: one singular value of 1 or more may fold the plane.",
                "no": "All singular values lie below 1: f is a contraction, so each value comes once.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.source(tangent.Lipschitz, lens.applied, lens.zeros, references=ROOM.references)


def convolution() -> None:
    result = ui.compute(conv.looked, now)
    film = ui.film_of(now, len(conv.SIDES))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.norms(conv.SIDES, result.scaled), key="norms", share=1.0, film=film,
                alt="Norm of the scaled convolution as a map of pictures, by their side, under both rules",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.way_back(result.errors, conv.LEAST, conv.MOST), key="back", share=1.0, film=film,
                alt="Error of the way back, step by step, under both rules",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=conv.captions(result), equations=conv.equations(result, now.c))
    by_flat = float(result.scaled[film.at, 0])
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

            kernel = torch.tensor({conv.kernel(now.K).tolist()}, dtype=torch.float64)
            result = [float(conv_norm(kernel[None, None], (side, side))) for side in (2, 8, 16)]
            """,
            shows=[float(result.whole[conv.SIDES.index(side)]) for side in (2, 8, 16)],
        )
        ui.source(tangent.conv_norm, conv_residual.ConvResidual, conv.looked, references=ROOM.references)


views: dict[str, Callable[[], None]] = {SERIES: estimates, INVERSE: invertible, KERNEL: convolution}
views[now.view]()
