"""Vocabulary size: perplexity per token and bits per byte of n-gram models, from small to large."""

from lab import ui
from lab.figures import basic, theme
from lab.lenses import counts
from modules.language.ngram import NGram
from pages.language.vocabularies import lens
from pages.language.vocabularies.room import ROOM

MEASURES = (("perplexity", "perplexity per token"), ("bits_per_byte", "bits per byte"))

stage = ui.stage(ROOM)
stage.scenes(
    {
        "All models": ui.scene("Left a token, right a byte: they order the models differently."),
        "Shakespeare": ui.scene("Perplexity per token grows over sixteenfold; bits per byte hardly move.",
                                corpus="shakespeare"),
        "Python docs": ui.scene("Byte pairs: five times the perplexity of letters, as many bits.",
                                         corpus="pydocs"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    corpus = ui.choice("Corpus", ["all", "shakespeare", "pydocs"], key="corpus", as_list=True)
    count = ui.toggle("Count eight vocabularies", False, key="models",
                      help="Over the Python documentation; takes some seconds")  # fmt: skip


@ui.cached
def embedded():
    return lens.embedded()


@ui.cached
def largest():
    return lens.BPETokenizer.train(embedded()[0], max(lens.SIZES))


@ui.cached
def of_size(size):
    training, test = embedded()
    return lens.count(lens.first(largest(), size), training, test, 4)


ui.prefetch(of_size, *((size,) for size in lens.SIZES))
ui.prefetch(largest, ())
ui.prefetch(embedded, ())

rows = {}
for name in ui.trained("language", counts.of_ngrams):
    if (corpus == "all" or name.endswith(corpus)) and (row := lens.shipped(ui.card(name))):
        rows[name] = row

# --- Picture ------------------------------------------------------------------------------------


def draw(columns):
    """Both measures beside each other: (a figure, its numbers) for each."""
    for column, (measure, label), (fig, data) in zip(ui.columns(2), MEASURES, columns, strict=True):
        with column:
            ui.figure(fig, alt=f"{label} of n-gram models with small and large vocabularies", data=data,
                      key=f"vocabulary-{measure}", share=1.0)  # fmt: skip


def counted(result):
    """A line for every order, over the vocabularies counted so far."""
    if not result:
        return
    sizes, columns = [one.vocabulary for one in result], []
    for measure, label in MEASURES:
        lines = {f"order {n}": [getattr(one, measure)(n) for one in result]
                 for n in range(2, 1 + len(result[0].nll))}  # fmt: skip
        fig = basic.curves(lines, x=sizes, markers=True, xlabel="vocabulary", ylabel=label)
        columns.append((fig, {"vocabulary": sizes, **lines}))
    draw(columns)


def shipped():
    """A bar for every trained model."""
    columns, short = [], [name.removeprefix("ngram-") for name in rows]
    for measure, label in MEASURES:
        values = [row[measure.replace("_", " ")] for row in rows.values()]
        fig = basic.bars(short, values, xlabel=label, horizontal=True, color=theme.OUTPUT)
        columns.append((fig, {"model": short, label: values}))
    draw(columns)


def start():
    training, test = embedded()
    return lens.comparing(training, test, largest=largest, counted=of_size)


results = []
with stage.picture:
    if count:
        results = ui.result(
            "Count eight vocabularies", key="count", of="embedded",
            start=start,
            quick=False, show=counted, says="The curves are whole when all eight are counted.",
        )  # fmt: skip
        counted(results)
    else:
        shipped()
one = max(rows.values(), key=lambda row: row["vocabulary"])
if results:
    last, n = results[-1], len(results[-1].nll)
    perplexity, width, bits = last.perplexity(n), last.test_bytes_per_token, last.bits_per_byte(n)
    text = f"Order {n} over {last.vocabulary:,} tokens, on {lens.TEST:,} characters that were not counted."
else:
    perplexity, width, bits = one["perplexity"], one["bytes per token"], one["bits per byte"]
    text = f"The model with the largest vocabulary: {one['vocabulary']:,} tokens, order {one['order']}."
stage.equation(
    rf"\frac{{\ln \text{{PP}}}}{{\ln 2 \cdot \text{{bytes per token}}}} ="
    rf"\frac{{\ln {perplexity:.2f}}}{{\ln 2 \cdot {width:.3f}}} = {bits:.3f}",
    note=text,
)

# --- Words --------------------------------------------------------------------------------------

by_token = min(rows, key=lambda name: rows[name]["perplexity"])
by_byte = min(rows, key=lambda name: rows[name]["bits per byte"])
with stage.below:
    ui.table(
        {"model": list(rows)} | {
            column: [f"{row[column]:.3f}" if isinstance(row[column], float) else row[column]
                     for row in rows.values()]
            for column in ("vocabulary", "order", "bytes per token", "perplexity", "bits per byte")
        },
        alt="Perplexity per token and bits per byte of trained models", key="shipped",
    )  # fmt: skip
    ui.notice(
        "Perplexity per token rises with the vocabulary, because a token says more. Bits per byte divide by "
        "what a token says, and compare models over different vocabularies, on the same text."
    )
    ui.check(
        "Which of these models knows its text best, byte by byte?", list(rows), by_byte,
        f"{rows[by_byte]['bits per byte']:.3f} bits per byte; "
        f"the lowest perplexity per token has {by_token}.",
        wrong={
            name: f"“{name}” needs {row['bits per byte']:.3f} bits per byte: perplexity is by token."
            for name, row in rows.items()
        },
        veils=("picture", "shipped"),
    )  # fmt: skip
    ui.program(
        f"""
        import math
        from lab import experiments, weights

        result = []
        for name in {list(rows)}:
            card = weights.read_card(experiments.ZOO / name)
            nats, width = card["metrics"]["test/nll"], card["data"]["bytes_per_token"]["test"]
            result += [math.exp(nats), nats / math.log(2) / width]
        """,
        shows=[row[column] for row in rows.values() for column in ("perplexity", "bits per byte")],
    )
    ui.source(lens.comparing, lens.count, lens.Counted, NGram.fit, references=ROOM.references)
