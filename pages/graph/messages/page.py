"""Messages: one node's sum, how far it hears, an edited graph, and what depth forgets."""

from typing import cast

import streamlit as st

from datamodules.fetch import MissingData
from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import receptive_field
from modules.graph.gcn import GCN, GraphConvolution, Propagation, edge_weights
from pages.graph.messages import figures, lens

DRAWN = 36  # nodes of a large graph that are drawn: the nearest to the selected one
DEPTHS = (1, 2, 4, 8, 16)


@ui.cached
def depths(model: str, propagation: Propagation, seed: int) -> list[tuple[int, float, float]]:
    return lens.train_depths(lens.graph(ui.card(model)).data, propagation, DEPTHS, seed)


ui.header(
    "Messages",
    "A node's new state is a weighted sum of what its neighbours send; one rule serves every node.",
)

# --- Controls -----------------------------------------------------------------------------------

for key, value in st.session_state.pop("_after-click", {}).items():
    st.session_state[key] = value

left, right = ui.columns([3, 2])
with left:
    name = ui.experiment("Model", family="graph", key="model", default="gcn-karate")
with right:
    view = ui.choice("Show", ["Messages", "Reach", "Depth"], key="view")
model, card = cast(GCN, ui.load(name)), ui.card(name)
try:
    module = lens.graph(card)
except MissingData as error:
    ui.stop(str(error))
data, classes = module.data, module.classes
n_nodes, n_layers = data.num_nodes, len(model.layers)

first, second, third = ui.columns([2, 3, 3])
with first:
    node = ui.number("Node", 0, n_nodes - 1, 0, key="node", help="Or click one in the picture.")
with second:
    click = ui.choice(
        "A click",
        ["selects", "joins or cuts"],
        key="click",
        help="Selects a node; or joins the selected node to it, or cuts the edge between them.",
    )
with third:
    edits = ui.text("Edits", "", key="edits", max_chars=200,
                    help="+0-9 joins nodes 0 and 9, -0-1 cuts the edge between 0 and 1.")  # fmt: skip
try:
    edited = lens.edit(data.edge_index, n_nodes, edits)
except UserError as error:
    ui.stop(str(error))
if view != "Depth":
    layer = int(ui.choice("Layer", [str(k + 1) for k in range(n_layers)], key="layer", default=str(n_layers)))

# What is drawn: a small graph whole, of a large one the selected node's surroundings.
shown = lens.neighbourhood(edited.edge_index, n_nodes, node, DRAWN)
place = {int(n): i for i, n in enumerate(shown)}
whole = len(shown) == n_nodes
positions = figures.layout(
    lens.inside(data.edge_index if whole else edited.edge_index, shown), len(shown)
)  # a small graph stands still while it is edited

if point := ui.selection("at"):
    ui.select("at", None)
    clicked = int(shown[figures.node_at(positions, point["x"], point["y"])])
    if click == "selects":
        st.session_state["_after-click"] = {"node": clicked}
    elif clicked != node:
        changed = lens.toggle(data.edge_index, n_nodes, edits, node, clicked)
        st.session_state["_after-click"] = {"edits": changed}
    st.rerun()

before = lens.predict(model, data.x, data.edge_index)
now = lens.predict(model, data.x, edited.edge_index)
guess, was, truth = int(now[node].argmax()), int(before[node].argmax()), int(data.y[node])
scene = {
    "positions": positions,
    "edges": lens.inside(edited.edge_index, shown),
    "numbers": shown.tolist(),
    "labelled": data.train_mask[shown],
    "selected": place[node],
    "added": [(place[a], place[b]) for a, b in edited.added if a in place and b in place],
    "removed": [(place[a], place[b]) for a, b in edited.removed if a in place and b in place],
}
drawn = "all nodes" if whole else f"the {len(shown)} nodes nearest to node {node}"


