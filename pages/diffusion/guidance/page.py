"""Guidance: a denoiser leaned towards a class, where the exact answer is known, and on digits."""

from lab import ui
from lab.figures import sheets
from lab.lenses.diffusion import SAID
from modules.diffusion import guidance
from pages.diffusion.guidance import figures, lens
from pages.diffusion.guidance.room import ROOM

MODEL, LEADER, JUDGE = "ddpm-digits", "noisy-classifier-digits", "cnn-digits"
VIEWS = ["Gaussians", "Digits"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Leaning": ui.scene("At w = 1 the sampled bell is narrower, and further out, than the tilted one."),
        "Conditional": ui.scene("At w = 0 guidance does nothing: both bells are the class itself.",
                                w=0.0),
        "Unconditional": ui.scene("At w = −1 the class is forgotten: all data come back.", w=-1.0),
        "Too much": ui.scene("At w = 3 hardly any spread is left: all samples are alike.", w=3.0),
        "Few steps": ui.scene("Five steps have an error of their own: even w = 0 misses the class.", steps=5,
                              w=0.0),
        "Wide class": ui.scene("A wide class is told from all data by its mean alone.", s=0.9, w=2.0),
        "A classifier": ui.scene("A classifier of noisy data, asked 1 + w times, leads to the same law.",
                                 led=lens.NOISY),
        "Clean data alone": ui.scene("One that knows no noise is far too sure: at w = 0 all samples are one.",
                                     led=lens.CLEAN, w=0.0),
        "Digits": ui.scene("From w = −1 to 2: from any digit to the one asked for, and more alike.",
                           view=VIEWS[1], lean=2.0),
    }
)  # fmt: skip


@ui.cached
def solved(m: float, s: float, steps: int, led: str) -> lens.Laws:
    return lens.laws(m, s, steps, led)


def draw_toy() -> None:
    """Two laws of one dimension, weight by weight."""
    with stage.rail:
        m = ui.slider("Mean of the class", 0.2, 2.0, 1.0, key="m", step=0.1)
        s = ui.slider("Spread of the class", 0.3, 0.9, 0.5, key="s", step=0.1)
        led = ui.choice("Led by", lens.LEDS, key="led", as_list=True)
        steps = 200 if led == lens.CLEAN else ui.choice("Steps of the solver", [5, 20, 200], key="steps",
                                                        default=200)  # fmt: skip
    found = solved(m, s, steps, led)
    film = ui.film(len(lens.WEIGHTS), key="w", values=lens.WEIGHTS, default=1.0, label="w =", seconds=0.3)
    every = lens.bells(found.mean[:1] * 0, (found.sd[:1] * 0 + 1 + s**2).sqrt())[0]
    fig, moves = figures.toy(lens.grid(), lens.bells(found.mean, found.sd.clamp(min=0.01)),
                             lens.bells(found.tilted_mean, found.tilted_sd), every, film.at)  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(fig, alt="Densities: all data, the tilted law, and what guided sampling reaches",
                      key="toy", share=1.0, film=film, frames=moves)  # fmt: skip
        with right:
            for key, mine, theirs, label in (
                ("mean", found.mean, found.tilted_mean, "mean"), ("sd", found.sd, found.tilted_sd, "sd"),
            ):  # fmt: skip
                side, moved = figures.against(lens.WEIGHTS, mine, theirs, film.at, label)
                ui.figure(
                    side, alt=f"{label} of both laws against the weight", key=key, share=0.5, film=film,
                    frames=moved, data={"w": lens.WEIGHTS, "sampled": mine, "tilted": theirs},
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=lens.equations(led, lens.WEIGHTS))
    at, w = film.at, lens.WEIGHTS[film.at]
    gap = float(found.tilted_sd[at] - found.sd[at])
    stage.metrics(
        {
            "Sampled mean": f"{float(found.mean[at]):.4f}",
            "Sampled sd": f"{float(found.sd[at]):.4f}",
            "Tilted mean": f"{float(found.tilted_mean[at]):.4f}",
            "Tilted sd": f"{float(found.tilted_sd[at]):.4f}",
        }
    )
    answer = "the same" if abs(gap) < 0.02 else "narrower" if gap > 0 else "wider"
    with stage.below:
        ui.notice(f"{lens.notice(found, at, led)}{SAID}")
        ui.check(
            f"At w = {w:g}, how is the sampled bell against the tilted one?",
            ["narrower", "the same", "wider"],
            answer,
            f"Its sd is {float(found.sd[at]):.3f}, the tilted one's {float(found.tilted_sd[at]):.3f}.",
            wrong={
                "narrower": "Guidance narrows by pulling: where w is 0 there is no pull, and below 0 it "
                "pushes.",
                "the same": "The guided score is that of the tilted law without noise alone: under noise "
                "the two part.",
                "wider": "Under noise guidance pulls harder to the class than the tilted law, not less.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.program(
            f"""
            from pages.diffusion.guidance import lens
            found = lens.laws({m}, {s}, {steps}, {led!r})
            result = [float(found.mean[{at}]), float(found.sd[{at}]), float(found.tilted_sd[{at}])]
            """,
            shows=[float(found.mean[at]), float(found.sd[at]), float(found.tilted_sd[at])],
        )
        ui.source(guidance.classifier_free, guidance.by_classifier, lens.laws, references=ROOM.references)


def drawing(seed: int):
    """What the digits depend on, and how they are begun."""
    return seed, lambda: lens.drawing(ui.load(MODEL), ui.load(LEADER), ui.load(JUDGE), seed)


def show_digits(found: dict[str, lens.Drawn], led: str, at: int, film=None) -> None:
    """The sheet of one weight and way, and both measures of all."""
    mine = found[led]
    leans = lens.LEANS[: len(mine.right)]
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.digits(mine.pictures[at]), key="digits", share=1.0, film=film,
            frames={"data.0.z": sheets.frames(mine.pictures, 10)} if film else None,
            alt="Forty digits, a column a class, at this weight",
        )  # fmt: skip
    with right:
        for key, label, top in (
            ("right", "of the class asked for", 1.05),
            ("spread", "sd within a class", 0.25),
        ):
            values = {way: getattr(each, key) for way, each in found.items()}
            fig, moves = figures.by_weight(leans, values, led, at, label, top)
            ui.figure(fig, alt=f"{label} against the weight, led either way", key=key, share=0.5, film=film,
                      frames=moves if film else None, data={"w": leans, **values})  # fmt: skip


