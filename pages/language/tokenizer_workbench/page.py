"""Tokenizer workbench: one text in six ways, byte pair encoding merge by merge, vocabulary against length."""

from lab import ui
from lab.figures import basic, trees
from modules.language import subwords
from modules.language.tokenization import BPE, Kind, PairCounts
from pages.language.tokenizer_workbench import figures, lens, vocabularies

RHYME = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see see see "
    "was the bottom of the deep blue sea sea sea"
)
TRAINING = {
    "Rhyme": RHYME,
    "low, newest": "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3,
    "Runs": "aaa aaaaa aa aaa",
    "Code": "for i in range(10):\n    total = total + i\n    print(total, i)\n" * 3,
}
OWN = {
    "Sea": "see the deep sea",
    "Unseen words": "the seashore was blue, unseen!",
    "lowest newer wide": "lowest newer wide",
    "Accents": "a café costs 3 € 😀",
}

CLICKED = "the one clicked above, else the newest"

ui.header("Tokenizer workbench", "A model reads numbers: how a text is cut into tokens decides which.")

# --- Controls -----------------------------------------------------------------------------------

left, right = ui.columns(2)
with left:
    training = ui.text("Training text", RHYME, key="train", examples=TRAINING, max_chars=2000)
with right:
    text = ui.text("Text to encode", OWN["Sea"], key="text", examples=OWN, max_chars=500)
first, second = ui.columns(2)
with first:
    base = ui.choice("BPE starts from", ["characters", "bytes"], key="base")
    kind: Kind = "word" if base == "characters" else "byte"
with second:
    tied = ui.choice("Of pairs equally frequent", ["first in the text", "smaller ids"], key="tie")
    tie = {"first in the text": "first", "smaller ids": "id"}[tied]
if not training.strip() or not text.strip():
    ui.stop("There is no text: type at least one word into both fields.")


@ui.cached
def learn(training, kind, tie):
    return lens.learn(training, lens.MERGES, kind, tie)


trace = learn(training, kind, tie)
if not len(trace):
    ui.stop("There is nothing to merge in this training text: give it a word of two letters.")
full: BPE = trace.result
step = ui.stepper(len(trace), key="step", default=min(21, len(trace) - 1), label="Merge")
now = trace[step].values
bpe = full.first(step + 1)


@ui.cached
def encode(training, text, kind, tie, merges):
    return lens.Bench(training, learn(training, kind, tie).result.first(merges)).encode(text)


coded = encode(training, text, kind, tie, step + 1)

# --- Pictures -----------------------------------------------------------------------------------

beside, merging, sizes, models = ui.tabs(
    ["Side by side", "Merge by merge", "Vocabulary and length", "A model per vocabulary"]
)


def show(one):
    unknown = f", **{one.unknown} unknown**" if one.unknown else ""
    ui.markdown(f"**{one.name}**: {len(one.tokens)} tokens of {one.vocabulary:,}{unknown}")
    ui.figure(
        figures.pieces(one.tokens, one.ids), key=f"tokens-{one.name}",
        alt=f"The text as {one.name} tokens with their ids", data={"token": one.tokens, "id": one.ids},
    )  # fmt: skip


with beside:
    for one in coded:
        if one.name not in lens.LIBRARY:
            show(one)
    if ui.toggle("WordPiece and unigram as the tokenizers library learns them", False, key="library"):
        for one in coded:
            if one.name in lens.LIBRARY:
                show(one)
        ui.caption(
            "Learned from the same words, and no larger. Encoding is ours exactly: longest match, and "
            "Viterbi. Learning is not: the library's WordPiece merges the most frequent pair, as BPE does, "
            "and its unigram pieces start from another set and are pruned by other steps."
        )
    size = len(text.encode())
    ui.table(
        {
            "tokenizer": [one.name for one in coded],
            "tokens": [len(one.tokens) for one in coded],
            "vocabulary": [one.vocabulary for one in coded],
            "unknown": [one.unknown for one in coded],
            "bytes a token": [f"{size / len(one.tokens):.3f}" for one in coded],
        },
        alt="Length, vocabulary and unknown tokens under each tokenizer",
        key="counts",
    )