def prediction() -> None:
    """The selected node's class probabilities, before and after the edits."""
    ui.markdown(f"##### Prediction at node {node}")
    ui.figure(
        basic.bars(
            classes, now[node], highlight=guess, baseline=before[node] if edits.strip() else None,
            names=("edited graph", "original graph"),
            probability=True, horizontal=True, height=90 + 44 * len(classes),
        ),
        alt=f"Class probabilities of node {node}",
        data={"class": classes, "edited graph": now[node], "original graph": before[node]},
        key="prediction",
    )  # fmt: skip
    moved = (now.argmax(1) != before.argmax(1)).nonzero()[:, 0].tolist()
    role = "labelled in training" if data.train_mask[node] else "not labelled in training"
    sentence = f"Node {node} is predicted **{classes[guess]}** and is {classes[truth]}; {role}."
    if edits.strip():
        many = ", ".join(map(str, moved[:8])) + (" …" if len(moved) > 8 else "")
        sentence += f" The edits change the prediction of {len(moved)} nodes{': ' + many if moved else ''}."
    ui.markdown(sentence)


# --- Pictures and their numbers -----------------------------------------------------------------

if view == "Messages":
    heard = lens.hear(model, data.x, edited.edge_index, node, layer)
    units = heard.total.shape[0]
    unit = ui.slider("Unit", 0, units - 1, 0, key="unit", help="Which of the state's numbers is written out.")
    trace = lens.listen(heard, unit)
    index = ui.stepper(len(trace), key="step")
    step = trace[index]
    ui.markdown(step.caption)
    left, right = ui.columns([3, 2])
    kept = [i for i, m in enumerate(heard.senders.tolist()) if m in place]
    with left:
        ui.clickable(
            figures.network(
                **scene, classes=now.argmax(1)[shown], names=classes,
                senders=[place[int(heard.senders[i])] for i in kept], weights=heard.weights[kept],
                now=place.get(step.values["sender"]) if index < len(heard.senders) else None,
                hover=[
                    f"node {m}: predicted {classes[int(now[m].argmax())]}, is {classes[int(data.y[m])]}"
                    for m in shown.tolist()
                ],
            ),
            key="at", mark=False,
            alt=f"The graph ({drawn}) in the colours of the predictions, with the messages to node {node}; "
            "thick outlines are labelled nodes",
            data={"node": shown, "predicted": now.argmax(1)[shown], "true": data.y[shown]},
        )  # fmt: skip
    with right:
        prediction()
    terms = [*heard.messages[:, unit].tolist(), float(heard.bias[unit])]
    names = [str(m) for m in heard.senders.tolist()] + ["β"]
    ui.markdown(f"##### Unit {unit} of node {node} in layer {layer}: what each sender adds")
    ui.figure(
        figures.contributions(terms, names, index, float(heard.total[unit])),
        alt=f"Waterfall of the {len(terms)} terms of unit {unit}; the line is their sum",
        data={
            "sender": names,
            "weight": [*heard.weights.tolist(), 1.0],
            "transformed": [*heard.transformed[:, unit].tolist(), float(heard.bias[unit])],
            "term": terms,
        },
    )  # fmt: skip
    ui.equation(
        lens.summary(heard, unit),
        f"{lens.RULES[model.propagation]} In layer {layer}, Ω is {units} × {heard.width}.",
    )
    ui.equation(
        step.equation,
        f"Step {index} of {len(trace) - 1}, unit {unit}; recorded as the layer runs, rounded to 3 digits.",
    )
    ui.notice(
        "Every neighbour sends the same kind of message, Ω h, and only the weight S differs: with this "
        "model a well-connected neighbour counts less. The terms may come in any order; the sum is the same. "
        "Cut an edge and its term is gone, and all other weights change with the node's degree."
    )