def draw_digits() -> None:
    """Digits of every class from the same noise, weight by weight, led either way."""
    with stage.rail:
        led = ui.choice("Guidance", lens.WAYS, key="way", as_list=True)
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    with stage.picture:
        of, start = drawing(seed)
        both = ui.found(
            "Draw", start, key="drawing", of=of, quick=True, soon=[drawing(min(999, seed + 1))],
            show=lambda so_far: show_digits(so_far, led, -1),
            says="Forty digits for each weight, when they are drawn.",
        )  # fmt: skip
        film = ui.film(len(lens.LEANS), key="lean", values=lens.LEANS, default=0.0, label="w =", seconds=1.0)
        show_digits(both, led, film.at, film)
    found, at = both[led], film.at
    with stage.foot:
        film.bar(captions=lens.digit_captions(found), equations=lens.equations(led, lens.LEANS))
    with stage.below:
        ui.notice(lens.digit_notice(both, led, (MODEL, LEADER, JUDGE)) + SAID)
        ui.check(
            f"At w = {lens.LEANS[at]:g}, how many of the {lens.COUNT} are judged of the class asked for?",
            lens.RIGHT, lens.right(found, at), f"{round(lens.COUNT * float(found.right[at]))}.",
            wrong=(
                "At w = 0 a class is asked for already, and w only adds to it." if led == lens.GUIDED else
                "The model is conditional: it makes the class asked for by itself, and w only adds to it.",
                "From a class forgotten to a class obeyed is a short way in w: it is not half done here.",
                "At so small a w the class is hardly asked for.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.guidance import lens
            model, classifier, judge = map(weights.load, ({MODEL!r}, {LEADER!r}, {JUDGE!r}))
            *_, (_, found) = lens.drawing(model, classifier, judge, {seed})
            result = [float(found[{led!r}].right[{at}]), float(found[{led!r}].spread[{at}])]
            """,
            shows=[float(found.right[at]), float(found.spread[at])],
        )
        ui.source(
            guidance.classifier_free,
            guidance.by_classifier,
            lens.led_by,
            lens.drawing,
            references=ROOM.references,
        )


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view")
if view == VIEWS[0]:
    draw_toy()
else:
    draw_digits()
