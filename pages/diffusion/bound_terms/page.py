"""Bound, term by term: where the bits of a picture are spent."""

import math

from lab import ui
from lab.lenses import bound_terms
from lab.lenses.diffusion import SAID
from modules.diffusion import bound
from pages.diffusion.bound_terms import figures, lens
from pages.diffusion.bound_terms.room import ROOM

MODEL, BOUND = "ddpm-digits", "vlb-digits"
VARIANCE, MODELS = BESIDE = ("other σ²", "other models")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Bits by t": ui.scene("Most bits are spent at small t, where the fine detail is told."),
        "σ² = β̃": ui.scene("The posterior's variance leaves no room for the network's error: more bits.",
                           variance="posterior"),
        "Fitted σ²": ui.scene("A variance that allows for the error is the cheapest of the three.",
                              variance="fitted"),
        "Ten steps": ui.scene("In ten steps nearly half of the bits are told in the last one, L₀.", T=10,
                              step=0),
        "Last step": ui.scene("The cosine's last β is capped at 0.999: there ε's error weighs 1,000 times.",
                              step=40),
        "Kept in range": ui.scene("x̂₀ clamped to grey levels, as sampling does it: that step costs little.",
                                  step=40, clip=True),
        "Linear": ui.scene("The linear chain has no such last step: fewer bits in all.", kind="linear",
                           step=40),
        "No digit": ui.scene("Random greys cost several times as many bits as a digit.",
                             image="random greys"),
        "Trained on it": ui.scene("One chain, two networks: the one trained on the bound needs fewer bits.",
                                  model=BOUND, kind="linear", T=100, variance=lens.LEARNED, beside=MODELS),
    }
)  # fmt: skip


@ui.cached
def spent(trained: str, kind: str, T: int, name: str, seed: int, clip: bool) -> dict[str, bound_terms.Bits]:
    model, made, x = ui.load(trained), bound_terms.chain(kind, T), bound_terms.picture(name)  # type: ignore[arg-type]
    return {which: lens.spent(model, made, x, which, seed, clip) for which in lens.kinds_of(model)}


with stage.rail:
    trained = ui.experiment("Model", family="diffusion", key="model", default=MODEL, only=lens.of_digits)
    name = ui.choice("Picture", bound_terms.PICTURES, key="image", default="3", as_list=True)
    variance = ui.choice("σ²", lens.kinds_of(ui.load(trained)), key="variance")
    kind = ui.choice("Schedule", lens.KINDS, key="kind")
    T = ui.choice("Steps T", lens.LENGTHS, key="T", default=250)
    beside = ui.choice("Beside it", BESIDE, key="beside")
    clip = ui.toggle("Clamp x̂₀ to [−1, 1]", False, key="clip")
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
asked = (kind, T, name, seed, clip)
every = spent(trained, *asked)
found = every[variance]
if beside == VARIANCE:
    others = {which: bits for which, bits in every.items() if which != variance}
else:
    own = {one: ui.load(one).variance for one in (MODEL, BOUND) if one != trained}
    others = {f"{one}, {which}": spent(one, *asked)[which] for one, which in own.items()}
    ui.ahead(spent, (MODEL, *asked), (BOUND, *asked))
ui.ahead(spent, *((trained, each, T, name, seed, clip) for each in lens.KINDS if each != kind),
         *((trained, kind, each, name, seed, clip) for each in lens.LENGTHS[:-1] if each != T),
         (trained, kind, T, name, seed, not clip))  # fmt: skip
count = len(found.times)
film = ui.film(count, key="step", values=range(count), default=8, label="t =", seconds=0.2,
               names=found.times)  # fmt: skip
D = 64

with stage.picture:
    left, right = ui.columns([3, 1])
    with left:
        fig, moves = figures.over_time(found.terms, found.times, film.at, "bits at t", True)
        ui.figure(fig, alt="bits of the step over t, logarithmic", key="terms", share=0.45, film=film,
                  frames=moves, data={"t": range(1, T + 1), "bits": found.terms})  # fmt: skip
        called = variance if beside == VARIANCE else f"{trained}, {variance}"
        curves = {f"{label}: {bits.total:.1f}": bits.so_far for label, bits in others.items()}
        fig, moves = figures.over_time(found.so_far, found.times, film.at, "bits up to t", False,
                                       f"{called}: {found.total:.1f}", curves)  # fmt: skip
        ui.figure(fig, alt=f"bits up to t, logarithmic, beside those of {beside}", key="sum", share=0.55,
                  film=film, frames=moves, data={"t": range(1, T + 1), "bits": found.so_far})  # fmt: skip
    with right:
        fig, moves = figures.two(found.noisy, found.clean, film.at)
        ui.figure(fig, alt="The picture with noise of this step, and below what the network guesses",
                  key="pictures", share=1.0, film=film, frames=moves)  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found))
first = float(found.terms[0])
stage.equation(
    rf"L_T + \sum_{{t=2}}^{{{T}}} L_{{t-1}} + L_0 = {found.prior:.2f} + "
    rf"{found.total - found.prior - first:.1f} + {first:.1f} = {found.total:.1f}\ \text{{bits}}"
)
card = ui.card(trained)
held, error = (card.get(part, {}).get("test/bpd") for part in ("metrics", "error"))
stage.metrics(
    {"Bits per pixel": f"{found.total / D:.3f}", "Half of them by": f"t = {found.half} of {T}"}
    | ({"All test digits": f"{held:.2f}" + (f" ± {error:.2f}" if error else "")} if held else {})
)
with stage.below:
    ui.notice(
        f"The picture costs {found.total:.1f} bits, of at most {D * math.log2(bound_terms.LEVELS):.1f} for "
        f"plain grey levels; half are counted by t = {found.half}. L_T is the code of pure noise: no "
        "parameter is in it. The sum bounds −log₂ p from above; each term is one draw of noise. Of all test "
        f"digits are shown the bits a pixel of {trained} on its own chain of {ui.load(trained).schedule.T} "
        "steps, by all terms, with their standard error. The fitted σ² is made of the network's mean error "
        "on other digits. [GM] §3.12 says that diffusion sidesteps the likelihood: "
        "this is a bound on it, term by term. " + SAID
    )
    cheapest = min(every, key=lambda which: every[which].total)
    ui.check(
        "Which σ² has the fewest bits here?",
        list(every),
        cheapest,
        "; ".join(f"{which}: {bits.total:.1f}" for which, bits in every.items()),
        wrong={
            "beta": "β is right for data from N(0, 1): digits are narrower, and so is the way back.",
            "posterior": "That is the variance with x₀ known: the network's guess errs, and too narrow a "
            "σ² pays for it.",
            "fitted": "It is fitted to the mean error over other pictures, and this one errs otherwise.",
        },
        veils=("numbers", "equation", "sum"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import bound_terms
        from pages.diffusion.bound_terms import lens

        model, made = weights.load({ui.spelled(trained)}), bound_terms.chain({kind!r}, {T})
        bits = lens.spent(model, made, bound_terms.picture({name!r}), {variance!r}, {seed}, {clip})
        result = [bits.total, bits.prior, float(bits.terms[0])]
        """,
        shows=[found.total, found.prior, first],
    )
    ui.source(bound.bound, bound.step_kl, bound.log_bin, bound_terms.fitted, references=ROOM.references)
