"""Width of a beam: is wider better, shorter, or more of the same?"""

from lab import ui
from lab.lenses import strategies
from lab.lenses import text as texts
from modules.language.beam import beam_trace
from pages.language.beam_width import figures, lens
from pages.language.beam_width.room import ROOM

BEGINNINGS = {
    "multi30k": ("a man", "two dogs", "a woman in", "the boy"),
    "Grammar": ("the", "the dog", "the cat", "the boy"),
    "pydocs": ("Return a ", "for i in ", "The ", "If "),
    "shakespeare": ("ROMEO:\n", "To be, or ", "the ", "KING"),
}
MOST = 20  # new tokens

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Greedy": ui.scene("A beam of one finds one text behind each beginning: the greedy one."),
        "Eight": ui.scene(
            "Of the pairs of letters in eight texts 0.37 differ within a beam, 0.68 within groups.", width=8
        ),
        "No penalty": ui.scene("With λ = 0 all groups write the same text.", width=8, spread=0.0),
        "Strong penalty": ui.scene(
            "With λ = 4 more pairs of letters differ among the groups than with λ = 1.", width=8, spread=4.0
        ),
        "Sentences that end": ui.scene(
            "Words with an end: searched behind four beginnings, which takes some seconds.",
            trained="bengio-multi30k", most=16, width=8,
        ),
    }
)  # fmt: skip


def beginnings(card):
    """Four of what the model has read."""
    return BEGINNINGS.get(texts.corpus(card), BEGINNINGS["shakespeare"])


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.language_model("ngram-shakespeare")
    card, model = ui.card(name), ui.next_token_model(name)
    coder, eos = texts.tokenizer(card), getattr(model, "eos", None)
    chosen = beginnings(card)
    shown = ui.choice("Texts behind", chosen, key="behind", as_list=True, format=lambda t: t.strip())
    strength = ui.slider("Diversity λ of the groups", 0.0, 4.0, 1.0, key="spread", step=0.1)
    alpha = ui.slider(
        "Length power α", 0.0, 1.5, 1.0, key="power", step=0.1, disabled=eos is None,
        help="Texts of this model cannot end: all are equally long." if eos is None else None,
    )  # fmt: skip
    length = ui.slider("At most new tokens", 4, MOST, 12, key="most")


def prompts(name):
    """The four beginnings as tokens."""
    card = ui.card(name)
    return [texts.read(texts.tokenizer(card), text) for text in beginnings(card)]


@ui.cached
def beams(name, length):
    model = ui.next_token_model(name)
    return lens.beams(model, prompts(name), length, lens.SIZES, getattr(model, "eos", None))


def asked(strength, length):
    """Settings that the search depends on, and what begins it."""

    def start():
        known = beams(name, length) if quick(length) else None
        return lens.widening(model, prompts(name), length, lens.SIZES, eos, alpha, strength, known)

    return (name, alpha, strength, length), start


def quick(length):
    """Check whether it is done at once."""
    return strategies.quick(model, 10 * length)


# --- Picture ------------------------------------------------------------------------------------


def read(result):
    """A text as it is shown, with its log P."""
    return f"{result.log_prob:.1f} " + texts.joined(
        coder, texts.shown(coder.tokens[i] for i in result.tokens)
    )


def draw(rows, film=None):
    """Curves of the widths searched, and the texts behind one beginning."""
    size = [row.width for row in rows]
    values = {
        "log_prob": [row.log_prob for row in rows], "lengths": [row.length for row in rows],
        "normalised": [row.normalised for row in rows], "beam": [row.beam for row in rows],
        "diverse": [row.diverse for row in rows],
    }  # fmt: skip
    fig, frames = figures.widths(size, **values, alpha=alpha)
    ui.figure(
        fig, alt="Log-probability and length of the best text, and different pairs, against the width",
        key="widths", share=0.5, data={"B": size, **values}, film=film, frames=frames if film else None,
    )  # fmt: skip
    if film is None:
        return
    place = chosen.index(shown)
    sides = {"A beam": [row.texts[place] for row in rows], "Groups": [row.spread[place] for row in rows]}
    for column, (title, result) in zip(ui.columns(2), sides.items(), strict=True):
        with column:
            fig, lines = figures.text_list([[read(h) for h in row] for row in result], title)
            ui.figure(
                fig, alt=f"{title}: the texts found behind {shown.strip()}", key=title, share=0.5,
                film=film, frames=lines,
            )  # fmt: skip