with merging:
    pair = now["pair"]
    names = [lens.readable(u, kind) for u in pair]
    ui.markdown(
        f"Merge {step + 1}: **{names[0]}** + **{names[1]}** → **{''.join(names)}**, side by side "
        f"{now['count']} times in the training text."
    )
    tokens, made = lens.segmented(training, bpe, pair)
    spelled = bpe.encode(training)
    clicked = ui.clickable(
        figures.pieces(tokens, bpe.ids(spelled), made, clickable=True), key="piece", mark=False,
        alt=f"The training text after {step + 1} merges, the new token in strong colour",
        data={"token": tokens, "new": made},
    )  # fmt: skip
    labels = [" + ".join(lens.readable(u, kind) for u in p) for p, _ in now["table"]]
    before = [count for _, count in now["table"]]
    ui.figure(
        basic.bars(labels, now["after"], baseline=before, horizontal=True, names=("after", "before"),
                   xlabel="times side by side", height=420),
        alt="The most frequent pairs before and after this merge",
        data={"pair": labels, "before": before, "after": now["after"]},
    )  # fmt: skip
    learned = list(dict.fromkeys(reversed(["".join(p) for p in bpe.merges])))
    here = spelled[clicked["customdata"][0]] if clicked else learned[0]
    token = ui.choice(
        "How did this token come about?", [CLICKED, *learned], key="token", as_list=True,
        format=lambda t: t if t == CLICKED else lens.readable(t, kind),
    )  # fmt: skip
    token = here if token == CLICKED else token
    found = lens.merge_tree(bpe, token)
    names = [lens.readable(t, kind) for t in found.tokens]
    how = [f"{n}: merge {m}" if m else f"{n}: a unit of the beginning"
           for n, m in zip(names, found.merge, strict=True)]  # fmt: skip
    ui.figure(
        trees.tree(
            found.x, found.y, found.parent,
            [f"{n} · merge {m}" if m else n for n, m in zip(names, found.merge, strict=True)],
            how, [True] * len(names), height=170 + 60 * max(found.y),
            beside=["top left" if m else "bottom center" for m in found.merge],
        ),
        key="merge-tree", alt=f"The merges that made {names[0]}, units at the bottom",
        data={"token": names, "merge": found.merge, "parent": found.parent},
    )  # fmt: skip
with sizes:
    steps = list(range(1, len(trace) + 1))
    lines = {
        "vocabulary: base + merges": [s.values["vocabulary"] for s in trace],
        "different tokens in the text": [s.values["types"] for s in trace],
        "length of the text in tokens": [s.values["tokens"] for s in trace],
    }
    ui.figure(
        basic.curves(lines, x=steps, mark=step + 1, xlabel="merges", ylabel="count", log_y=True),
        alt="Vocabulary, occurring types and length against the number of merges",
        data={"merges": steps, **lines},
    )


@ui.cached
def compared():
    return vocabularies.compare(*vocabularies.embedded())


