"""Two KLs: the bound over a data set as a divergence of joints, its parts, and the mutual information."""

from typing import Any

from lab import ui
from lab.errors import UserError
from lab.figures import stacks
from lab.lenses import typed
from modules.latent.information import Tables
from pages.latent.two_kls import figures, lens
from pages.latent.two_kls.room import ROOM

EVEN = {"data": "1 1"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Identity": ui.scene("Three bars of one height: 0.640 = 0.029 + 0.611; the rate splits in two."),
        "Printed": ui.scene(
            "Without H(q_D), or without I, the bar ends under what no bound can.", printed=True
        ),
        "Posterior": ui.scene(
            "With the exact posterior its KL is gone; data and model still differ.", inference="posterior"
        ),
        "Collapsed": ui.scene(
            "q(z|x) is the prior: rate and information are 0, and the bound is worse.", lam=0.0
        ),
        "z unused": ui.scene(
            "A decoder that knows the data pays only H(q_D), with nothing in z.",
            decoder="1 1; 1 1",
            lam=0.0,
            **EVEN,
        ),
        "z used": ui.scene(
            "The same bound, 0.693, and here z carries all of it.",
            decoder="1 0; 0 1",
            inference="posterior",
            **EVEN,
        ),
        "Ruled out": ui.scene(
            "This decoder forbids pairs that q allows: infinite, until λ reaches 1.",
            decoder="1 0; 0 1",
            inference="posterior",
            lam=0.5,
            **EVEN,
        ),
        "Three by three": ui.scene(
            "Own tables of three values: the identities hold as before.",
            data="5 3 2",
            prior="1 1 1",
            decoder="6 2 2; 2 6 2; 1 1 8",
            own="6 3 1; 2 7 1; 1 2 7",
        ),
    }
)


def distribution(label: str, default: str, key: str) -> list[float]:
    """Typed weights as probabilities; what cannot be used is named."""
    try:
        results, text = typed.distribution(ui.text(label, default, key=key, max_chars=60), lens.MOST)
    except UserError as error:
        ui.stop(str(error))
    if text:
        ui.warning(text)
    return results


def table(label: str, default: str, key: str, count: int, width: int) -> Any:
    """Typed rows as distributions; what does not fit is named."""
    results, text = lens.rows(ui.text(label, default, key=key, max_chars=120), count, width)
    if text:
        ui.warning(text)
    return results


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    data = distribution("Data q_D(x)", "0.7 0.3", "data")
    prior = distribution("Prior p(z)", "1 1", "prior")
    x, z = len(data), len(prior)
    decoder = table("Decoder p(x|z), a row for each z", "0.9 0.1; 0.4 0.6", "decoder", z, x)
    inference = ui.choice("q(z|x)", ["own", "posterior"], key="inference")
    own = table("q(z|x), a row for each x", "0.8 0.2; 0.1 0.9", "own", x, z) if inference == "own" else None
    printed = ui.toggle("Printed identities", False, key="printed")
film = ui.film(len(lens.SHARES), key="lam", values=lens.SHARES, default=1.0, label="λ =", seconds=0.25)
tables, result = lens.tables_and_story(data, prior, decoder, own)
at = film.at
numbers = {name: float(values[at]) for name, values in result.numbers.items()}

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        parts, levels = figures.parts(result, printed)
        reach = figures.reach(result)
        ui.figure(
            stacks.stacks(figures.columns(printed), parts, levels, at=at, reach=reach, label_size=14),
            key="bars",
            share=1.0,
            film=film,
            frames=stacks.turning(parts, levels, reach),
            alt="The bound and its parts, stacked",
            data={"of": list(numbers), "nats": list(numbers.values())},
        )
    with right:
        labels = lens.names(tables[0].data, tables[0].prior)
        ui.figure(
            figures.joints(result, labels, at),
            key="joints",
            share=1.0,
            film=film,
            frames={"data.1.y": result.q},
            alt="The joint of data and inference beside the model's",
            data={"x,z": labels, "q": result.q[at], "p": result.p},
        )
with stage.foot:
    film.bar(captions=lens.captions(result), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

information = max(0.0, numbers["information"])
with stage.below:
    ui.notice(
        "λ takes q(z|x) from the prior, collapsed, to what is asked for. The bound asks for a good model of "
        "the data and a good inference, and never for information in z: a decoder that does without z has "
        "the same bound as one that needs it. "
        f"Left without I, the bar would end at {float(result.without_information[at]):.3f}; no bound on "
        f"these data is below H(q_D) = {numbers['entropy']:.3f}."
    )
    ui.check(
        "How much does z tell of x here, in nats?",
        lens.OPTIONS,
        lens.OPTIONS[(information >= 0.05) + (information > 0.5)],
        f"I(x;z) = {information:.3f}.",
        wrong=(
            "The q(z|x) of different x differ, so z tells which x it was.",
            "It is the mean KL less the KL of the aggregate to the prior: here far from middling.",
            "The mean KL is not all information: the aggregate's distance to the prior is part of it.",
        ),
        veils=("bars", "equation"),
    )
    now = tables[at]
    ui.program(
        f"""
        import torch
        from modules.latent.information import Tables

        table = lambda rows: torch.tensor(rows, dtype=torch.float64)
        values = Tables(table({now.data.tolist()}), table({now.prior.tolist()}),
                       table({now.likelihood.tolist()}), table({now.inference.tolist()})).two_kls()
        result = [float(values[name]) for name in {list(numbers)}]
        """,
        shows=list(numbers.values()),
    )
    ui.source(Tables.two_kls, lens.inferences, references=ROOM.references)
