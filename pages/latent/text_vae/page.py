"""Text from a code: a recurrent decoder that writes lines, and whether it listens to the code."""

from lab import ui
from lab.figures import latents
from lab.ui.rooms import training_course
from modules.latent.collapse import free_bits, kl_weight
from modules.latent.text_vae import TextDecoder, TextEncoder, TextVAE
from pages.latent.text_vae import figures, lens
from pages.latent.text_vae.room import ROOM

VIEWS = ("Walk", "Training", "Codes swapped")
LIKELIEST, DRAWN = "The likeliest", "Drawn, one luck for all"
A, B = "return the number of bytes written", "the default value is none"
MOST = 40  # letters of a line

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One line for all": ui.scene("Plain training: the same line is written all the way from A to B."),
        "Free bits": ui.scene("With bits that are not paid for, the line turns on the way.",
                              model="textvae-freebits-pydocs"),
        "Annealed": ui.scene("The KL's price rose from 0: from “return …” to “the …” here too.",
                             model="textvae-annealed-pydocs"),
        "One luck": ui.scene("All letters drawn with one luck: codes alone make the lines differ.",
                             model="textvae-freebits-pydocs", letters=DRAWN),
        "From A to A": ui.scene("Both ends the same: no way to go, for any model.",
                                model="textvae-freebits-pydocs", b=A),
        "Price": ui.scene("Bounds within two nats; annealing keeps a nat of KL, free bits four, plain none.",
                          view=VIEWS[1]),
        "First epoch": ui.scene("At price 0 the annealed code costs seventy nats; the plain one pays none.",
                                view=VIEWS[1], epoch=1),
        "Nobody listens": ui.scene("The plain decoder loses nothing by another line's code.", view=VIEWS[2]),
        "First letters": ui.scene("Free bits: what the code saves, it saves most at the first letters.",
                                  view=VIEWS[2], model="textvae-freebits-pydocs"),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
names = ui.trained("latent", lens.fits)
if not names:
    ui.stop("No model of lines is here: train one with `lab fit textvae-pydocs`.")
short = [lens.short(name) for name in names]


@ui.cached
def walked(name: str, a, b, seed: int | None) -> lens.Interpolation:
    return lens.interpolate(ui.load(name), a, b, seed)


@ui.cached
def held_out():
    return lens.held_out()


@ui.cached
def used(name: str) -> lens.Used:
    return lens.used(ui.load(name), held_out())


def measured():
    """Every model's `used`, one after the other: reading the corpus is most of it."""
    yield 0.0, None
    held_out()
    for i, _ in enumerate(names):
        yield (2 + i) / (2 + len(names)), None
        used(names[i])
    yield 1.0, [used(name) for name in names]


def chosen() -> tuple[str, int]:
    with stage.rail:
        name = ui.choice("Model", names, key="model", default="textvae-pydocs", as_list=True)
    return name, names.index(name)


def line(label: str, default: str, key: str):
    """A reader's line, as tokens and as it was read."""
    text = ui.text(label, default, key=key, max_chars=200)
    try:
        return lens.typed(text, MOST)
    except ValueError as error:
        ui.warning(str(error))
        return lens.typed(default, MOST)