with models:
    rows = {}
    for name in ui.trained("language", lambda e: e.module.endswith(".NGram")):
        if row := vocabularies.shipped(ui.card(name)):
            rows[name] = row
    ui.markdown("**Trained n-gram models of running text, on their test text**")
    ui.table(
        {"model": list(rows)} | {
            column: [f"{row[column]:.3f}" if isinstance(row[column], float) else row[column]
                     for row in rows.values()]
            for column in ("vocabulary", "order", "bytes per token", "perplexity", "bits per byte")
        },
        alt="Perplexity per token and bits per byte of trained models", key="shipped",
    )  # fmt: skip
    if ui.toggle("Count a model for each of eight vocabularies (some seconds)", False, key="models"):
        found = compared()
        orders = range(2, 1 + len(found[0].nll))
        sizes_found = [one.vocabulary for one in found]
        left, right = ui.columns(2)
        for column, measure, label in (
            (left, "perplexity", "perplexity per token"), (right, "bits_per_byte", "bits per byte"),
        ):  # fmt: skip
            lines = {f"order {n}": [getattr(one, measure)(n) for one in found] for n in orders}
            with column:
                ui.figure(
                    basic.curves(lines, x=sizes_found, markers=True, xlabel="vocabulary", ylabel=label),
                    alt=f"{label} of Kneser-Ney models against the size of the vocabulary",
                    data={"vocabulary": sizes_found, **lines}, key=f"vocabulary-{measure}",
                )  # fmt: skip
        first, last, n = found[0], found[-1], orders[-1]
        ui.equation(
            rf"\frac{{\ln \text{{PP}}}}{{\ln 2 \cdot \text{{bytes per token}}}} ="
            rf"\frac{{\ln {last.perplexity(n):.2f}}}{{\ln 2 \cdot {last.test_bytes_per_token:.3f}}} ="
            rf"{last.bits_per_byte(n):.3f}",
            note=f"Order {n} over {last.vocabulary:,} tokens, on {vocabularies.TEST:,} characters of the "
            f"Python documentation that were not counted. Over bytes: perplexity {first.perplexity(n):.2f}, "
            f"{first.bits_per_byte(n):.3f} bits a byte.",
        )
        ui.caption(
            "Perplexity per token rises with the vocabulary, because a token says more. Bits per byte show "
            "that the models get better, until most tokens are too rare to be counted."
        )

# --- Words --------------------------------------------------------------------------------------

units = len(bpe.base)
ui.equation(
    rf"|\mathcal V| = {units} + {step + 1} = {now['vocabulary']},\qquad"
    rf"\frac{{\text{{bytes of the training text}}}}{{\text{{tokens}}}} ="
    rf"\frac{{{len(training.encode())}}}{{{now['tokens']}}} = {len(training.encode()) / now['tokens']:.3f}",
    note=f"{units} base units, one token more with each merge; {now['types']} different tokens occur in the "
    "training text now.",
)
ui.notice(
    "The vocabulary only grows. The different tokens that occur in the text rise and fall: a piece that was "
    "merged away everywhere stays in the vocabulary unused. Only bytes are never unknown: an unseen "
    "letter stops characters, an unseen word stops words. BPE replays its merges in the order they were "
    "learned; WordPiece takes the longest piece from the left; unigram the most probable cut."
)
ui.presets(
    {
        "The rhyme": {"train": RHYME, "text": OWN["Sea"], "base": "characters", "step": 21},
        "First merge": {"train": RHYME, "base": "characters", "step": 0},
        "Words never seen": {"train": TRAINING["low, newest"], "text": OWN["lowest newer wide"],
                             "base": "characters", "step": 9},
        "Nothing unknown": {"train": RHYME, "text": OWN["Accents"], "base": "bytes"},
        "aaa": {"train": TRAINING["Runs"], "text": "aaaa", "base": "characters"},
    }
)  # fmt: skip
fewest = min(len(one.tokens) for one in coded)
ui.check(
    "Which tokenizer needs the fewest tokens for the text to encode?",
    [one.name for one in coded],
    next(one.name for one in coded if len(one.tokens) == fewest),
    f"It needs {fewest}; of equal ones the first counts. Unknown tokens are short, and say nothing.",
)
ui.source(
    PairCounts.best, PairCounts.merge, BPE.encode_word, subwords.wordpiece_encode, subwords.viterbi,
    references=[
        "Sennrich, Haddow and Birch 2016, arXiv:1508.07909",
        "Kudo 2018, Subword regularization, arXiv:1804.10959",
        "[LLM] part 1, [UDL] §12.5.1 and fig. 12.8, [GM] §1.6.1",
    ],
)  # fmt: skip