elif view == "Reach":
    theory = lens.hops(edited.edge_index, n_nodes, node)
    measured = lens.influence(model, data.x, edited.edge_index, node, layer)
    reached = (theory >= 0) & (theory <= layer)
    counts = lens.field_sizes(theory, layer + 1)
    left, right = ui.columns(2)
    with left:
        ui.markdown(f"##### Theory: hops to node {node}")
        ui.clickable(
            figures.network(
                **scene, classes=lens.rings(theory, layer)[shown], names=lens.ring_names(layer),
                colors=figures.hop_colors(layer),
                hover=[f"node {m}: {int(theory[m])} hops" for m in shown.tolist()],
            ),
            key="at", mark=False, alt=f"Nodes ({drawn}) coloured by their distance to node {node} in hops",
            data={"node": shown, "hops": theory[shown]},
        )  # fmt: skip
    with right:
        ui.markdown(f"##### Measured: gradient of node {node}")
        ui.figure(
            figures.network(
                **scene, values=measured[shown], scale="violet",
                hover=[f"node {m}: {float(measured[m]):.3g}" for m in shown.tolist()],
            ),
            alt=f"Nodes ({drawn}) coloured by the gradient of node {node}'s state in their input",
            data={"node": shown, "gradient": measured[shown]},
        )  # fmt: skip
    ui.markdown(f"##### Nodes that node {node} can hear after k layers")
    ui.figure(
        basic.bars(
            list(range(len(counts))), counts, highlight=layer, xlabel="hops", ylabel="nodes within",
            height=320,
        ),
        alt=f"Number of nodes within k hops of node {node}",
        data={"hops": range(len(counts)), "nodes": counts},
    )  # fmt: skip
    ui.caption(
        f"Half of the gradient comes from {receptive_field.half_held(measured)} "
        f"of the {int(reached.sum())} nodes in the field."
    )
    prediction()
    nonzero = int((measured > 0).sum())
    ui.equation(
        rf"\Big\{{m : \frac{{\partial h^{{({layer})}}_{{{node}}}}}{{\partial x_m}} \neq 0\Big\}} \subseteq "
        rf"\{{m : \mathrm{{hops}}(m, {node}) \le {layer}\}}, \qquad {nonzero} \le {int(reached.sum())}",
        f"Left: nodes with a gradient that is not 0 ({nonzero}). Right: nodes within {layer} hops "
        f"({int(reached.sum())} of {n_nodes}).",
    )
    ui.notice(
        "Each layer carries messages one hop further, so k layers hear the nodes within k hops, no others. "
        "Within the field the gradient falls with distance and with the degrees on the way: "
        "a node two hops away is heard through the weights of both edges."
    )
else:
    rounds = ui.slider("Layers", 0, 32, 2, key="rounds", help="How often the states were averaged.")
    small = lens.inside(edited.edge_index, shown)
    smooth = lens.smoothing(small, len(shown), model.propagation, 32)
    order = data.y[shown].argsort(stable=True)
    left, right = ui.columns(2)
    with left:
        similar = smooth.similarity[rounds][order][:, order]
        labels = shown[order].tolist()
        ui.markdown(f"##### How alike the nodes are after {rounds} layers")
        ui.figure(
            figures.similarity(similar, data.y[shown][order]),
            alt=f"Cosine of every two nodes' states after {rounds} layers, sorted by class",
            data={
                "node": [a for a in labels for _ in labels],
                "other": labels * len(labels),
                "cosine": similar.flatten(),
            },
        )  # fmt: skip
    with right:
        ui.markdown("##### What still differs")
        ui.figure(
            basic.curves(
                {
                    "measured distance": smooth.distance,
                    "rate |λ₂/λ₁|": smooth.expected,
                    "energy": smooth.energy,
                },
                xlabel="layers", log_y=True, mark=rounds, height=480,
            ),
            alt="Distance of the states to the dominant eigenspace, its predicted rate, and Dirichlet energy",
            data={
                "layers": range(33),
                "distance": smooth.distance,
                "rate": smooth.expected,
                "energy": smooth.energy,
            },
        )  # fmt: skip
    if not whole:
        ui.caption(f"Computed on {drawn} and the edges among them.")
    ui.equation(
        rf"H_K = H_0 S^K, \qquad \frac{{\lVert H_{{{rounds}}} - P H_{{{rounds}}} \rVert}}"
        rf"{{\lVert H_{{{rounds}}} \rVert}} = {lens.spell(smooth.distance[rounds])}, \qquad "
        rf"\Big|\frac{{\lambda_2}}{{\lambda_1}}\Big| = {lens.spell(smooth.rate)}",
        "P projects on the dominant eigenspace of S, where all nodes are alike up to their degree; the "
        "states start one-hot and meet no Ω, β or ReLU, so only the graph acts.",
    )
    seed = 0
    if ui.toggle("Train a net of each depth now (a few seconds)", False, key="train"):
        if n_nodes > 100:
            ui.stop("Training on this page is for small graphs: choose gcn-karate, or use the page Train.")
        seed = ui.number("Seed", 0, 99, 0, key="seed")
        results = depths(name, model.propagation, seed)
        ui.markdown("##### Nets of each depth, trained without dropout")
        ui.figure(
            basic.curves(
                {"training accuracy": [r[1] for r in results], "test accuracy": [r[2] for r in results]},
                x=[r[0] for r in results], markers=True, xlabel="layers", ylabel="accuracy",
            ),
            alt="Training and test accuracy of nets with 1 to 16 layers",
            data={
                "layers": [r[0] for r in results],
                "training accuracy": [r[1] for r in results],
                "test accuracy": [r[2] for r in results],
            },
        )  # fmt: skip
    ui.notice(
        "Two layers mix a node with its surroundings; thirty mix everything with everything, and the states "
        "point one way, whatever the node. In the long run the distance shrinks by |λ₂/λ₁| in each layer. "
        "Trained nets show it as a test accuracy that falls with depth although the labels are still fitted."
    )

