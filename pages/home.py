"""Home: six generators at work; a word or a digit, answered by every lens at once; and the course."""

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing, embeddings, generators, latent, stock, strip
from lab.lenses import text as texts

FAMILIES = {
    "foundations": "Probability and divergences, on which all others stand.",
    "autoregressive": "The chain rule: each variable given those before it.",
    "language": "Tokens, n-grams, word vectors; decoding.",
    "recurrent": "A hidden state carried along the sequence.",
    "transformer": "Self-attention over all earlier tokens.",
    "convolution": "Shared filters; receptive fields grow with depth.",
    "graph": "Message passing along the edges of a graph.",
    "latent": "Latent variables: mixtures, HMMs, VAEs, the ELBO.",
    "flow": "Invertible maps with an exact density.",
    "adversarial": "A generator against a discriminator.",
    "diffusion": "Noise added step by step, and a network that removes it.",
}
LENSES = {
    "attention": "Attention",
    "receptive_field": "Receptive field",
    "latent": "Latent space",
    "sampling": "Sampling",
}
SIX, WORD, DIGIT = "films", "a word", "a digit"
WRITER, CUTTER, VECTORS = "gpt-shakespeare", "ngram-bpe500-shakespeare", "sgns-multi30k"
READER, PLACER = "cnn-mnist", "vae2d-mnist"
SIDE = 28
# name -> title, a few words, how it is drawn, and what is shown.
TILES: dict[str, tuple[str, str, ui.Kind, str]] = {
    "diffusion": ("Diffusion", "a digit out of noise", "pictures", "Noise that becomes a handwritten 5"),
    "gan": ("GAN", "a walk between draws of z", "pictures", "Generated digits that turn into each other"),
    "flow": ("Flow", "layers bend the plane", "plane", "A grid and a cloud bent into two half-moons"),
    "vae": ("VAE", "a walk in the latent space", "tour", "Decoded digits over the latent plane"),
    "text": ("GPT", "one character at a time", "text", "A text in the manner of Shakespeare"),
    "attention": ("Attention", "every head looks back", "maps", "Attention weights of sixteen heads"),
}

stage = ui.stage(
    "Lectern", "Deep generative models, really trained: six at work, or ask with a word or a digit."
)
stage.scenes(
    {
        "Six generators": ui.scene(
            "Six trained models generate; a click on one opens its page at the moment that is shown.", ask=SIX
        ),
        "A name": ui.scene(
            "After a name in capitals the model is nearly certain of the next character.", text="ROMEO"
        ),
        "No word": ui.scene("Letters in no order: each has a surprise of many nats.", text="qzxj kvwq"),
        "A digit": ui.scene(
            "Class, gradient, latent code and nearest neighbours of one digit; a click goes on with it.",
            ask=DIGIT,
        ),
        "No digit": ui.scene(
            "A box is no digit, but the classifier's softmax must choose one of ten classes.", ask=DIGIT,
            digit="box",
        ),
        "A word": ui.scene("Two language models and word vectors read one text; a click goes on with it."),
    }
)  # fmt: skip


@ui.cached
def examples() -> list:
    """Ten digits to start from, and a box."""
    box = torch.zeros(SIDE, SIDE)
    box[6:22, 6:22] = 1.0
    box[8:20, 8:20] = 0.0
    return [*drawing.examples(SIDE), ("box", box)]


@ui.cached
def neighbourhood() -> tuple:
    """Digits held out from training, their labels and their places."""
    pictures, labels = stock.grey(SIDE, 1000, stock.has_mnist())
    encoder, _ = ui.load(PLACER), ui.load(READER)  # what a digit is shown to, ready with its neighbours
    return pictures, labels, latent.codes(encoder, latent.as_input(encoder, pictures))


@ui.cached
def vectors() -> embeddings.Table:
    return embeddings.table(ui.load(VECTORS), ui.card(VECTORS))


def small(fig: basic.go.Figure, **how) -> None:
    """A tile's figure: half of the picture high, with thin margins, as its title stands above it."""
    fig.update_layout(margin={"l": 4, "r": 4, "t": 8, "b": 4})
    ui.figure(fig, share=0.5, **how)


def words(text: str) -> None:
    """Six tiles that answer a text."""
    model = ui.load(WRITER)
    coder, cutter = (texts.tokenizer(ui.card(name)) for name in (WRITER, CUTTER))
    text, strange = strip.readable(coder, text)
    if strange:
        ui.warning(f"{WRITER} has never seen {strange}: the rest of your text is read.")
    if not text:
        ui.caption("Type at least one letter.")
        return
    tokens = texts.read(coder, text, model.context)
    pieces = texts.names(cutter, texts.read(cutter, text))
    results = strip.word(model, tokens)
    letters, top, ahead = (texts.names(coder, ids) for ids in (tokens, results.top, results.ahead))
    rows = [ui.columns(3) for _ in range(2)]
    with rows[0][0], ui.tile("Tokens", f"{len(pieces)}, of 500 that it knows", "language-tokenizer-workbench",
                             text=text):  # fmt: skip
        small(
            basic.bars(pieces, [len(piece) for piece in pieces], color=basic.theme.INPUT),
            alt="Letters of each token of the text, as byte-pair encoding cuts it", key="tokens",
        )  # fmt: skip
    with rows[0][1], ui.tile("Attention", "the heads of layer 1", "transformer-attention", text=text):
        small(
            basic.images(results.heads, columns=len(results.heads), scale="violet"),
            alt="Attention weights of the first layer's heads: row looks at column", key="heads",
        )  # fmt: skip
    with (
        rows[0][2],
        ui.tile("Next letter", f"{top[0]} has {results.p[0]:.2f}", "language-truncation", prompt=text),
    ):
        small(
            basic.bars(top, results.p), alt="Probabilities of the likeliest next letters", key="next",
            data={"letter": top, "p": results.p},
        )  # fmt: skip
    with (
        rows[1][0],
        ui.tile("Goes on", f"{text[-12:]}|{''.join(ahead)}", "transformer-sampling", prompt=text),
    ):
        small(
            basic.bars(ahead, results.sure, probability=True), key="ahead",
            alt="How the text goes on, and how sure each letter is", data={"letter": ahead,
            "p": results.sure},
        )  # fmt: skip
    with rows[1][1], ui.tile("Surprise", "nats that each letter costs", "language-perplexity", text=text):
        small(
            basic.bars(letters[1:][-16:], results.surprise[-16:], color=basic.theme.INPUT),
            alt="Surprise of each letter given those before it, in nats", key="surprise",
            data={"letter": letters[1:], "nats": results.surprise},
        )  # fmt: skip
    result = strip.company(vectors(), "".join(c if c.isalpha() else " " for c in text.lower()).split())
    says = f"of {result[0]}, by cosine" if result else "no word of yours has a vector"
    with rows[1][2], ui.tile("Neighbours", says, "language-word-vectors", corpus="captions"):
        if result:
            _, names, cosines = result
            small(
                basic.bars(names, cosines, horizontal=True, color=basic.theme.HIDDEN),
                alt=f"The words nearest to {result[0]}", key="company",
                data={"word": names, "cosine": cosines},
            )  # fmt: skip


