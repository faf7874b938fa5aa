"""Birthday: look for two that are the same among a few hundred draws, and know how many there are at all."""

from lab import ui
from lab.lenses import generated
from lab.lenses.machine import sample_of
from modules.adversarial import metrics
from pages.adversarial.birthday import figures, lens
from pages.adversarial.birthday.room import KNOWN, REAL, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
with stage.picture:
    says = f"Pairs among {lens.DRAWS} samples, when they are drawn."
    quick = not ui.compute(generated.slow, now)
    result = ui.compute(lens.telling, now, says=says, label="Draw", quick=quick)
film = ui.film_of(now, len(result))
one = result[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(figures.sheet(result), key="sheet", share=1.0, film=film,
                  alt=f"The last {lens.SHOWN} pairs within the threshold, each in a frame")  # fmt: skip
    with right:
        ui.figure(figures.chances(result, now.support), key="chances", share=1.0, film=film,
                  alt="Probability that two of n samples are the same")  # fmt: skip
with stage.foot:
    if sample := ui.compute(sample_of, now):
        parts = [{sample: f"{each.pairs:,} pairs"} for each in result]
        ui.machine(now.model, film=film, lit=[sample] * film.count, says=parts)
    film.bar(captions=lens.captions(result), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

real = ui.compute(lens.of_digits, now)[film.at]
source = repr(now.model) if now.model in (KNOWN, REAL) else ui.spelled(now.model)
with stage.below:
    ui.notice(
        f"On the left are the last {lens.SHOWN} pairs within the threshold, each in a frame; whether they "
        f"are duplicates is for the eye to say. Among {lens.DRAWS} training digits {real.pairs:,} pairs are "
        "as near, relative to their own median, and no two of them are the same. N estimates 1/Σp², the "
        "effective support: where probabilities differ, rare samples hardly count."
    )
    ui.check(
        "After how many samples are two the same with probability one half?",
        lens.OPTIONS,
        lens.answer(one),
        f"N is about {one.support:,.0f}; n² is about 1.4 N." if one.pairs else "There is no pair.",
        wrong=(
            "So early a duplicate needs fewer than about 1,800 different samples: mode collapse.",
            "Such a duplicate implies about 1,800 to 16,000 different samples.",
            "The pairs grow as n², so that the first duplicate comes near √N samples, long before N.",
        ),
        veils=("chances", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments
        from pages.adversarial.birthday import lens

        pictures = lens.drawn({source}, {now.size}, {now.seed})
        story = lens.story(pictures)[{film.at}]
        result = [story.pairs, float(story.measured[99]), float(lens.probability({now.support})[-1])]
        """,
        shows=[one.pairs, float(one.measured[99]), float(lens.probability(now.support)[-1])],
    )
    ui.source(metrics.duplicate_probability, metrics.nearest_pairs, lens.dealt, references=ROOM.references)
