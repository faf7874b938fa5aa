"""Bidirectional tagging: a homograph whose sense a word to its right decides, read both ways and from the
left."""

from lab import ui
from lab.lenses import through_time
from modules.recurrent.labelling import Tagger
from modules.recurrent.stack import Recurrent, reverse
from pages.recurrent.tagging import figures, lens
from pages.recurrent.tagging.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
text, result = lens.sentence(now.text), ui.compute(lens.read, now)
behind, word = text.behind, text.words[text.at]
film = ui.film_of(now, len(behind), names=behind)
sense = lens.tag(result.both[-1])  # what the whole sentence says

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.directions(result, text, now.show, sense), key="directions", share=1.0, film=film,
            alt=f"P({sense}) for {word} as the words are read, and the {now.show} of both directions",
            data={"word": behind, "both ways": lens.of_sense(result.both, sense),
                  "from the left": lens.of_sense(result.left, sense)},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.tags(result), key="tags", share=1.0, film=film,
            alt=f"Probabilities of the five senses for {word}, read both ways and from the left",
        )  # fmt: skip
with stage.foot:
    ui.machine(now.both, film=film, lit=[("cell", "logits")] * film.count,
               says=[{"x": word, "logits": f"p = {float(p.max()):.2f}"}
                     for word, p in zip(behind, result.both, strict=True)])  # fmt: skip
    film.bar(captions=lens.captions(result, text), equations=lens.equations(result, text))

# --- Words --------------------------------------------------------------------------------------

both, alone = ui.card(now.both), ui.card(now.left)
accuracy = [float(card["metrics"]["test/acc"]) for card in (both, alone)]
with stage.below:
    ui.notice(
        f"The forward state at {word} is the same in every frame: it has read {word} and what stands before "
        "it. The backward state is computed anew from the last word that is read: each new word changes it. "
        f"On the {both['data']['splits']['test']} test sentences the bidirectional tagger is right on "
        f"{100 * accuracy[0]:.0f} % of the homographs, the one from the left on {100 * accuracy[1]:.0f} %: "
        "more is not to be had, as after every beginning both senses are equally frequent. Both were trained "
        "on whole sentences, where a sense is asked of homographs alone: before the end of a sentence the "
        "bidirectional tagger may lean to a sense for no reason."
    )
    if len(behind) > 2:
        jumps = lens.jumps(result).abs()
        order = jumps.argsort(descending=True, stable=True)[:4].tolist()
        names = {k: f"{behind[k + 1]} ({text.at + k + 2})" for k in sorted(order)}
        answer = names[order[0]]
        ui.check(
            "Which word moves the log odds of the bidirectional tagger most when it is read?",
            list(names.values()), answer, f"It moves them by {float(jumps[order[0]]):.2f}.",
            wrong={name: f"{name} moves them by {float(jumps[k]):.2f}." for k, name in names.items()},
            veils=("picture", "equation"),
        )  # fmt: skip
    reach = ui.compute(lens.reach, now)
    steps = len(text.words)
    heard = [int((through_time.paths(ui.load(name).recurrent, steps)[text.at] > 0).sum())
             for name in (now.both, now.left)]  # fmt: skip
    ui.figure(
        figures.reach(reach, text), key="reach",
        alt=f"Gradient of the log odds of the senses of {word} by each word, of both taggers",
        data={"word": text.words, "both ways": reach[0], "from the left": reach[1]},
    )  # fmt: skip
    most = max(range(text.at + 1, steps), key=reach[0].tolist().__getitem__, default=None)
    ui.caption(
        f"Receptive field of the tag of {word} in the whole sentence: in theory {heard[0]} of {steps} words "
        f"reach it read both ways, and {heard[1]} from the left; by the gradient of the log odds by each "
        f"word's embedding {int((reach[0] > 0).sum())} and {int((reach[1] > 0).sum())} do."
        + ("" if most is None else f" Behind {word} it is largest at {text.words[most]} ({most + 1}).")
    )
    ui.program(
        f"""
        import torch
        from lab import experiments, weights
        from lab.lenses import text

        place = experiments.find({now.both!r}).weights
        tagger, coder = weights.load(place).eval(), text.tokenizer(weights.read_card(place))
        tokens = torch.tensor([coder.encode({" ".join(text.words)!r})])
        p = tagger.predict(tokens).softmax(-1)[0, {text.at}]
        result = p[5:].detach()  # the senses: place, company, animal, tool, living
        """,
        shows=result.both[-1],
    )
    ui.source(
        Tagger.predict, Recurrent.unroll, reverse, lens.odds, lens.reach, through_time.gradients,
        references=ROOM.references,
    )  # fmt: skip