def digits(picture: torch.Tensor) -> None:
    """Four tiles that answer a drawing."""
    pictures, labels, codes = neighbourhood()
    result = strip.digit(ui.load(READER), ui.load(PLACER), picture, pictures)
    best, drawn = int(result.p.argmax()), ui.ink(picture)
    near = [str(label) for label in labels[result.near].tolist()]
    rows = [ui.columns(2) for _ in range(2)]
    with rows[0][0], ui.tile("Class", f"{best} has {result.p[best]:.2f}", "convolution-receptive-field",
                             model=READER, digit28=drawn):  # fmt: skip
        small(
            basic.bars([str(c) for c in range(10)], result.p, best, probability=True), key="classes",
            alt="Probabilities of the ten classes", data={"class": range(10), "p": result.p},
        )  # fmt: skip
    with rows[0][1], ui.tile("Gradient", f"the pixels that move the answer {best}",
                             "convolution-receptive-field", model=READER, digit28=drawn):  # fmt: skip
        small(
            basic.images([picture, result.field / result.field.max().clamp(min=1e-12)], columns=2, gap=4),
            alt="The drawing, and how much each of its pixels moves the likeliest class", key="field",
        )  # fmt: skip
    with rows[1][0], ui.tile("Latent space", "its place among other digits", "latent-latent-space",
                             model=PLACER, a=drawn):  # fmt: skip
        fig = basic.scatter(codes, labels, size=5, equal=False)
        fig.update_layout(showlegend=False)
        fig.add_scatter(x=[result.code[0].item()], y=[result.code[1].item()], mode="markers", name="yours",
                        marker={"symbol": "x", "size": 18, "color": basic.theme.text()})  # fmt: skip
        small(fig, alt="Places of digits in the plane of the autoencoder, and a cross at yours",
                  key="place")  # fmt: skip
    with (
        rows[1][1],
        ui.tile(
            "Neighbours", f"pixel by pixel: {', '.join(near)}", "latent-latent-space", model=PLACER, a=drawn
        ),
    ):
        small(
            basic.images(pictures[result.near], columns=len(near), gap=3),
            alt=f"The digits nearest to yours, pixel by pixel: {', '.join(near)}", key="near",
        )  # fmt: skip


def six() -> None:
    """Six films under one clock."""
    film = ui.film(
        generators.MOMENTS, key="moment", default=generators.POSTER, seconds=0.08, label="At", plays=True,
        names=[f"{100 * m / (generators.MOMENTS - 1):.0f} %" for m in range(generators.MOMENTS)],
    )  # fmt: skip
    with stage.picture:
        ui.wall(
            [ui.Tile(*words, generators.SIX[name].page, ui.reel(name)) for name, words in TILES.items()],
            film, key="wall",
        )  # fmt: skip
    with stage.foot:
        film.bar()


with stage.rail:
    ask = ui.choice("Show", [SIX, WORD, DIGIT], key="ask", default=WORD)
    if ask == SIX:
        ui.caption("Space stops and plays, ← and → step; a click on a film opens its page.")
    elif ask == WORD:
        typed = ui.text("Type a word", "The man", key="text", max_chars=60, area=False,
                        examples={"Night": "Good night", "To be": "To be, or not"})  # fmt: skip
    else:
        drawn = ui.draw("Draw a digit", key="digit", size=SIDE, examples=examples())
if ask == SIX:
    six()
    for each in (vectors, neighbourhood, examples):
        ui.prefetch(each, ())
elif ask == WORD:
    with stage.picture:
        words(typed)
    ui.prefetch(neighbourhood, ())
    ui.prefetch(examples, ())
else:
    with stage.picture:
        digits(drawn)
with stage.below if ask == SIX else stage.foot:  # six pictures leave no room for the map beside them
    ui.course_map(FAMILIES, LENSES, key="open")
with stage.below:
    ui.notice(
        "Every model here was trained by one command, `lab fit <experiment>`, and has a card with its data, "
        "settings and test results: **Models** shows them. **Train** starts a run of your own, which then "
        "stands beside these. **Teaching with it** has the rooms of each family in order, and a lecture. "
        "Every control is part of the link: copy it and others see the same."
    )