def walk() -> None:
    """Two own lines, and what is written between their codes."""
    name, at = chosen()
    with stage.rail:
        (a, said_a), (b, said_b) = line("Line A", A, "a"), line("Line B", B, "b")
        way = ui.choice("Letters", [LIKELIEST, DRAWN], key="letters", as_list=True)
        seed = ui.number("Seed of the luck", 0, 999, 0, key="seed") if way == DRAWN else None
    results = [walked(each, a, b, seed) for each in names]
    now = results[at]
    film = ui.film(lens.STEPS, key="step", default=lens.STEPS // 2, label="Step", seconds=0.4)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.sheet(said_a, said_b, now.lines, film.at), key="sheet", share=1.0, film=film,
                frames=figures.turning(lens.STEPS),
                alt="The lines A and B, and between them what is written from the codes on the way",
                data={"t": lens.TS, "line": now.lines},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.departures(
                    {s: w.moved for s, w in zip(short, results, strict=True)}, lens.TS, film.at
                ),
                key="moved", share=1.0, film=film,
                frames={"layout.shapes.0.x0": lens.TS, "layout.shapes.0.x1": lens.TS},
                alt="How many letters differ from the first line's along the walk, for every model",
                data={"t": lens.TS} | {s: w.moved for s, w in zip(short, results, strict=True)},
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[f"t = {t:.1f}: “{text}”" for t, text in zip(lens.TS, now.lines, strict=True)],
            equations=[
                rf"z_t={1 - t:.1f}\,z_A+{t:.1f}\,z_B,\qquad \|z_t\|={length:.3f}"
                for t, length in zip(lens.TS, now.lengths, strict=True)
            ],
        )
    with stage.below:
        ui.notice(
            f"{short[at]} writes {now.different} different line{'s' if now.different > 1 else ''} at "
            f"{lens.STEPS} codes. Blue is what you typed, in small letters and spaces, at most {MOST}; "
            "orange letters are others than in the line above. A line is not given back: its code holds a "
            "few nats, of which it would need dozens."
        )
        many = [f"{one}" for one in ("one", "two to four", "five or more")]
        ui.check(
            "How many different lines does this model write on the way?", many,
            many[0] if now.different == 1 else many[1] if now.different < 5 else many[2],
            f"It writes {now.different}.",
            wrong={
                many[0]: "The decoder listens: on the way from code to code its line changes.",
                many[1]: "A decoder that ignores its code writes one line, one that listens writes many.",
                many[2]: "A decoder that can do without its code writes the same again: posterior collapse.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.latent.text_vae import lens

            model = weights.load({ui.spelled(name)})
            a, b = (lens.typed(line, {MOST})[0] for line in ({said_a!r}, {said_b!r}))
            result = lens.interpolate(model, a, b, {seed}).moved
            """,
            shows=now.moved,
        )
        ui.source(TextVAE.generate, TextEncoder, TextDecoder, lens.interpolate, references=ROOM.references)


def training() -> None:
    """The bound split, and the KL, epoch by epoch."""
    training_course.view(stage, dict(zip(short, names, strict=True)), "textvae-pydocs", log=True)
    stage.equation(
        r"\mathrm{ELBO}=E\log p(x|z)-\mathrm{KL}(q(z|x)\,\|\,p(z))",
        "Nats per line, the whole KL. Training asked less of two: a price that rises (annealed), a quarter "
        "of a nat per dimension for nothing (freebits).",
    )
    with stage.below:
        ui.source(free_bits, kl_weight, TextVAE.pixel_log_likelihood, references=ROOM.references)


def swapping() -> None:
    """Show what the code saves in all, and letter by letter in an own line."""
    name, at = chosen()
    with stage.rail:
        x, text = line("Your line", A, "a")
    result = ui.result(
        f"Measure the codes of {lens.SHOWN} lines", measured, key="measured", of=tuple(names),
        quick=True, says="What every model pays for its code, what the code saves, and where.",
    )  # fmt: skip
    swaps = [one.swap for one in result]
    now, results = swaps[at], lens.letter_costs(ui.load(name), x, held_out()[:100])
    with stage.picture:
        left, right = ui.columns([2, 3])
        with left:
            ui.figure(
                latents.paid_and_saved(short, [u.paid for u in swaps], [u.saved for u in swaps], at),
                key="use", share=1.0,
                alt="What each model pays for its code, and what its own code saves against another's",
                data={"model": short, "paid": [u.paid for u in swaps], "saved": [u.saved for u in swaps]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.letters(results, ("own code", "others' codes")), key="letters-told", share=1.0,
                alt="What each letter of the line costs with its own code, and with the codes of others",
                data={"letter": results.letters, "own": results.own, "others": results.other},
            )  # fmt: skip
    stage.equation(
        rf"E\log\frac{{p(x|z)}}{{p(x|z')}}={now.other:.2f}-{now.own:.2f}={now.saved:.3f},\qquad "
        rf"\mathrm{{KL}}={now.paid:.3f},\qquad I_q={result[at].information:.3f}",
        f"{lens.SHOWN} test lines, nats per line; z′ is another line's. Yours: {sum(results.other):.2f} − "
        f"{sum(results.own):.2f} = {results.saved:.3f}, KL {results.kl:.3f}.",
    )
    first, rest = lens.gains(results)
    with stage.below:
        ui.table(
            {
                "model": short, "−ELBO": [round(u.cost, 3) for u in swaps],
                "KL": [round(u.paid, 3) for u in swaps], "I_q": [round(u.information, 3) for u in result],
                "active": [u.active for u in swaps], "saved": [round(u.saved, 3) for u in swaps],
            },
            alt="Bound, KL, information, active dimensions and what the own code saves, of every model",
        )  # fmt: skip
        ui.notice(
            f"{short[at]} pays {now.paid:.3f} nats per line for its code, and another line's code costs it "
            f"{now.saved:.3f}. Of your line, “{text}”, its code saves {first:.2f} nats in the first five "
            f"letters and {rest:.2f} in the others: once a word has begun, the decoder knows how it goes on."
        )
        fewest = lens.least([u.saved for u in swaps])
        ui.check(
            "Which model would miss its code least?", short, short[fewest],
            "It loses least by another line's code.",
            wrong={
                name: f"Another line's code costs “{name}” {one.saved:.3f} nats: its decoder listens to it."
                for name, one in zip(short, swaps, strict=True)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.latent.text_vae import lens

            use = lens.used(weights.load({ui.spelled(name)}), lens.held_out())
            result = [use.swap.paid, use.swap.saved, use.information]
            """,
            shows=[now.paid, now.saved, result[at].information],
        )
        ui.source(TextVAE.pixel_log_likelihood, lens.letter_costs, lens.swap, references=ROOM.references)


ui.prefetch(used, *((name,) for name in names))
dict(zip(VIEWS, (walk, training, swapping), strict=True))[view]()
