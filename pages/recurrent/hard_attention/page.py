"""Hard attention, exactly: all paths with the bound that they give, and estimates of its gradient."""

from lab import ui
from modules.recurrent import hard_attention
from pages.recurrent.hard_attention import estimates, figures, lens
from pages.recurrent.hard_attention.room import BOUND, DRAWS, HALF, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def bound() -> None:
    found = ui.compute(lens.listed, now)
    film = ui.film_of(now, len(found.q), names=found.names)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.tables(found), key="tables", share=1.0, film=film,
                alt="A cell for each path: its probability, that of the caption, and their product",
                data={"path": found.names, "q": found.q.tolist(), "p": found.p.tolist()},
            )  # fmt: skip
        with right:
            ui.figure(figures.bounds(found), key="bounds", share=1.0,
                      alt="The lower bound of K draws over K, and log p(y | x)")  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=lens.equations(found))
    by_q, by_p, by_both = lens.best(found)
    with stage.below:
        ui.notice(
            f"The gap of one draw is {found.log_p - found.bound:.3f} nats, of K = {len(found.bounds)} "
            f"{found.log_p - float(found.bounds[-1]):.3f}. There is no KL term, because q(c | x) is "
            "posterior and prior at once: no VAE is built. With a posterior of its own, ∝ q p, the bound and "
            f"its KL term come to {lens.posterior_bound(found):.3f}, which is log p(y | x)."
        )
        products = (found.q * found.p).tolist()
        likeliest = sorted(range(len(products)), key=lambda n: -products[n])
        options = sorted({by_q, by_p, by_both, *likeliest[:3]})
        ui.check(
            "Which path has the largest product q(c | x) p(y | c)?",
            [found.names[n] for n in options],
            found.names[by_both],
            f"Its product is {products[by_both]:.3f}, of {sum(products):.3f} in all: P(c | x) P(y | c) of "
            "the best path is not p(y | x).",
            wrong={
                found.names[n]: f"Its q is {found.q[n]:.3f} and its p {found.p[n]:.3f}: the product is "
                f"{products[n]:.3f}."
                for n in options
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.recurrent.hard_attention import lens

            e, later = lens.scores({now.e!r}), lens.later_scores({now.later!r})
            p, p_later = lens.probabilities({now.p!r}), lens.later_probabilities({now.p_later!r})
            found = lens.listed({now.steps}, e, later, p, p_later)
            result = [*found.bounds.tolist(), found.log_p]
            """,
            shows=[*found.bounds.tolist(), found.log_p],
        )
        ui.source(
            hard_attention.lower_bound, hard_attention.log_marginal, hard_attention.tighter_bound,
            lens.listed, references=ROOM.references,
        )  # fmt: skip


def gradient() -> None:
    found = ui.compute(estimates.estimated, now)
    film = ui.film_of(now, len(DRAWS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.clouds(found, now.near), key="clouds", share=1.0, film=film,
                alt="Estimates by M draws in the plane of two scores, around the exact gradient",
            )  # fmt: skip
        with right:
            ui.figure(figures.variances(found), key="variances", share=1.0,
                      alt="Variance of an estimate by one draw, of each method")  # fmt: skip
    with stage.foot:
        film.bar(captions=estimates.draws_captions(found), equations=estimates.draws_equations(found))
    with stage.below:
        half = found.all[-1]
        ui.notice(
            "Any baseline that does not depend on the draw keeps the mean. Half soft, where a caption in two "
            "reads E ĉ in all steps, is biased: its mean by these scores is "
            f"{estimates.plain(half.mean[found.row])}, not {estimates.plain(found.exact)}. The gradient of "
            f"log p(y | x) is another again: {estimates.plain(found.likelihood)}. Weights that q and p share "
            "have a second term; here p is a table. The draws are independent: no Markov chain."
        )
        mean, other = "∂𝓛", "∂ log p(y | x)"
        ui.check(
            f"The mean of very many estimates ({now.method}) is …",
            [mean, other, "neither"],
            "neither" if now.method == HALF else mean,
            f"It is {estimates.plain(found.one.mean[found.row])}.",
            wrong={
                mean: "Half of the captions are not drawn: their gradient is that of another function.",
                other: "That is the log of a mean: no draw of a single path estimates it without bias.",
                "neither": "The baseline drops out of the mean, and so do words before the draw.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.recurrent.hard_attention import estimates, lens

            e, later = lens.scores({now.e!r}), lens.later_scores({now.later!r})
            p, p_later = lens.probabilities({now.p!r}), lens.later_probabilities({now.p_later!r})
            chosen = {now.method!r}, {now.by!r}, {now.seed}
            found = estimates.estimated({now.steps}, e, later, p, p_later, *chosen)
            result = [*found.exact.tolist(), *found.clouds[{now.method!r}][{film.at}, 0].tolist()]
            """,
            shows=[*found.exact.tolist(), *found.clouds[now.method][film.at, 0].tolist()],
        )
        ui.source(
            hard_attention.surrogate, hard_attention.reward, estimates.estimates, references=ROOM.references
        )


if now.view == BOUND:
    bound()
else:
    gradient()
