"""Information bars: entropy, cross-entropy and KL as surprise; Jensen's inequality."""

from lab import ui
from lab.errors import UserError
from lab.figures import stacks
from lab.lenses import typed
from modules.latent import information
from pages.latent.information import figures, lens
from pages.latent.information.room import ROOM

JENSEN = {"view": "Jensen"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Avoidable": ui.scene("Orange above grey, less grey above orange: 0.360 nats too much, the red bar."),
        "Other way": ui.scene(
            "Swapped, the same two pay 0.395: KL is not symmetric.", p="0.2 0.2 0.6", q="0.5 0.3 0.2"
        ),
        "Ruled out": ui.scene(
            "Q rules out what P draws: an infinite bar. The other way it is ln 2.", p="1 1 2", q="1 1 0"
        ),
        "Right belief": ui.scene("Q is P: no red bar is left, the entropy stays.", lam=0.0),
        "Lemma 6.2": ui.scene(
            "Halfway KL is 0.087: under the chord, but above the printed bound 0.", p="1 1", q="1 9", lam=0.5
        ),
        "Jensen": ui.scene(
            "Six values of a die: the mean of the logs lies 0.156 under the log of the mean.", **JENSEN
        ),
        "Constant": ui.scene("Drawn together to one value the gap is gone.", t=0.0, **JENSEN),
        "Lognormal": ui.scene(
            "Quantiles of a lognormal with σ = 1: the gap is near σ²/2.", law="lognormal", **JENSEN
        ),
    }
)


def weights(label: str, default: str, key: str) -> list[float]:
    """Typed weights as probabilities; what cannot be used is named."""
    text = ui.text(label, default, key=key, max_chars=80)
    try:
        result, texts = typed.distribution(text, lens.SYMBOLS)
    except UserError as error:
        ui.stop(str(error))
    if texts:
        ui.warning(texts)
    return result


def bars_view() -> None:
    with stage.rail:
        p, q = lens.evened(
            weights("P, weights", "0.5 0.3 0.2", "p"), weights("Q, weights", "0.2 0.2 0.6", "q")
        )
    film = ui.film(len(lens.SHARES), key="lam", values=lens.SHARES, default=1.0, label="λ =", seconds=0.25)
    bars = lens.bars(p, q)
    at, top, reach, parts = film.at, figures.top_of(bars), figures.reach(bars), figures.parts(bars)
    forward, backward = float(bars.forward[at]), float(bars.backward[at])
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.surprise(bars, at),
                key="surprise",
                share=1.0,
                film=film,
                frames={"data.0.y": lens.surprises(bars.q, top)},
                alt="The surprise of each symbol under Q and under P, as wide as P",
                data={"symbol": range(1, len(p) + 1), "P": p, "Q": bars.q[at]},
            )
        with right:
            ui.figure(
                stacks.stacks(figures.COLUMNS, parts, at=at, reach=reach),
                key="bars",
                share=1.0,
                film=film,
                frames=stacks.turning(parts, (), reach),
                alt="Entropies and the divergences above them",
                data={
                    "of": figures.COLUMNS,
                    "nats": [bars.h_p[at], bars.h_pq[at], bars.h_q[at], bars.h_qp[at]],
                },
            )
    with stage.foot:
        film.bar(captions=lens.captions(bars), equations=lens.equations(bars))
    larger = (
        "the same"
        if abs(forward - backward) < 1e-9 or forward == backward
        else ("KL(P‖Q)" if forward > backward else "KL(Q‖P)")
    )
    with stage.below:
        ui.equation(
            lens.convexity(bars, at),
            "KL is convex: mixing Q with P never costs more than its share "
            "λ. [BB] lemma 6.2(4) prints the bound with KL(P‖Q) twice; with P = Q there it would be 0.",
        )
        ui.notice(
            "Each symbol is as wide as P and as high as its surprise, so areas are what is paid: "
            "grey the entropy H(P), orange the cross-entropy H(P,Q). λ is the share of what is typed as Q, "
            "the rest is P. A zero in P costs nothing, whatever Q thinks of it; a zero in Q where P draws "
            "costs everything."
        )
        ui.check(
            "Which is larger, KL(P‖Q) or KL(Q‖P)?",
            ["KL(P‖Q)", "KL(Q‖P)", "the same"],
            larger,
            f"They are {forward:.3f} and {backward:.3f} nats.",
            wrong={
                "KL(P‖Q)": "It weighs by P: where P is small, what Q has wrong hardly counts.",
                "KL(Q‖P)": "It weighs by Q: where Q is small, what P has more hardly counts.",
                "the same": "A divergence is no distance: both ways are equal only by chance, or at Q = P.",
            },
            veils=("bars", "equation"),
        )
        ui.program(
            f"""
            import torch
            from modules.latent.information import cross_entropy, entropy, kl

            p, q = torch.tensor([{p.tolist()}, {bars.q[at].tolist()}], dtype=torch.float64)
            result = [float(v) for v in (entropy(p), cross_entropy(p, q), kl(p, q), kl(q, p))]
            """,
            shows=[float(bars.h_p[at]), float(bars.h_pq[at]), forward, backward],
        )
        ui.source(information.entropy, information.cross_entropy, information.kl, references=ROOM.references)


