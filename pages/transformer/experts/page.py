"""Mixture of experts: where tokens are sent, what experts specialise in, loads while they learn."""

from typing import Any

from lab import ui
from modules.transformer import experts
from pages.transformer.experts import figures, lens, plane
from pages.transformer.experts.room import PLANE, ROOM, ROUTES, SPECIAL

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
check: dict[str, Any]

if now.view == ROUTES:
    one = ui.compute(lens.routed, now)
    size = ui.compute(lens.counts, now)
    T, k = one.routing.chosen.shape
    with stage.rail:
        if one.strange:
            ui.warning(one.strange)
        calls = int(one.routing.kept.sum())
        ui.caption(
            f"{k} of {one.z.shape[1]} experts a token: {calls} of {T * k} calls run. Parameters of experts: "
            f"{size.active:,} active of {size.all:,}; of the model {size.model:,}."
        )
    film = ui.film_of(now, T, names=one.pieces)
    captions, equations = lens.route_captions(one), lens.route_equations(one)
    pair = (
        ("routes", figures.routes(one), "Weights of the experts of each token, by expert and token"),
        ("loads", figures.of_text(one), "Share of the assignments that each expert took of this text"),
    )
    code = (
        f"result = lens.routed(model, card, {now.text!r}, {now.language!r}, {now.layer}, {now.capacity!r})"
        f".weights[:, {film.at}]"
    )
    shows: Any = one.weights[:, film.at]
    bound = (
        f"An expert takes at most {one.most} assignments, first choices before second ones and earlier "
        "tokens before later ones; those beyond it add nothing: a token whose experts are all full keeps its "
        "residual alone."
        if one.most is not None
        else "Without a capacity every expert takes all that choose it."
    )
    words = (
        "The softmax is taken once, over the logits of the chosen experts; [GM] takes one before and one "
        "after the choice, which is another function. With k = 1 it would be 1 whatever the logit, and the "
        f"router would get no gradient: there the weight is the probability among all. {bound} “E·N "
        "parameters, N active” holds of the experts and k = 1: attention, embeddings and router are shared."
    )
    check = {
        "question": "With twice as many experts and the same k, the work of a token's experts is …",
        "options": ["the same", "twice as much"], "answer": "the same",
        "reveals": f"k = {k} experts run for a token, however many there are.",
        "wrong": {"twice as much": "Parameters double; experts that are not chosen do not run."},
    }  # fmt: skip
elif now.view == SPECIAL:
    by = ui.compute(lens.special, now)
    film = ui.film_of(now, len(by.table), names=range(1, len(by.table) + 1))
    captions, equations = lens.special_captions(by), lens.special_equations(by)
    pair = (
        ("table", figures.table(by.table), "Share of each expert, by language and kind of character"),
        ("loads", figures.by_language(by.loads), "Load of each expert, by language"),
    )
    code, shows = f"result = lens.special(model, card).loads[{film.at}]", by.loads[film.at]
    tv = {f"layer {l + 1}": value for l, value in enumerate(by.variation)}
    words = (
        f"{by.tokens:,} characters of each language that were not learned from; rows sum to 1. Both "
        "languages have the same characters, so that the router must tell them apart by what attention "
        "brought to the token. Experts are not assigned: what they are good at came out of the training, and "
        "another seed gives others."
    )
    check = {
        "question": "In which layer are the two languages sent to more different experts?",
        "options": list(tv), "answer": max(tv, key=lambda layer: tv[layer]),
        "reveals": "TV is " + ", ".join(f"{value:.2f} in {layer}" for layer, value in tv.items()) + ".",
        "wrong": [f"In {layer} it is {value:.2f}: compare the bars of both languages in the frames."
                  for layer, value in tv.items()],
    }  # fmt: skip
else:
    found = ui.compute(plane.learned, now)
    film = ui.film_of(now, len(found.map), names=range(0, plane.STEPS + 1, plane.EVERY))
    captions, equations = plane.captions(found), plane.equations(found)
    pair = (
        ("plane", figures.plane(found.map, now.experts), "The likeliest expert at each place of the plane"),
        ("loads", figures.of_plane(found.kept, found.loads), "Share of the points that each expert took"),
    )
    arguments = (now.experts, now.active, now.balance, now.biased, now.capacity, now.seed)
    code, shows = f"result = plane.learned(*{arguments!r}).loads[{film.at}]", found.loads[film.at]
    words = (
        f"{plane.POINTS} points, and in each of eight sectors a target of another slope; experts of "
        f"{plane.HIDDEN} units and a linear router, trained here with Adam. An expert that gets no point "
        "gets no gradient, so that it stays what it was: the rich get richer. E Σ f P is 1 where loads and "
        "probabilities are uniform."
    )
    check = {
        "question": "An expert that no point is sent to …",
        "options": ["learns nothing", "learns from its errors"], "answer": "learns nothing",
        "reveals": "It does not run, so that no gradient reaches it; the balancing loss moves the router.",
        "wrong": {"learns from its errors": "It is not run, and so makes none."},
    }  # fmt: skip

with stage.picture:
    columns = ui.columns([1, 1] if now.view == PLANE else [2, 1])
    for column, (key, fig, alt) in zip(columns, pair, strict=True):
        with column:
            ui.figure(fig, key=key, alt=alt, share=1.0, film=film)
with stage.foot:
    film.bar(captions=captions, equations=equations)
with stage.below:
    ui.notice(words)
    ui.check(
        check["question"], check["options"], check["answer"], check["reveals"], wrong=check["wrong"],
        veils=("picture", "equation") if now.view == SPECIAL else (),
    )  # fmt: skip
    if now.view in (ROUTES, SPECIAL):
        code = (
            "from lab import experiments, weights\nfrom pages.transformer.experts import lens\n\n"
            f"place = {ui.spelled(now.model)}\n"
            f"model, card = weights.load(place), weights.read_card(place)\n{code}"
        )
    else:
        code = f"from pages.transformer.experts import plane\n\n{code}"
    ui.program(code, shows=shows)
    ui.source(experts.Experts.route, experts.Experts.forward, experts.balance, references=ROOM.references)
