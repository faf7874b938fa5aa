"""From lookup to attention: keys and a query in the plane, weights, and what they mix of the values."""

from lab import ui
from modules.transformer import attention, lookup
from pages.transformer.lookup import figures, lens
from pages.transformer.lookup.room import FACTORS, QUERY, ROOM, SHARPNESS, TABLE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == TABLE:
    found = ui.compute(lens.table, now)
    film = ui.film_of(now, len(FACTORS))
    captions, equations = lens.table_captions(found), lens.table_equations(found)
    with stage.picture:
        for column, linear in zip(ui.columns(2), (True, False), strict=True):
            with column:
                ui.figure(
                    figures.table(found, linear), key="linear" if linear else "soft", share=1.0, film=film,
                    alt=f"Weights of the {'linear' if linear else 'soft'} lookup for each value",
                )  # fmt: skip
    code = f"result = lens.table(lens.numbers({now.row!r}), lens.numbers({now.column!r})).y_soft.tolist()"
    shows = found.y_soft.tolist()
    words = (
        "Keys are the unit vectors, so that q·k_i is entry i of the query: a whole number in one place is an "
        "index into an array. The linear lookup has a gradient everywhere, and takes sums of queries to sums "
        "of values; its weights are any real numbers. The softmax makes them a distribution: for a longer "
        "query it comes nearer to the index."
    )
else:
    one = ui.compute(lens.mixed, now)
    film = ui.film_of(now, len(one.y))
    captions, equations = lens.captions(one), lens.equations(one)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            alt = "Keys and query as arrows in the plane; a click moves the query"
            if now.view == SHARPNESS:
                ui.clickable(figures.keys(one, True), key=QUERY, share=1.0, film=film, alt=alt, mark=False)
            else:
                ui.figure(figures.keys(one, False), key="keys", share=1.0, film=film,
                          alt="Keys as arrows in the plane, and a query that turns")  # fmt: skip
        with right:
            ui.figure(figures.values(one), key="values", share=0.58, film=film,
                      alt="Values in a plane of their own, their polygon, and the mixture")  # fmt: skip
            ui.figure(figures.weights(one), key="weights", share=0.42, film=film,
                      alt="The weight of each key")  # fmt: skip
    arguments = (now.view, now.kind, now.sharp, now.n, now.own)
    typed = f"lens.points({now.keys!r}), lens.points({now.values!r})"
    code = f"one = lens.mixed(*{arguments!r}, {typed}, {now.q!r})\nresult = one.y[{film.at}].tolist()"
    shows = one.y[film.at].tolist()
    words = (
        "The value that is found need not resemble its key: the key decides how much, the value what. With "
        "softmax all weights are positive and sum to 1, so that y is a convex mixture and stays in the "
        "polygon. λ = 1/√d is what attention takes for vectors of d entries. Where two keys match equally, "
        "no λ decides between them. Unlike an index, λ finite gives every key a gradient."
    )
with stage.foot:
    film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    ui.check(
        "One key is nearest to the query. λ grows without bound: what becomes of y?",
        lens.OPTIONS, lens.OPTIONS[0], "Its weight tends to 1: softmax tends to the index of the maximum.",
        wrong=("", "That is λ = 0, where every key has the same weight.",
               "It moves as long as the weights do."),
        veils=(),
    )  # fmt: skip
    ui.program(f"from pages.transformer.lookup import lens\n\n{code}", shows=shows)
    ui.source(
        lookup.linear_weights, lookup.soft_weights, lookup.lookup, attention.attention_weights,
        references=ROOM.references,
    )  # fmt: skip