# --- Words ----------------------------------------------------------------------------------------

small_world = name.startswith("gcn-karate")
ui.presets(
    {
        "The instructor": {"view": "Messages", "node": 0, "layer": "1", "unit": 0, "edits": ""},
        "One friend only": {"view": "Messages", "node": 11, "layer": "1", "unit": 0, "edits": ""},
        "Wrong, until an edge is cut": {
            "view": "Messages",
            "node": 2,
            "layer": "2",
            "unit": 0,
            "edits": "-2-32",
        },
        "All friends lost": {"view": "Reach", "node": 11, "layer": "2", "edits": "-0-11"},
        "Two hops": {"view": "Reach", "node": 16, "layer": "2", "edits": ""},
        "Over-smoothed": {"view": "Depth", "rounds": 32, "edits": ""},
    }
    if small_world
    else {
        "Messages": {"view": "Messages", "node": 0, "edits": ""},
        "Two hops": {"view": "Reach", "node": 0, "layer": "2", "edits": ""},
        "Over-smoothed": {"view": "Depth", "rounds": 32, "edits": ""},
    }
)
if view == "Messages":
    strongest = [names[i] for i in lens.strongest(terms, 3)]
    ui.check(
        f"Which term moves unit {unit} of node {node} most?",
        sorted(strongest),
        strongest[0],
        f"Its term is {lens.spell(max(terms, key=abs))}.",
    )
elif view == "Reach":
    ui.check(
        f"How many nodes does node {node} hear with one layer more ({layer + 1})?",
        sorted({counts[layer], counts[layer + 1], n_nodes, counts[layer + 1] + counts[1] - 1}),
        counts[layer + 1],
        f"It hears {counts[layer]} with {layer}.",
    )
else:
    ui.check(
        "By which factor does the distance shrink in the last of 32 layers?",
        [lens.spell(v) for v in sorted({round(smooth.rate**2, 3), round(smooth.rate, 3), 1.0})],
        lens.spell(round(smooth.rate, 3)),
        f"Measured: {lens.spell(smooth.distance[32] / smooth.distance[31])}; theory: |λ₂/λ₁|.",
    )
ui.source(
    GraphConvolution,
    edge_weights,
    GCN.embeddings,
    lens.hear,
    lens.smoothing,
    references=[
        "Kipf & Welling 2017, arXiv:1609.02907",
        "Li, Han & Wu 2018 (over-smoothing), arXiv:1801.07606",
        "[UDL] §13.4, §13.8.4",
    ],
)
