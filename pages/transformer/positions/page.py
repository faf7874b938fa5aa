"""Positions and schemes: codes, rotations and biases, and what they are worth beyond the trained length."""

from typing import Any

from lab import ui
from lab.bench import positions as bench
from modules.transformer import positions, relative
from pages.transformer.positions import figures, lengths, lens, schemes
from pages.transformer.positions.room import (
    ALIBI,
    CODE,
    COUNTER,
    LENGTH,
    LENGTHS,
    QUERIES,
    RELATIVE,
    ROOM,
    ROTARY,
    ROTATION,
    N,
)

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

pair: tuple[tuple[str, Any, str], tuple[str, Any, str]]
if now.view == CODE:
    one = ui.compute(lens.code, now)
    film = ui.film_of(now, N - now.start, names=range(N - now.start))
    captions, equations = lens.code_captions(one, now.start), lens.code_equations(one, now.start)
    pair = (
        ("code", figures.table(one, now.start), "The sinusoidal code of 64 positions"),
        ("products", figures.products(one, now.start), "Product of two codes over their offset"),
    )
    code = f"result = lens.code({now.d}, {now.base}).products[{now.start}].tolist()"
    shows: Any = one.products[now.start].tolist()
    words = (
        f"PE(pos)·PE(pos + k) is Σ cos(ω_i k): it depends on k alone, and is d/2 = {now.d // 2} at k = 0. It "
        "falls with distance on the whole and not monotonically, as a sum of waves; [UDL] says that it "
        "generally decreases. Positions count from 0 here, in [LLM] and [BB] from 1."
    )
elif now.view == COUNTER:
    film = ui.film_of(now, N, names=range(N))
    captions, equations = lens.counter_captions(now.d, now.base), lens.counter_equations(now.d, now.base)
    pair = (
        ("counter", figures.counter(), "Bits of 64 positions"),
        ("waves", figures.waves(now.d, now.base), "Cosines of 64 positions"),
    )
    code = f"result = lens.waves({now.d}, {now.base})[{film.at}].tolist()"
    shows = lens.waves(now.d, now.base)[film.at].tolist()
    words = (
        "A counter tells numbers apart by digits of different periods, 2, 4, 8, …; the code does it by waves "
        f"of periods that grow by base^(2/d) = {now.base ** (2 / now.d):.2f} from pair to pair. Waves are a "
        "counter without steps: neighbours have similar codes, which 31 and 32 have not in binary."
    )
elif now.view == ROTATION:
    turned = ui.compute(lens.turns, now)
    film = ui.film_of(now, N, names=range(N))
    captions, equations = lens.turn_captions(turned, now.shift), lens.turn_equations(turned, now.shift)
    pair = (
        ("circle", figures.circle(turned, now.shift), "The pair at two positions, as arrows on a circle"),
        ("pair", figures.pair(turned, now.shift), "Sine and cosine of the pair over the positions"),
    )
    code = f"result = lens.turns({now.d}, {now.base}, {now.pair}, {now.shift}).then[{film.at}].tolist()"
    shows = turned.then[film.at].tolist()
    words = (
        f"One matrix, a rotation by k ω = {now.shift * turned.rate:.3f} rad, leads from every position to "
        "the one k further on: a linear layer can look k tokens back wherever it stands."
    )
elif now.view == ROTARY:
    found = ui.compute(schemes.rotary, now)
    queries = range(now.distance, QUERIES)
    film = ui.film_of(now, len(queries), values=list(queries))
    captions, equations = (
        schemes.rotary_captions(found, now.distance),
        schemes.rotary_equations(found, now.distance),
    )
    pair = (
        ("scores", figures.scores(found, now.distance), "Scores of one query and key at all positions"),
        ("by-distance", figures.by_distance(found, now.distance), "Score over the distance"),
    )
    code = (
        f"q, k = schemes.read_vector({now.q!r}), schemes.read_vector({now.k!r})\n"
        f"one = schemes.rotary(q, k, {now.layout!r}, {now.base})\nresult = one.by_distance.tolist()"
    )
    shows = found.by_distance.tolist()
    words = (
        f"The matrix is Toeplitz: its entries depend on i − j. Lengths of q and k are kept. Values are not "
        f"turned, though [BB] writes the map for them too: an output of turned values would differ by "
        f"{found.values:.2f} if the text began 10 positions later. Turning the other way gives the same "
        "scores, if q and k both do."
    )
