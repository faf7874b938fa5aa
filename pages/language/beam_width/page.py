"""Width of a beam: is wider better, shorter, or more of the same?"""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import text as texts
from modules.language.beam import beam_trace
from pages.language.beam_width import lens

BEGINNINGS = {
    "multi30k": ("a man", "two dogs", "a woman in", "the boy"),
    "Grammar": ("the", "the dog", "the cat", "the boy"),
    "pydocs": ("Return a ", "for i in ", "The ", "If "),
    "shakespeare": ("ROMEO:\n", "To be, or ", "the ", "KING"),
}
REFERENCES = [
    "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
    "Vijayakumar et al. 2016, Diverse beam search, arXiv:1610.02424",
]

ui.header(
    "Width of a beam",
    "Four beginnings, four widths: is wider better, shorter, or only more of the same?",
    lenses=("sampling",),
)

name = ui.language_model("ngram-shakespeare")
first, second, third = ui.columns(3)
with first:
    alpha = ui.slider("Length power α", 0.0, 1.5, 1.0, key="power", step=0.1)
with second:
    strength = ui.slider("Diversity λ", 0.0, 4.0, 1.0, key="spread", step=0.1)
with third:
    length = ui.slider("At most new tokens", 4, 20, 12, key="most")


@ui.cached
def widened(name, alpha, strength, length):
    card, model = ui.card(name), ui.next_token_model(name)
    coder = texts.tokenizer(card)
    chosen = BEGINNINGS.get(texts.corpus(card), BEGINNINGS["shakespeare"])
    prompts = [texts.read(coder, text) for text in chosen]
    eos = getattr(model, "eos", None)
    return chosen, lens.widths(model, prompts, length, eos=eos, alpha=alpha, strength=strength)


if asked := ui.toggle("Search with 1, 2, 4 and 8 (some seconds)", False, key="search"):
    try:
        chosen, rows = widened(name, alpha, strength, length)
    except (UserError, ValueError) as error:
        ui.stop(str(error))
    size = [row.width for row in rows]
    left, right = ui.columns(2)
    with left:
        best = {"best text found": [row.log_prob for row in rows]}
        ui.figure(
            basic.curves(best, x=size, markers=True, xlabel="beam B", ylabel="log P (nats)"), key="best",
            alt="Log-probability of the best text against the width", data={"B": size, **best},
        )  # fmt: skip
    with right:
        lengths = {"α = 0": [row.length for row in rows], f"α = {alpha:g}": [row.normalised for row in rows]}
        ui.figure(
            basic.curves(lengths, x=size, markers=True, xlabel="beam B", ylabel="tokens"), key="lengths",
            alt="Length of the best text against the width",
            data={"B": size, "sum": [row.length for row in rows],
                  "normalised": [row.normalised for row in rows]},
        )  # fmt: skip
    ui.table(
        {
            "B": size,
            "log P": [f"{row.log_prob:.3f}" for row in rows],
            "no worse than before": ["–", *(f"{row.better} of {len(chosen)}" for row in rows[1:])],
            "different pairs, beam": [f"{row.beam:.3f}" for row in rows],
            f"different pairs, groups, λ = {strength:g}": [f"{row.diverse:.3f}" for row in rows],
        },
        alt="What every width finds, and how much of it differs", key="widths",
    )  # fmt: skip
    last = rows[-1]
    ui.equation(
        rf"\overline{{\log P}}_{{B={size[0]}}} = {rows[0].log_prob:.3f} \;\to\; "
        rf"\overline{{\log P}}_{{B={last.width}}} = {last.log_prob:.3f}",
        note=f"Means over the beginnings {', '.join(map(repr, chosen))}. Different pairs: of neighbouring "
        f"tokens in all {last.width} texts, {last.beam:.3f} of a beam and {last.diverse:.3f} of groups.",
    )
ui.notice(
    "On average a wider beam finds likelier texts, though not behind every beginning. Where texts can "
    "end, likelier means shorter; dividing by a power of the length holds against it. The texts of one "
    "beam share most of their words; a penalty makes groups choose apart."
)
ui.presets(
    {
        "Sentences that end": {"trained": "ngram-multi30k", "search": True, "most": 16},
        "Endless characters": {"trained": "ngram-shakespeare", "search": True, "most": 12},
    }
)
if asked:
    ui.check(
        "Does the widest beam find a likelier text than greedy, on average?",
        ["yes", "no"],
        "yes" if last.log_prob > rows[0].log_prob + 1e-9 else "no",
        f"{rows[0].log_prob:.3f} and {last.log_prob:.3f} nats.",
    )
ui.source(lens.widths, beam_trace, references=REFERENCES)
