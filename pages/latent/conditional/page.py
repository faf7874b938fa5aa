"""Conditional VAE: tell both networks the class, and the code keeps the style."""

import math

from lab import ui
from lab.figures import basic, sheets, theme
from lab.lenses import latent, stock, vaes
from lab.ui.models import shelves
from modules.latent.conditional import CVAE
from pages.latent.conditional import lens
from pages.latent.conditional.room import ROOM

VALUES = [i / 4 for i in range(-12, 13)]
STYLES = 7
OTHER = "vae-bits-digits"  # the same networks, told nothing
VIEWS = ("Own style", "Class × style", "What the code tells")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One style, ten digits": ui.scene("One code, read off your digit, decoded as each of ten classes."),
        "Turn the style": ui.scene("Play: one number of the code changes all ten classes alike.", step=3.0),
        "Class × style": ui.scene("A row is one code from the prior, a column one class.", view=VIEWS[1]),
        "Called something else": ui.scene("A 7 that both networks are told is a 2: a stranger code.",
                                          digit="7", told=2),
        "What the code tells": ui.scene("Told the class, the code need not tell it: see the second bar.",
                                        view=VIEWS[2]),
        "A classifier, too": ui.scene("The class under which the digit costs least is the model's answer.",
                                      view=VIEWS[2], digit="9"),
    }
)  # fmt: skip


@ui.cached
def probes(name: str) -> tuple[float, float]:
    (x, y), (held, labels) = stock.bits("train"), stock.bits("test")
    model = ui.load(name)
    score = lens.probe(lens.means(model, x, y), y, lens.means(model, held, labels), labels)
    return score, lens.majority_accuracy(y, labels)


@ui.cached
def costs_of(name: str, x):
    return lens.costs(ui.load(name), x)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
    name = ui.experiment("Model", family="latent", key="model", default="cvae-digits", only=lens.fits)
    model = ui.load(name)
    k, classes = model.latent_dim, [str(c) for c in range(lens.CLASSES)]
    if view == VIEWS[1]:
        seed = ui.number("Seed of the styles", 0, 999, 0, key="seed")
    else:
        own = shelves.small_digit("digit", first=3)
        costs, belief = costs_of(name, own.x)
        guess = int(costs.argmin())
    if view == VIEWS[0]:
        result = ui.choice(
            "The encoder is told", ["likeliest", *range(lens.CLASSES)], key="told", as_list=True,
            help="The class given with your digit; the likeliest is the one it costs least under.",
        )  # fmt: skip
        as_class = guess if result == "likeliest" else result
        code, kl = lens.read(model, own.x, as_class)
        order = kl.argsort(descending=True).tolist()
        rank = ui.slider("Dimension, by its KL", 1, k, 1, key="dimension") - 1

# --- Pictures -----------------------------------------------------------------------------------