def jensen_view() -> None:
    with stage.rail:
        name = ui.choice("Values", lens.LAWS, key="law", as_list=True)
        own, sigma = [1.0], 1.0
        if name == "own":
            text = ui.text("Positive numbers", "1 2 4 8", key="own", max_chars=120)
            own, texts = typed.named(text, 40, 1e-3, 1e3)
            if texts:
                ui.warning(texts)
            if not own:
                ui.stop("Give at least one positive number, such as 1 2 4.")
        if name == "lognormal":
            sigma = ui.slider("σ of log y", 0.1, 1.5, 1.0, key="sd", step=0.1)
    film = ui.film(len(lens.SPREADS), key="t", values=lens.SPREADS, default=1.0, label="t =", seconds=0.2)
    result = lens.jensen(lens.values(name, own, sigma))
    gap = float(result.gap[film.at])
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.curve(result, film.at),
                key="curve",
                share=1.0,
                film=film,
                frames=figures.turning(result),
                alt="Values on the logarithm's curve, and the gap above their mean",
                data={"y": result.y[film.at]},
            )
        with right:
            ui.figure(
                figures.gaps(result, film.at),
                key="gaps",
                share=1.0,
                film=film,
                frames={f"layout.shapes.0.x{end}": lens.SPREADS for end in (0, 1)},
                alt="Jensen's gap against the spread",
                data={"t": lens.SPREADS, "gap": result.gap},
            )
    with stage.foot:
        film.bar(
            captions=["t draws the values together to their mean: at 0 all are equal."] * film.count,
            equations=lens.jensen_equations(result),
        )
    options = ["below 0.01", "0.01 to 0.2", "above 0.2"]
    with stage.below:
        ui.notice(
            "The logarithm bends down, so the mean of logs lies under the log of the mean, and is equal only "
            "if nothing varies. With y = p(x,z)/q(z) this is the evidence lower bound: E log y is the ELBO, "
            "log E y is log p(x), and the gap is a KL."
        )
        ui.check(
            "How large is the gap here, in nats?",
            options,
            options[(gap >= 0.01) + (gap > 0.2)],
            f"It is {abs(gap):.4f}.",
            wrong=(
                "The logarithm bends: where values spread, the mean of logs falls behind.",
                "At first the gap grows as the square of the relative spread: here it is smaller, or larger.",
                "Of values that lie near each other the logarithm is nearly straight.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            import torch
            from modules.latent.information import jensen_gap
            from pages.latent.information.lens import values

            y = values({name!r}, {own}, {sigma})
            y = y.mean() + {film.value} * (y - y.mean())
            result = float(jensen_gap(y, torch.full_like(y, 1 / len(y))))
            """,
            shows=gap,
        )
        ui.source(information.jensen_gap, lens.jensen, references=ROOM.references)


views = {"Bars": bars_view, "Jensen": jensen_view}
with stage.rail:
    view = ui.choice("View", list(views), key="view")
views[view]()
