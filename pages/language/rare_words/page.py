"""Rare words: the fewer words a vocabulary has, the lower the perplexity, though nothing has improved."""

from lab import ui
from lab.figures import basic, theme
from lab.lenses.counts import PETS, SAM
from modules.language.ngram import NGram
from pages.language.rare_words import lens
from pages.language.rare_words.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Pets": ui.scene("Blue: all words, <unk> among them. Orange: only the words that every model knows."),
        "Sam": ui.scene("A corpus this small: at two occurrences most of its words are gone.", own=SAM),
        "Python documentation": ui.scene(
            "Perplexity falls as rare words are left out; at words that all know it hardly moves.", docs=True
        ),
    }
)

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    docs = ui.toggle("Python documentation", False, key="docs", help="Takes some seconds")
    written = PETS
    if not docs:
        written = ui.text("Own corpus, a sentence a line", PETS, key="own",
                          examples={"Pets": PETS, "Sam": SAM}, max_chars=5000)  # fmt: skip


@ui.cached
def inflated(written, docs):
    return lens.inflation(*(documentation() if docs else lens.split(written)))


@ui.cached
def documentation():
    return lens.lines_of_pydocs()


ui.prefetch(inflated, (PETS, True))
ui.prefetch(documentation, ())
if not docs and not written.strip():
    ui.stop("There is no text to count: type at least one word.")
rows = inflated(written, docs)
least = [row.min_count for row in rows]
lines = {"all words": [row.perplexity for row in rows],
         "words that all know": [row.known_perplexity for row in rows]}  # fmt: skip
unknown = [row.unknown for row in rows]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            basic.curves(lines, x=least, markers=True, xlabel="occurrences that a word needs",
                         ylabel="test perplexity",
                         colors={"all words": theme.INPUT, "words that all know": theme.OUTPUT}),
            alt="Test perplexity against the occurrences that a word needs", key="rare-perplexity",
            data={"min count": least, **lines}, share=1.0,
        )  # fmt: skip
    with right:
        ui.figure(
            basic.bars(least, unknown, ylabel="unknown in the test", xlabel="occurrences",
                       color=theme.HIDDEN),
            alt="Share of unknown words against the occurrences that a word needs", key="rare-unknown",
            data={"min count": least, "unknown": unknown}, share=1.0,
        )  # fmt: skip
first, last = rows[0], rows[-1]
stage.metrics({"Words": f"{first.vocabulary:,} to {last.vocabulary:,}",
               "Unknown": f"{first.unknown:.1%} to {last.unknown:.1%}"})  # fmt: skip
stage.equation(
    rf"\text{{PP}}_{{c \ge {first.min_count}}} = {first.perplexity:.2f},\quad"
    rf"\text{{PP}}_{{c \ge {last.min_count}}} = {last.perplexity:.2f}",
    note=f"At the words that all know: {first.known_perplexity:.2f} and {last.known_perplexity:.2f}.",
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.caption(f"Every {'tenth line of 300,000 characters' if docs else 'fourth line'} is the test.")
    ui.table(
        {
            "min count": least, "words": [row.vocabulary for row in rows],
            "unknown in the test": [f"{row.unknown:.2%}" for row in rows],
            "perplexity": [f"{row.perplexity:.2f}" for row in rows],
            "of words that all know": [f"{row.known_perplexity:.2f}" for row in rows],
        },
        alt="Vocabulary, unknown words and perplexity for every min count", key="rare",
    )  # fmt: skip
    ui.notice(
        "The more words are `<unk>`, the easier they are to guess. Perplexities compare only over the same "
        "vocabulary, or at the words that every vocabulary has."
    )
    if len(rows) > 1:
        falls = last.perplexity < first.perplexity
        ui.check(
            f"Is the perplexity of all words lower if a word needs {last.min_count} occurrences?",
            ["yes", "no"], "yes" if falls else "no",
            f"It goes from {first.perplexity:.2f} to {last.perplexity:.2f}.",
            wrong={
                "yes": "One token for all rare words comes often, but here too few words are rare for it "
                "to count.",
                "no": "All rare words become one token that comes often: the text looks easier than it is.",
            },
            veils=("picture", "equation", "rare"),
        )  # fmt: skip
    ui.program(
        f"""
        from pages.language.rare_words import lens

        training, test = {"lens.lines_of_pydocs()" if docs else f"lens.split({written!r})"}
        result = [row.perplexity for row in lens.inflation(training, test)]
        """,
        shows=lines["all words"],
    )
    ui.source(lens.inflation, NGram.count, references=ROOM.references)