def show(rows):
    if rows:
        draw(rows)


film = ui.film(len(lens.SIZES), key="width", seconds=1.0, label="B =", values=lens.SIZES, default=1)
with stage.picture:
    of, start = asked(strength, length)
    rows = ui.result(
        "Search with 1, 2, 4 and 8", start, key="search", of=of, quick=quick(length), show=show,
        says="The widths are compared when all are searched.",
    )  # fmt: skip
    draw(rows, film)
near = [*((v, length) for v in ui.near(strength, 0.0, 4.0, 0.1)),
        *((strength, v) for v in ui.near(length, 4, MOST, 1))]  # fmt: skip
ui.prefetch_result("search", *(asked(*each) for each in near if quick(each[1])))
with stage.foot:
    film.bar(
        captions=[
            f"Means over four beginnings. Of all pairs of neighbouring tokens {row.beam:.2f} differ within a "
            f"beam, {row.diverse:.2f} within groups."
            for row in rows
        ],
        equations=[
            rf"\overline{{\log P}}_{{B={rows[0].width}}} = {rows[0].log_prob:.3f},\quad "
            rf"\overline{{\log P}}_{{B={row.width}}} = {row.log_prob:.3f}"
            for row in rows
        ],
    )

# --- Words --------------------------------------------------------------------------------------

first, last = rows[0], rows[-1]
with stage.below:
    ui.table(
        {
            "B": [row.width for row in rows],
            "log P": [f"{row.log_prob:.3f}" for row in rows],
            "no worse than before": ["–", *(f"{row.better} of {len(chosen)}" for row in rows[1:])],
            "different pairs, beam": [f"{row.beam:.3f}" for row in rows],
            f"different pairs, groups, λ = {strength:g}": [f"{row.diverse:.3f}" for row in rows],
        },
        alt="What every width finds, and how much of it differs", key="searched",
    )  # fmt: skip
    ui.notice(
        f"From B = 1 to 8 the mean log P of the best text goes from {first.log_prob:.2f} to "
        f"{last.log_prob:.2f}, and its length from {first.length:g} to {last.length:g} tokens. A wider beam "
        "need not find a likelier text behind every beginning: the table counts. Where texts can end, "
        "likelier often means shorter; dividing by a power of the length works against it."
    )
    ui.check(
        "Does every doubling of the beam end no worse behind all four beginnings?",
        ["yes", "no"],
        "yes" if all(row.better == len(chosen) for row in rows) else "no",
        "No worse than the next narrower beam: "
        + ", ".join(f"{row.better} of {len(chosen)} at B = {row.width}" for row in rows[1:]) + ".",
        wrong={
            "yes": "A wider beam may keep a beginning that looks better and ends worse than the one it "
            "pushes out.",
            "no": "A wider beam may end worse, but behind these four beginnings no doubling does.",
        },
        veils=("picture", "equation", "searched"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import strategies, text
        from pages.language.beam_width import lens
        place = {ui.spelled(name)}
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        prompts = [text.read(coder, t) for t in {chosen}]
        steps = lens.widening(model, prompts, {length}, eos={eos}, alpha={alpha}, strength={strength})
        _, rows = strategies.last(steps)
        result = [row.log_prob for row in rows]
        """,
        shows=[row.log_prob for row in rows],
    )
    ui.source(lens.widening, beam_trace, references=ROOM.references)
