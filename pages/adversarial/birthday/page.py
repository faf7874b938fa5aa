"""Birthday: look for two that are the same among a few hundred draws, and know how many there are at all."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses import generated
from modules.adversarial import judges
from pages.adversarial.birthday import figures, lens
from pages.adversarial.birthday.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "DCGAN": ui.scene("No two are equal; how many are nearly so depends on what counts as the same."),
        "Training digits": ui.scene("Real digits without repeats: at 0.3 about as many pairs as the GAN's.",
                                    model=lens.REAL),
        "ACGAN": ui.scene("At the same threshold more than twice as many pairs: less variety.",
                          model="acgan-digits"),
        "365 birthdays": ui.scene("365 digits with repeats: half of the time two of 23 are the same.",
                                  model=lens.KNOWN, size=365, threshold=0.0, support=365),
        "A thousand": ui.scene("Nearly three times the things, but only half as many draws again.",
                               model=lens.KNOWN, size=1000, threshold=0.0, support=1000),
        "400 draws": ui.scene("Grey: of 400,000 things 18 % at 400 draws, not half.", support=400_000),
        "115,260": ui.scene("Grey: half at 400 draws needs as few as 115,260 things.", support=115_260),
        "28 × 28": ui.scene("Larger pictures have more ways to differ: far fewer pairs are within 0.3.",
                            model="dcgan-mnist"),
    }
)  # fmt: skip


@ui.cached
def told(name: str, size: int, seed: int, _drawn=None):
    return lens.story(lens.drawn(source(name), size, seed) if _drawn is None else _drawn)


def source(name: str):
    """Where the pictures come from."""
    return name if name in (lens.REAL, lens.KNOWN) else ui.folder(name)


# --- Controls -----------------------------------------------------------------------------------

trained = ui.trained(None, generated.makes_digits, first=lens.SHELF)
shelf = [name for name in trained if name in lens.SHELF]
names = [*shelf, lens.KNOWN, lens.REAL, *trained[len(shelf) :]]
with stage.rail:
    name = ui.choice("Draws of", names, key="model", default="dcgan-digits", as_list=True)
    size = ui.slider("Digits to repeat", 10, 1000, 365, key="size") if name == lens.KNOWN else 0
    support = ui.choice("N of the grey line", list(lens.SUPPORTS), key="support", default=1000, as_list=True)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
given, portion = None, None
if name in trained and generated.slow(ui.recipe(name)):
    portion = generated.PORTION
    with stage.picture:
        given = ui.found(
            "Draw", lambda: lens.drawing(source(name), size, seed, portion), key="drawing", of=(name, seed),
            quick=False, says=f"Pairs among {lens.DRAWS} pictures, when they are drawn.",
        )  # fmt: skip
found = told(name, size, seed, given)
spelled = ui.spelled(name) if name in trained else repr(name)
film = ui.film(len(found), key="threshold", values=lens.THRESHOLDS, default=0.3, label="Threshold",
               seconds=0.5)  # fmt: skip
now = found[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            basic.images(found[film.at].sheet, 4, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
            frames={"data.0.z": sheets.frames([one.sheet for one in found], 4)},
            alt=f"The last {lens.SHOWN} pairs within the threshold, side by side",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.chances(found, film.at, support), key="chances", share=1.0, film=film,
            frames=figures.moves(found), alt="Probability that two of n draws are the same",
            data={"draws": range(1, lens.DRAWS + 1), "measured": now.measured,
                  "given N": lens.probability(support)},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))

# --- Words --------------------------------------------------------------------------------------

real = told(lens.REAL, 0, 0)[film.at]
with stage.below:
    ui.notice(
        f"Left are the last {lens.SHOWN} pairs that still count as the same, each pair side by side: whether "
        f"they are is for the eye to say. Among {lens.DRAWS} training digits {real.pairs:,} pairs are as "
        "near, beside their own median, and no two of them are the same. The estimate of N is 1/Σp²: where "
        "some things come more often than others, the rare ones are not counted."
    )
    ui.check(
        "After how many draws are two the same, half of the time?", lens.OPTIONS, lens.answer(now),
        f"N is about {now.support:,.0f}; of equal chances n² is 1.4 N." if now.pairs else "There is no pair.",
        wrong=(
            "So early a repeat needs fewer than about 1,800 things: that would be collapse.",
            "Such a repeat speaks of about 1,800 to 16,000 different things.",
            "The pairs grow as n², so the first repeat comes near √N draws, long before N.",
        ),
        veils=("chances", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments
        from pages.adversarial.birthday import lens

        pictures = lens.drawn({spelled}, {size}, {seed}, {portion})
        found = lens.story(pictures)[{film.at}]
        result = [found.pairs, float(found.measured[99]), float(lens.probability({support})[-1])]
        """,
        shows=[now.pairs, float(now.measured[99]), float(lens.probability(support)[-1])],
    )
    ui.source(judges.duplicate_probability, judges.nearest_pairs, lens.dealt, references=ROOM.references)