elif now.view == ALIBI:
    biased = ui.compute(schemes.alibi, now)
    film = ui.film_of(now, now.heads, names=range(1, now.heads + 1))
    captions, equations = schemes.alibi_captions(biased), schemes.alibi_equations(biased)
    pair = (
        ("penalties", figures.penalties(biased), "What ALiBi adds to the scores of a head"),
        ("last-row", figures.last_row(biased), "Weights of the last query where all scores are equal"),
    )
    code = f"result = schemes.alibi({now.heads}, {now.tokens}).weights[{film.at}, -1].tolist()"
    shows = biased.weights[film.at, -1].tolist()
    words = (
        "Nothing is learned. The penalty is added to scores that are already scaled, so its slopes mean the "
        "same at every width of a head; it is defined at every distance."
    )
elif now.view == RELATIVE:
    numbers = schemes.read_table(now.table)
    matrix = ui.compute(schemes.relative, now)
    film = ui.film_of(now, len(numbers), names=range(-(len(numbers) // 2), len(numbers) // 2 + 1))
    captions, equations = schemes.relative_captions(numbers), schemes.relative_equations(numbers)
    pair = (
        ("toeplitz", figures.toeplitz(matrix), "Biases of all pairs of tokens"),
        ("parameters", figures.parameters(numbers), "Biases by their offset"),
    )
    code = f"result = schemes.relative(schemes.read_table({now.table!r})).bias[0, 0].tolist()"
    shows = matrix.bias[0, 0].tolist()
    words = (
        f"{len(numbers)} parameters a head, not {len(matrix.bias[0]) ** 2}: [UDL] writes π for each pair of "
        "positions, and means one for each offset. Shifting query and key together changes nothing. Offsets "
        "beyond the table share its last number."
    )
else:
    film = ui.film_of(now, len(LENGTHS))
    captions, equations = lengths.captions(), lengths.equations()
    pair = (
        ("losses", figures.losses(), "Loss over the length of the window, by scheme"),
        ("places", figures.places(), "Loss by place in the window, by scheme"),
    )
    code = f"result = lengths.captions()[{film.at}]"
    shows = captions[film.at]
    count, said = lengths.seeds(), lengths.said(bench.CONTEXT)
    words = (
        f"GPTs of two blocks, {bench.STEPS:,} steps on characters of the Python documentation, one learning "
        f"rate for all, {count} seed{'s' * (count != 1)}: at {bench.CONTEXT} characters {said} nats. `lab "
        "bench positions` trains them again. Small models and one text: the order at the trained length is "
        "theirs; what ends or fails beyond it is the schemes'. Far offsets share the last number of the "
        "relative bias: all far keys count as 63 characters away."
    )

with stage.picture:
    ui.figures(*pair, film=film)
with stage.foot:
    film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    ui.check(
        "A model with ALiBi, trained at 64 characters, reads windows of 512. Its loss at their end is …",
        lengths.OPTIONS, lengths.answer("alibi"),
        "Distances beyond 64 are penalised as the law goes on: nothing new happens to the scores.",
        wrong=(
            "So it is for sinusoids, whose codes beyond 64 were never seen, and for rotations beyond 64.",
            "More context could help: but the heads were trained to look no further than 64.",
            "",
        ),
        veils=("losses", "places", "equation") if now.view == LENGTH else (),
    )  # fmt: skip
    place = (
        "lengths" if now.view == LENGTH else "schemes" if now.view in (ROTARY, ALIBI, RELATIVE) else "lens"
    )
    ui.program(f"from pages.transformer.positions import {place}\n\n{code}", shows=shows)
    ui.source(
        positions.sinusoids, positions.Rotary.forward, relative.RelativeBias, relative.slopes, bench.network,
        references=ROOM.references,
    )  # fmt: skip