def own_style() -> None:
    """One code under all ten classes, a film over one of its numbers."""
    d = order[rank]
    film = ui.film(
        len(VALUES), key="step", values=VALUES, default=round(4 * float(code[d])) / 4,
        label=f"{vaes.dimension(d)} =", seconds=0.12,
    )  # fmt: skip
    codes = latent.traverse(code, VALUES, [d])[0]  # (25, K)
    pictures = lens.every_class(model, codes)  # (25, 10, 8, 8)
    with stage.picture:
        left, right = ui.columns([1, 4])
        with left:
            ui.figure(
                basic.image(own.x.reshape(8, 8), title="x"), key="x", share=0.5, alt="Your digit, as bits"
            )
            ui.figure(
                basic.image(lens.every_class(model, code[None])[0, as_class], title=f"rebuilt as {as_class}"),
                key="rebuilt", share=0.5, alt=f"Your digit as the model rebuilds it as class {as_class}",
            )  # fmt: skip
        with right:
            ui.figure(
                sheets.labelled(list(pictures[film.at]), classes, columns=5), key="classes", share=1.0,
                film=film, frames={"data.0.z": sheets.frames(pictures, 5, sheets.label_gap(8))},
                alt="The same code decoded as each of the ten classes",
            )  # fmt: skip
    change = [(p - pictures[len(VALUES) // 2]).abs().mean((1, 2)) for p in pictures]
    with stage.foot:
        film.bar(
            captions=[
                f"{vaes.dimension(d)} = {v:+.2f}, the same in all ten pictures; your digit has "
                f"{float(code[d]):+.2f}. Against 0 the pixels move by {float(c.mean()):.2f} on average."
                for v, c in zip(VALUES, change, strict=True)
            ],
            equations=[
                rf"x_c\sim p(x\,|\,z,c),\quad c=0,\dots,9,\qquad "
                rf"{d + 1}\text{{th number of }}z\text{{ is }}{v:.2f}"
                for v in VALUES
            ],
        )
    with stage.below:
        ui.notice(
            f"The encoder has been told the class {as_class}, so slant, width and thickness are what its "
            f"code has to say: {float(kl.sum()):.2f} nats for your digit, {float(kl[d]):.2f} of them in "
            f"{vaes.dimension(d)}. The decoder gets that code ten times, each time with another class."
        )
        ui.check(
            "Which class do both networks together find likeliest for your digit?",
            classes,
            guess,
            f"−log p(x|c) is at most {costs[guess]:.2f} nats there; the next best class costs "
            f"{costs.sort().values[1]:.2f}.",
            wrong={c: f"As {c} it costs {float(costs[int(c)]):.2f} nats, not the least." for c in classes},
            veils=("picture",),
        )
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.ui.controls import drawing

            model = weights.load({ui.spelled(name)})
            x = {own.program}
            z = model.encode(x, y=torch.tensor([{as_class}]))
            result = [z[0, {d}].item(), model.decode(z, y=torch.tensor([{as_class}])).sum().item()]
            """,
            shows=[float(code[d]), float(lens.every_class(model, code[None])[0, as_class].sum())],
        )


def class_by_style() -> None:
    """Codes from the prior as rows, classes as columns."""
    z = lens.styles(model, STYLES, seed)
    pictures = lens.every_class(model, z)
    with stage.picture:
        ui.figure(
            sheets.contact_sheet(pictures, [f"style {i + 1}" for i in range(STYLES)], classes,
                                  xlabel="class"),
            key="grid", share=1.0, alt=f"{STYLES} codes of the prior, each decoded as all ten classes",
        )  # fmt: skip
    within, between = pictures.var(0).mean(), pictures.var(1).mean()
    stage.equation(
        rf"z_s\sim\mathcal N(0,I),\qquad \overline{{\mathrm{{Var}}_s}}={within:.4f},\quad "
        rf"\overline{{\mathrm{{Var}}_c}}={between:.4f}",
        "Mean variance of a pixel down a column (styles of one class), and along a row (classes of one "
        "style).",
    )
    with stage.below:
        ui.notice(
            "Down a column the class stays and the style changes; along a row the style stays. "
            f"The class moves a pixel {between / within:.1f} times as much as the style does, in variance."
        )
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.latent.conditional import lens

            model = weights.load({ui.spelled(name)})
            pictures = lens.every_class(model, lens.styles(model, {STYLES}, {seed}))
            result = [pictures.var(dim).mean().item() for dim in (0, 1)]
            """,
            shows=[float(within), float(between)],
        )


def class_in_code() -> None:
    """Show how well a line reads the class from the code, and the costs of your digit under each class."""
    score, floor = probes(name)
    plain, _ = probes(OTHER)
    rows = {"told nothing": plain, "told the class": score, "always the commonest": floor}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            fig = basic.bars(list(rows), list(rows.values()), [0, 1], color=theme.HIDDEN, probability=True,
                             title="Class read from μ by a line")  # fmt: skip
            ui.figure(fig, key="probe", share=1.0,
                      alt="Share of test digits whose class a linear probe reads",
                      data={"code": list(rows), "share": list(rows.values())})  # fmt: skip
        with right:
            fig = basic.bars(classes, costs, guess, title="−log p(x|c) of your digit, nats", xlabel="class c")
            ui.figure(fig, key="costs", share=1.0, alt="What your digit costs under each class",
                      data={"class": classes, "nats": costs})  # fmt: skip
    cards = {"told nothing": ui.card(OTHER), "told the class": ui.card(name)}
    stage.metrics({f"−ELBO, {word}": f"{card['metrics']['test/elbo']:.2f}" for word, card in cards.items()})
    stage.equation(
        rf"p(c\,|\,x)=\frac{{p(x|c)}}{{\sum_{{c'}}p(x|c')}},\qquad "
        rf"p({guess}\,|\,x)\approx{belief[guess]:.4f}",
        f"Equally likely classes; each log p(x|c) is a bound from {lens.DRAWS} draws.",
    )
    gain = cards["told nothing"]["metrics"]["test/elbo"] - cards["told the class"]["metrics"]["test/elbo"]
    with stage.below:
        ui.notice(
            f"A line reads the class from {plain:.0%} of the codes of {OTHER}, and from {score:.0%} of "
            f"those of {name}; {floor:.0%} is what blind guessing gives. Being told saves {gain:.2f} "
            f"nats per digit: log p(x|c) is above log p(x) by log 10 = {math.log(10):.2f} at most; "
            "the rest is a tighter bound or a better fit."
        )
        ui.check(
            "The encoder is told the class. Why does the class then leave the code?",
            ["It is paid for there and free beside it", "The encoder cannot see it", "A term removes it"],
            "It is paid for there and free beside it",
            "Every nat that z tells costs a nat of KL; the decoder has the class for nothing.",
            wrong={
                "The encoder cannot see it": "It sees the picture, and the class besides.",
                "A term removes it": "The loss is the plain bound; nothing else is in it.",
            },
            veils=(),
        )
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.latent.conditional import lens

            model = weights.load({ui.spelled(name)})
            x = {own.program}
            costs, belief = lens.costs(model, x)
            result = [costs.min().item(), belief.max().item()]
            """,
            shows=[float(costs.min()), float(belief.max())],
        )


{VIEWS[0]: own_style, VIEWS[1]: class_by_style, VIEWS[2]: class_in_code}[view]()
with stage.below:
    ui.source(
        CVAE.concat_class, CVAE.class_log_weights, lens.every_class, lens.probe, references=ROOM.references
    )
