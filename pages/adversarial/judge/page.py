"""Judge: any trained generator of small digits before the same judges, and what each does not see."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses import generated, verdicts
from modules.adversarial import judges
from pages.adversarial.judge import figures, lens, words
from pages.adversarial.judge.room import ROOM

SHELF = (  # which are judged where all are
    "made-digits", "pixelcnn-digits", "gatedpixelcnn-digits", "nade-digits", "chain-digits",
    "vae-digits", "vae-bits-digits", "vamp-digits", "gmm-digits", "fa-digits", "glow-digits",
    "dcgan-digits", "acgan-digits", "infogan-digits", "ddpm-digits",
)  # fmt: skip

stage = ui.stage(ROOM)
stage.scenes(
    {
        "The floor": ui.scene("Even held-out digits do not reach 1: no generator is asked for more."),
        "Pixel by pixel": ui.scene("PixelCNN draws as many kinds as there are; not all samples are digits.",
                                   model="pixelcnn-digits"),
        "A chain": ui.scene("A Markov chain knows the pixel before and no digit: both numbers fall.",
                            model="chain-digits"),
        "Missing classes": ui.scene("Classes go, one after the other: see which of the two scores notices.",
                                    change="classes missing", share=0.5),
        "Junk": ui.scene("Half is noise: precision falls, recall stays.", change="junk", share=0.5),
        "Copies": ui.scene("Nine of ten are copies: inception score and recall hardly notice, FD does.",
                           change="copies", share=0.9),
        "All": ui.scene("All generators of small digits, one after the other, in grey.", all=True),
    }
)  # fmt: skip


@ui.cached
def drawn(name: str, seed: int):
    return verdicts.drawn_by(name if name == verdicts.REAL else ui.folder(name), seed)


@ui.cached
def known() -> verdicts.Known:
    return verdicts.known(ui.load(verdicts.NETWORK), verdicts.digits("train"))


@ui.cached
def told_of(name: str, change: lens.Change, seed: int, _drawn=None) -> lens.Story:
    pictures = drawn(name, seed) if _drawn is None else _drawn
    return lens.story(ui.load(verdicts.NETWORK), known(), pictures, change, seed)


def as_drawn(name: str, seed: int, _drawn=None) -> list[verdicts.Verdict]:
    return [verdicts[0] for verdicts in told_of(name, "nothing", seed, _drawn).said]


@ui.cached
def accuracy() -> float:
    return lens.accuracy(ui.load(verdicts.NETWORK))


# --- Controls -----------------------------------------------------------------------------------

trained = ui.trained(None, lens.fits, first=SHELF)
names = (verdicts.REAL, *(name for name in trained if name in SHELF))
with stage.rail:
    name = ui.choice("Generator", [verdicts.REAL, *trained], key="model", as_list=True)
    change = ui.choice("Spoil it by", lens.CHANGES, key="change", as_list=True)
    k = ui.slider("k-th neighbour", 1, verdicts.MOST, 3, key="k")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
given = None
if name != verdicts.REAL and generated.slow(ui.recipe(name)):
    with stage.picture:
        given = ui.found(
            "Draw", lambda: verdicts.drawing(ui.folder(name), seed), key="drawing", of=(name, seed),
            quick=False, says="Forty of five hundred digits, when they are drawn.",
        )  # fmt: skip
told = told_of(name, change, seed, given)
with stage.rail:
    everyone = {verdicts.REAL: as_drawn(verdicts.REAL, seed)[k - 1], name: as_drawn(name, seed, given)[k - 1]}
    if ui.toggle("All generators", False, key="all"):
        everyone |= ui.job(
            "Judge all", lambda: lens.judging(names, k, lambda one: as_drawn(one, seed)), key="judging",
            of=(names, k, seed), at_once=True,
        ) or {}  # fmt: skip
pictures, said = told.sheets, told.said[k - 1]
ui.ahead(told_of, *((name, other, seed, given) for other in lens.CHANGES if other != change))
floor = everyone[verdicts.REAL]
film = ui.film(len(lens.SHARES), key="share", values=lens.SHARES, default=0.0, label="Share", seconds=0.5)
now = said[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            basic.images(pictures[film.at], 8), key="sheet", share=0.62, film=film,
            frames={"data.0.z": sheets.frames(pictures, 8)}, alt="Forty pictures of the generator",
        )  # fmt: skip
        ui.figure(
            figures.classes(now), key="classes", share=0.38, film=film,
            frames={"data.0.y": [v.classes for v in said]}, data={"class": range(10), "share": now.classes},
            alt="Share of every class in what is drawn",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.plane(everyone, name, now), key="plane", share=1.0, film=film,
            frames={"data.1.x": [[v.recall] for v in said], "data.1.y": [[v.precision] for v in said]},
            alt="Precision against recall of all generators",
            data={"generator": list(everyone), **{m: [getattr(v, m) for v in everyone.values()]
                                                  for m in ("precision", "recall", "frechet", "score")}},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=words.captions(said, change, floor), equations=words.equations(said, floor))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.table(
        {
            "generator": list(everyone),
            **{label: [f"{getattr(v, measure):.3f}" for v in everyone.values()]
               for label, measure in (("FD", "frechet"), ("precision", "precision"), ("recall", "recall"),
                                      ("inception score", "score"), ("repeated", "repeated"))},
        },
        alt="All judges of all generators", key="table",
    )  # fmt: skip
    ui.notice(
        f"{verdicts.DRAWN} pictures each, black and white, beside {verdicts.DRAWN} training digits. The "
        f"features are the 64 means of the last maps of {verdicts.NETWORK}, which names {accuracy():.1%} of "
        "held-out digits made black and white; Inception has no part in it. The inception score sees no "
        "variety within a class, precision no missing class, recall no junk, and a few pictures with wide "
        "balls hide many copies from it. The Fréchet distance sees all of these and does not say which; "
        "between equal laws it is above 0, by about 1/n."
    )
    spoiled = change != "nothing" and film.at > 0
    ui.check(
        "Which has fallen further by what was done to it?" if spoiled else "Which of the two is lower here?",
        words.OPTIONS if spoiled else words.LOWER,
        words.fallen(said[0], now) if spoiled else words.lower(now),
        f"Precision is {now.precision:.3f}, recall {now.recall:.3f}; unspoiled they are "
        f"{said[0].precision:.3f} and {said[0].recall:.3f}.",
        wrong={
            "precision": "Precision asks whether what is made lies among the real: missing variety does "
            "not lower it.",
            "recall": "Recall asks whether the real lies among what is made: junk beside it does not lower "
            "it.",
            words.OPTIONS[2]: "The two do not move together: each is blind to the failure that the other "
            "sees.",
            words.LOWER[2]: "The two need not be equal: each is blind to the failure that the other sees.",
        },
        veils=("picture", "equation", "table"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import verdicts
        from pages.adversarial.judge import lens

        network = weights.load({verdicts.NETWORK!r})
        pictures = verdicts.drawn_by({repr(name) if name == verdicts.REAL else ui.spelled(name)}, {seed})
        pictures = lens.changed(network, pictures, {change!r}, {film.value!r}, {seed})
        said = verdicts.judge(network, verdicts.digits("train"), pictures, {k})
        result = [said.precision, said.recall, said.frechet, said.score]
        """,
        shows=[now.precision, now.recall, now.frechet, now.score],
    )
    ui.source(judges.precision_recall, judges.frechet, judges.inception_score, references=ROOM.references)
