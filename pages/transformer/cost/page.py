"""What is computed at each token, with and without a cache; operations, memory and compute by the sizes."""

from lab import ui
from modules.transformer import cost
from modules.transformer.attention import KVCache
from modules.transformer.cost import Size
from modules.transformer.gpt import GPTDecoder
from pages.transformer.cost import figures, lens
from pages.transformer.cost.room import CACHE, LENGTHS, MEMORY, NEXT, OPERATIONS, PARTS, ROOM, TRAINING

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def cache_view() -> None:
    found = ui.compute(lens.reading, now)
    count = len(found.kept)
    film = ui.film_of(now, count, values=range(1, count + 1))
    names = "With a KV cache", "Without"
    with stage.picture:
        for place, passes, name in zip(ui.columns(2), found.passes, names, strict=True):
            with place:
                ui.figure(
                    figures.scores(lens.grids(passes), name), key=name.split()[0].lower(), share=1.0,
                    film=film, alt=f"{name}: scores of queries and keys computed at this token, or earlier",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=lens.equations(found))
    kept, anew = (lens.totals(passes)[-1] for passes in found.passes)
    least = min(p.queries for p in found.kept[1:])
    with stage.below:
        ui.notice(
            "A row is a query, and a token's query is asked once: with keys and values kept, nothing of an "
            "earlier row is needed again. A small GPT reads the tokens here, and its attention says what it "
            f"computed; its logits with and without a cache differ by {found.apart:.1g} at most. "
            f"When {now.context} tokens are full, the newest {now.keep} are encoded afresh from position 0. "
            "For 2,048 tokens the sums would be 2,098,176 and 1,433,753,600 scores in each head and layer: "
            "683 times as many. Dense products compute what the mask throws away as well, twice that."
        )
        wrong = {
            count: "That is a score for each key at one token.",
            kept: "So many are computed with a cache.",
            count * count: "That is one full pass without its mask.",
            anew: "So many are computed without a cache.",
        }
        ui.check(
            f"How many scores does the cached model compute for all {count} tokens?",
            sorted({count, kept, count * count, anew}), kept,
            f"Without a cache it is {anew:,}; the fewest rows of a token are {least}.", wrong=wrong,
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.transformer.cost import lens

            found = lens.reading({now.length}, {now.context}, {now.keep})
            result = [lens.totals(passes)[-1] for passes in found.passes]
            """,
            shows=[kept, anew],
        )
        ui.source(KVCache.append, GPTDecoder, cost.passes, references=ROOM.references)


def says(of: Size, T: int) -> tuple[str, str]:
    """The equation of the chart with its numbers, LaTeX, and a caption."""
    power = lens.power
    if now.chart == OPERATIONS:
        flops = of.flops(T)
        total, attention = sum(flops.values()), flops["scores and values"]
        return (
            rf"4LTd={power(attention)}\;\text{{of}}\;{power(total)}\;\text{{FLOPs forward}},\qquad "
            rf"\text{{with backward}}\;\times 3={power(3 * total)}",
            f"Scores and values are {of.attention_share(T):.1%} of what the blocks' weights take.",
        )
    if now.chart == MEMORY:
        numbers, each = of.cache_numbers(T), cost.BYTES[now.precision]
        return (
            rf"2LTd_{{kv}}=2\cdot{of.layers}\cdot{power(T)}\cdot{power(of.kv_width)}={power(numbers)}"
            rf"\;\text{{numbers}},\qquad \text{{{lens.bytes_of(numbers * each)}}}",
            f"The weights take {lens.bytes_of(of.num_parameters * each)}; attention that is written out "
            f"has {of.attention_entries(T):,} weights, L H T².",
        )
    if now.chart == NEXT:
        soft, linear = (cost.step_cost(kind, T, of.head_width) for kind in ("softmax", "linear"))
        return (
            rf"\text{{softmax}}\;2Td_k={power(soft)},\qquad \text{{linear}}\;2d_k^2={power(linear)}",
            f"They keep {cost.step_memory('softmax', T, of.head_width):,} and "
            f"{cost.step_memory('linear', T, of.head_width):,} numbers; the state is smaller than the cache "
            f"beyond T = {(of.head_width + 1) / 2:g}.",
        )
    if now.chart == PARTS:
        return (
            rf"N={of.num_parameters:,}".replace(",", "{,}"),
            f"The matrices of a block have {sum(of.matrices.values()):,}, 12 d² where d_ff = 4 d.",
        )
    spent = lens.compute(of, now.data)["this one"]
    return (
        rf"C=6ND=6\cdot{power(of.num_parameters)}\cdot{power(now.data * 1e9)}={power(spent)}\;\text{{FLOPs}}",
        f"{lens.days(spent, now.used):,.1f} days on {lens.CHIPS:,} A100 of which {now.used} % is used; "
        f"{now.data * 1e9 / of.num_parameters:.3g} tokens for each parameter.",
    )


def calculator() -> None:
    of = ui.compute(lens.size, now)
    with stage.picture:
        if now.chart == PARTS:
            counts = of.parameters()
            ui.figure(
                figures.parts(counts), key="parts", share=1.0, alt="Parameters of the model by part",
                data={"part": list(counts), "parameters": list(counts.values())},
            )  # fmt: skip
        elif now.chart == TRAINING:
            flops = lens.compute(of, now.data)
            ui.figure(
                figures.training(flops), key="training", share=1.0, alt="FLOPs of training by model",
                data={"model": list(flops), "FLOPs": list(flops.values())},
            )  # fmt: skip
        else:
            lines, ylabel = {
                OPERATIONS: (lens.operations(of), "FLOPs of a token, forward"),
                MEMORY: (lens.memory(of, now.precision), "bytes"),
                NEXT: (lens.next_token(of), "multiply-adds of a head"),
            }[now.chart]
            ui.figure(
                figures.over_length(lines, now.tokens, lens.meeting(of, now.chart), ylabel), key="length",
                share=1.0, alt=f"{ylabel} over the tokens in view, with the chosen T and where lines cross",
                data={"T": list(LENGTHS), **lines},
            )  # fmt: skip
    stage.equation(*says(of, now.tokens))
    crossing = of.crossing
    with stage.below:
        ui.notice(
            f"Attention takes as many operations as the blocks' weights at T = {crossing:,.0f}"
            f"{', which is 6 d' if crossing == 6 * of.width else ''}. Twice the length is twice a token's "
            "attention, and four times that of a text. Fewer heads of keys and values save cache and a "
            "part of the projections, not a single score. 6 N D leaves out attention, and counts parameters "
            "that are no products, as embeddings are; published sizes are rounded, 175 billion for GPT-3."
        )
        options = ["half", "the same", "twice as much", "four times as much"]
        ui.check(
            "Twice as many tokens in view: what do scores and values of the next token cost?", options,
            "twice as much", "It compares with each token once and mixes each once: 4 L T d.",
            wrong={"half": "More tokens are compared.", "the same": "That holds for the weights.",
                   "four times as much": "That holds for all tokens of a text together: T of them, 4 L T d "
                                         "each."},
        )  # fmt: skip
        ui.program(
            f"""
            from pages.transformer.cost import lens

            of = lens.size({now.model!r}, {now.layers}, {now.heads}, {now.width}, {now.kv!r})
            result = [of.num_parameters, sum(of.flops({now.tokens}).values()), of.cache_numbers({now.tokens})]
            """,
            shows=[of.num_parameters, sum(of.flops(now.tokens).values()), of.cache_numbers(now.tokens)],
        )
        ui.source(
            Size.parameters, Size.flops, cost.step_cost, cost.training_flops, references=ROOM.references
        )


if now.view == CACHE:
    cache_view()
else:
    calculator()
