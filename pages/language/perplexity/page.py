"""Perplexity and divergence: what a probability costs, token by token, and how far two distributions are."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import counts
from modules.language import information as info
from pages.language.perplexity import figures, lens

TYPED = "typed probabilities"
REFERENCES = ["Shannon 1948", "Cover and Thomas 2006, ch. 2", "[LLM] eq. 1.4-1.9, [GM] §3.4.2, [BB] §1.4"]

ui.header("Perplexity and divergence", "A model pays −log of the probability it gave to what came.")


def perplexity_mode() -> None:
    names = ui.trained("language", lambda e: e.module.endswith(".NGram"))
    source = ui.choice("Probabilities from", [TYPED, *names], key="model", as_list=True)
    if source == TYPED:
        left, right = ui.columns(2)
        with left:
            text = ui.text("Tokens, apart by spaces", "a b a", key="tokens", max_chars=200)
        with right:
            numbers = ui.text("Probability of each", "0.7 0.5 0.6", key="p", max_chars=200)
    else:
        example = "A man in an orange hat." if "multi30k" in source else "To be, or not to be"
        text = ui.text("Text", example, key="text", max_chars=300,
                       examples={"Likely": example, "Nonsense": "zx qk jv!"})  # fmt: skip
    unit = ui.choice("Logarithm", ["bits", "nats"], key="unit")
    try:
        if source == TYPED:
            scored = lens.typed(text, numbers)
        else:
            counted = counts.trained(ui.load(source), ui.card(source))
            scored = lens.scored(counted, text)
    except UserError as error:
        ui.stop(str(error))
    bits = info.bits(scored.nats)
    ui.figure(
        figures.surprisal(scored.tokens, bits.tolist(), bits.mean().item()),
        alt="Surprisal of each token in bits, and their mean",
        data={"token": scored.tokens, "p": scored.p, "bits": bits},
    )
    mean = bits.mean().item() if unit == "bits" else scored.mean
    for column, (label, value) in zip(
        ui.columns(4),
        {
            f"Ĥ, {unit} a token": lens.spell(mean),
            "Perplexity": lens.spell(scored.perplexity),
            "Bits a character": lens.spell(scored.bits_per_character),
            "Tokens": str(len(scored.tokens)),
        }.items(),
        strict=True,
    ):
        with column:
            ui.metric(label, value)
    base = "2" if unit == "bits" else "e"
    log = r"\log_2" if unit == "bits" else r"\ln"
    total = bits.sum().item() if unit == "bits" else scored.nats.sum().item()
    count = len(scored.tokens)
    ui.equation(
        rf"\hat H = -\frac1{{{count}}}\sum_t {log} Q(x_t\mid x_{{<t}})"
        rf" = \frac{{{lens.latex(total)}}}{{{count}}} = {lens.latex(mean)},"
        rf"\qquad \text{{PP}} = {base}^{{{lens.latex(mean)}}} = "
        rf"{lens.latex(scored.perplexity)}",
        note=f"Bits a character: {lens.spell(bits.sum().item())} bits over {scored.characters} characters. "
        "Perplexity does not depend on the base of the logarithm, but on what a token is.",
    )
    ui.notice(
        "Perplexity is how many equally likely tokens the model was choosing among. One token of probability "
        "0 makes it ∞, however good the rest. Q = P reaches 2 to the power of the entropy, which is 1 only "
        "where nothing is uncertain; a single text may be luckier than that. Between tokenizers compare bits "
        "a character."
    )
    worst = max(range(count), key=lambda i: float(scored.nats[i]))
    shown = [f"{i + 1}: {token}" for i, token in enumerate(scored.tokens)][:6]
    ui.presets(
        {
            "The slides' example": {"model": TYPED, "tokens": "a b a", "p": "0.7 0.5 0.6"},
            "Uniform of three": {"model": TYPED, "tokens": "a b c", "p": "1/3 1/3 1/3"},
            "Certain": {"model": TYPED, "tokens": "a b a", "p": "1 1 1"},
            "One zero": {"model": TYPED, "tokens": "a b a", "p": "0.7 0 0.6"},
            "Lucky coin": {"model": TYPED, "tokens": "a a a", "p": "0.9 0.9 0.9"},
            "As four words": {"model": TYPED, "tokens": "four words make this.", "p": "1/64 1/64 1/64 1/64"},
        }
    )
    if worst < len(shown):
        ui.check("Which of these tokens cost most?", shown, shown[worst],
                 f"Its probability is {float(scored.p[worst]):.4g}.")  # fmt: skip
    ui.source(info.surprisal, info.perplexity, info.bits_per, references=REFERENCES)


STARTS = [(0.5, 0.2), (0.3, 0.2), (0.2, 0.6), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]


def weights(p: list[float], q: list[float]) -> dict[str, float | str]:
    """The sliders of a preset."""
    given: dict[str, float | str] = {
        f"{name}{i}": v for name, row in (("p", p), ("q", q)) for i, v in enumerate(row)
    }
    return given | {"k": max(2, len(p)), "from": "sliders"}


def show_triangle(p, q, clickable: bool) -> None:
    """Every Q of three outcomes, coloured by its divergence; a click moves Q."""
    way = ui.choice("Colour", ["KL(P‖Q)", "KL(Q‖P)"], key="way")
    found = lens.simplex(p, reverse=way == "KL(Q‖P)")
    fig = figures.simplex(
        found.place, found.kl, found.q, (p @ lens.CORNERS).tolist(), (q @ lens.CORNERS).tolist(),
        lens.CORNERS, way,
    )  # fmt: skip
    alt = f"{way} of every distribution Q of three outcomes; it is 0 only at P"
    data = {f"Q({i + 1})": found.q[:, i] for i in range(3)} | {way: found.kl}
    if clickable:
        ui.clickable(fig, key="point", alt=alt, data=data, mark=False)
    else:
        ui.figure(fig, alt=alt, data=data, key="simplex")


def divergence_mode() -> None:
    size = ui.slider("Outcomes", 2, len(STARTS), 3, key="k")
    triangle = size == 3 and ui.choice("Q from", ["sliders", "the triangle"], key="from") == "the triangle"
    clicked = ui.selection("point") if triangle else None
    left, right = ui.columns(2)
    with left:
        first = [
            ui.slider(f"P({i + 1})", 0.0, 1.0, STARTS[i][0], key=f"p{i}", step=0.01) for i in range(size)
        ]
    with right:
        second = (
            [ui.slider(f"Q({i + 1})", 0.0, 1.0, STARTS[i][1], key=f"q{i}", step=0.01) for i in range(size)]
            if not triangle
            else lens.weights_at(clicked, [q for _, q in STARTS[:3]])
        )
        if triangle:
            ui.caption("Click into the triangle below to move Q: " + ", ".join(f"{v:.2f}" for v in second))
    try:
        p, q = lens.distribution(first), lens.distribution(second)
    except UserError as error:
        ui.stop(str(error))
    if abs(sum(first) - 1) > 1e-9 or abs(sum(second) - 1) > 1e-9:
        ui.caption("What you drag are weights; P and Q are drawn divided by their sums.")
    values = lens.measures(p, q)
    if size == 3:
        show_triangle(p, q, triangle)
    ui.figure(
        figures.pair(p.tolist(), q.tolist(), info.telling_event(p, q).tolist()),
        alt="P and Q side by side", data={"outcome": list(range(1, size + 1)), "P": p, "Q": q},
    )  # fmt: skip
    ui.table(
        {
            "measure": list(values),
            "nats": [lens.spell(v) for v in values.values()],
            "bits": [lens.spell(v / info.LN2) if "TV" not in name else "–" for name, v in values.items()],
        },
        alt="Entropies, cross-entropy, divergences both ways and total variation",
        key="measures",
    )
    curves = lens.binary(float(p[0]))
    ui.figure(
        basic.curves({n: v for n, v in curves.items() if n != "q"}, x=curves["q"], mark=float(q[0]),
                     xlabel="q", ylabel="nats",
                     title=f"A coin: P = ({float(p[0]):.2f}, {1 - float(p[0]):.2f}), Q = (q, 1 − q)"),
        alt="Divergences and total variation of a coin P from every coin Q", data=curves,
    )  # fmt: skip
    ui.equation(
        rf"H(P,Q) = H(P) + \mathrm{{KL}}(P\Vert Q) = {lens.latex(values['H(P)'])} + "
        rf"{lens.latex(values['KL(P‖Q)'])} = {lens.latex(values['H(P, Q)'])}",
        note=f"Nats. The best perplexity on data from P is e^H(P) = {info.entropy(p).exp().item():.4f}; "
        f"coding with Q costs {lens.spell(values['KL(P‖Q)'])} nats more. TV = {values['TV(P, Q)']:.4f} is "
        "the largest difference that P and Q give any event: the outcomes marked •.",
    )
    ui.notice(
        "The divergence is 0 only where Q = P, and it is not symmetric: KL(P‖Q) is ∞ as soon as Q forbids "
        "what P allows, KL(Q‖P) where P forbids what Q allows. Total variation never exceeds 1."
    )
    ui.presets(
        {
            "(½, ¼, ¼) and uniform": weights([0.5, 0.25, 0.25], [0.33, 0.33, 0.33]),
            "Two of three": weights([0.5, 0.3, 0.2], [0.2, 0.2, 0.6]),
            "Forbidden": weights([0.25, 0.25, 0.5], [0.5, 0.5, 0.0]),
            "Equal": weights([0.6, 0.4], [0.6, 0.4]),
            "On the triangle": {"k": 3, "from": "the triangle"},
            "One-hot target": weights([0.0, 1.0, 0.0], [0.2, 0.7, 0.1]),
            "Coins": weights([0.5, 0.5], [0.1, 0.9]),
        }
    )
    forward, backward = values["KL(P‖Q)"], values["KL(Q‖P)"]
    close = abs(forward - backward) < 1e-9 or forward == backward
    ui.check(
        "Which divergence is larger?",
        ["KL(P‖Q)", "KL(Q‖P)", "they are equal"],
        "they are equal" if close else "KL(P‖Q)" if forward > backward else "KL(Q‖P)",
        f"KL(P‖Q) = {lens.spell(forward)}, KL(Q‖P) = {lens.spell(backward)} nats.",
    )
    ui.source(info.entropy, info.cross_entropy, info.kl, info.total_variation, references=REFERENCES)


modes = {"Perplexity": perplexity_mode, "Divergence": divergence_mode}
modes[ui.choice("Show", list(modes), key="show", default="Perplexity")]()
