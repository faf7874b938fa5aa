"""Messages: one node's sum, how far it hears, an edited graph, and what depth forgets."""

from typing import Any, cast

from datamodules.fetch import MissingData
from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import receptive_field
from modules.graph.gcn import GCN, GraphConvolution, Propagation, edge_weights
from pages.graph.messages import charts, depth, editing, figures, hearing, lens

DRAWN = 36  # nodes of a large graph that are drawn: the nearest to the selected one
DEPTHS = (1, 2, 4, 8, 16)
ROUNDS = list(range(33))


@ui.cached
def depths(model: str, propagation: Propagation, seed: int) -> list[tuple[int, float, float]]:
    return depth.train_depths(lens.graph(ui.card(model)).data, propagation, DEPTHS, seed)


@ui.cached
def smoothing(edges: Any, n: int, propagation: Propagation) -> depth.Smoothing:
    return depth.smoothing(edges, n, propagation, ROUNDS[-1])


stage = ui.stage(
    "Messages", "A node's new state is a weighted sum of what its neighbours send; one rule for all."
)
stage.scenes(
    {
        "The instructor": ui.scene("Node 0 hears sixteen neighbours and itself, one after the other."),
        "One friend only": ui.scene("Node 11 hears one neighbour; its own message weighs more.",
                                    node=11, layer="1"),
        "Wrong, until an edge is cut": ui.scene("Cut 2–32, and node 2 is predicted as what it is.",
                                                node=2, edits="-2-32"),
        "Two hops": ui.scene("Two layers hear two hops; the gradient fades with distance and degree.",
                             view="Reach", node=16),
        "All friends lost": ui.scene("Without its edge node 11 hears itself alone.",
                                     view="Reach", node=11, edits="-0-11"),
        "Over-smoothed": ui.scene("After 32 layers all nodes point one way, whatever their class.",
                                  view="Depth", rounds=32),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", ["Messages", "Reach", "Depth"], key="view")
    name = ui.experiment("Model", family="graph", key="model", default="gcn-karate")
    model, card = cast(GCN, ui.load(name)), ui.card(name)
    try:
        module = lens.graph(card)
    except MissingData as error:
        ui.stop(str(error))
    data, classes, n_nodes = module.data, module.classes, module.data.num_nodes
    node = ui.number("Node", 0, n_nodes - 1, 0, key="node", help="Or click one in the picture.")
    if view != "Depth":
        layer = int(ui.choice("Layer", lens.layers(model), key="layer", default=str(len(model.layers))))
        click = ui.choice(
            "A click", ["selects", "joins or cuts"], key="click",
            help="Selects a node; or joins the selected node to it, or cuts the edge between them.",
        )  # fmt: skip
    edits = ui.text("Edits", "", key="edits", max_chars=200,
                    help="+0-9 joins nodes 0 and 9, -0-1 cuts the edge between 0 and 1.")  # fmt: skip
    try:
        edited = editing.edit(data.edge_index, n_nodes, edits)
    except UserError as error:
        ui.stop(str(error))

# What is drawn: a small graph whole, of a large one the selected node's surroundings.
shown = lens.neighbourhood(edited.edge_index, n_nodes, node, DRAWN)
place = lens.places(shown)
whole = len(shown) == n_nodes
positions = figures.layout(
    lens.inside(data.edge_index if whole else edited.edge_index, shown), len(shown)
)  # a small graph stands still while it is edited


def pressed(x: float, y: float) -> dict[str, Any]:
    """What a click on the graph sets."""
    clicked = int(shown[figures.node_at(positions, x, y)])
    if click == "selects":
        return {"node": clicked}
    same = clicked == node
    return {} if same else {"edits": editing.toggle(data.edge_index, n_nodes, edits, node, clicked)}


before = lens.predict(model, data.x, data.edge_index)
now = lens.predict(model, data.x, edited.edge_index)
scene = {"positions": positions, **lens.scene(edited, data, shown, node)}
drawn = "all nodes" if whole else f"the {len(shown)} nearest to node {node}"
told = hearing.prediction(before, now, data, node, classes, edits)
notice = (
    "Two layers mix a node with its surroundings; thirty mix everything with everything. In the long run "
)
notice += "the distance shrinks by |λ₂/λ₁| in each layer; trained nets show it as a test accuracy that falls."

# --- Pictures and their numbers -----------------------------------------------------------------

if view == "Messages":
    heard = hearing.hear(model, data.x, edited.edge_index, node, layer)
    units = heard.total.shape[0]
    with stage.rail:
        unit = ui.slider("Unit", 0, units - 1, 0, key="unit", help="Which of the state's numbers is shown.")
    trace = hearing.listen(heard, unit)
    film = ui.film(len(trace), key="step", label="Message", seconds=0.6)
    kept = [i for i, m in enumerate(heard.senders.tolist()) if m in place]
    table = hearing.terms(heard, unit)
    names, terms = table["sender"], table["term"]
    senders = [place[int(heard.senders[i])] for i in kept]
    arriving = [place.get(step.values["sender"]) for step in trace]
    net = figures.network(
        **scene, classes=now.argmax(1)[shown], names=classes, senders=senders, weights=heard.weights[kept],
        hover=hearing.verdicts(now, data, shown, classes),
    )  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.button_figure(
                net, key="at", on_press=pressed, whole=False, share=1.0, film=film,
                frames=figures.message_frames(net, arriving, senders),
                alt=f"The graph ({drawn}) in the colours of the predictions, with the messages to "
                f"node {node}; thick outlines are labelled nodes",
                data={"node": shown, "predicted": now.argmax(1)[shown], "true": data.y[shown]},
            )  # fmt: skip
        with right:
            ui.figure(
                charts.contributions(terms, names, film.at, float(heard.total[unit])),
                key="terms", share=0.58, film=film, frames=charts.term_frames(terms, len(trace)),
                alt=f"Waterfall of the {len(terms)} terms of unit {unit}; the line is their sum",
                data=table,
            )  # fmt: skip
            ui.figure(
                charts.prediction(classes, now[node], before[node] if edits.strip() else None),
                alt=f"Class probabilities of node {node}", key="prediction", share=0.42,
                data={"class": classes, "edited graph": now[node], "original graph": before[node]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])
        ui.caption(told)
elif view == "Reach":
    theory = lens.hops(edited.edge_index, n_nodes, node)
    measured = lens.influence(model, data.x, edited.edge_index, node, layer)
    reached = int(((theory >= 0) & (theory <= layer)).sum())
    counts = lens.field_sizes(theory, layer + 1)
    nonzero = int((measured > 0).sum())
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.button_figure(
                figures.network(
                    **scene, classes=lens.rings(theory, layer)[shown], names=lens.ring_names(layer),
                    colors=figures.hop_colors(layer), hover=lens.ring_hover(theory, shown)),
                key="at", on_press=pressed, whole=False, share=1.0,
                alt=f"Theory: nodes ({drawn}) coloured by their distance to node {node} in hops",
                data={"node": shown, "hops": theory[shown]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.network(**scene, values=measured[shown], scale="violet",
                                hover=lens.gradient_hover(measured, shown)),
                alt=f"Measured: nodes ({drawn}) coloured by the gradient of node {node} in their input",
                data={"node": shown, "gradient": measured[shown]}, key="measured", share=1.0,
            )  # fmt: skip
    stage.metrics({"With a gradient": str(nonzero), f"Within {layer} hops": f"{reached} of {n_nodes}",
                   "Half of the gradient from": f"{receptive_field.half_held(measured)} nodes"})  # fmt: skip
    stage.equation(
        rf"\Big\{{m : \frac{{\partial h^{{({layer})}}_{{{node}}}}}{{\partial x_m}} \neq 0\Big\}} \subseteq "
        rf"\{{m : \mathrm{{hops}}(m, {node}) \le {layer}\}}, \qquad {nonzero} \le {reached}",
        told,
    )
else:
    film = ui.film(len(ROUNDS), key="rounds", default=2, label="Layers", values=ROUNDS, seconds=0.3)
    smooth = smoothing(lens.inside(edited.edge_index, shown), len(shown), model.propagation)
    order = data.y[shown].argsort(stable=True)
    similar = smooth.similarity[:, order][:, :, order]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                charts.similarity(similar[film.at], data.y[shown][order]), key="similar", share=1.0,
                film=film, frames={"data.0.z": similar},
                alt="Cosine of every two nodes' states after so many layers, sorted by class",
            )  # fmt: skip
        with right:
            ui.figure(
                basic.curves(
                    {"distance": smooth.distance, "rate": smooth.expected, "energy": smooth.energy},
                    xlabel="layers", log_y=True, mark=film.at,
                ),
                key="differs", share=1.0, film=film,
                frames={"layout.shapes.0.x0": ROUNDS, "layout.shapes.0.x1": ROUNDS},
                alt="Distance of the states to the dominant eigenspace, its predicted rate, Dirichlet energy",
                data={"layers": ROUNDS, "distance": smooth.distance, "rate": smooth.expected,
                      "energy": smooth.energy},
            )  # fmt: skip
    with stage.foot:
        film.bar(equations=[depth.distance_equation(smooth, k) for k in ROUNDS])
        ui.caption(
            f"Computed on {drawn}. P projects on the dominant eigenspace of S, where all nodes are alike up "
            "to their degree; the states start one-hot and meet no Ω, β or ReLU: only the graph acts."
        )

# --- Words ----------------------------------------------------------------------------------------

with stage.below:
    if view == "Messages":
        rule = f"{lens.RULES[model.propagation]} Ω: {units} × {heard.width}."
        ui.equation(hearing.summary(heard, unit), rule)
    elif view == "Depth" and ui.toggle("Train a net of each depth now (a few seconds)", False, key="train"):
        if n_nodes > 100:
            ui.stop("Training here is for small graphs: choose gcn-karate, or use the page Train.")
        results = depths(name, model.propagation, ui.number("Seed", 0, 99, 0, key="seed"))
        columns = dict(zip(charts.ACCURACIES, zip(*results, strict=True), strict=True))
        ui.figure(charts.accuracies(columns), data=columns,
                  alt="Training and test accuracy of nets with 1 to 16 layers")  # fmt: skip
    ui.notice(lens.NOTICES[view])
    if view == "Messages":
        strongest = [names[i] for i in hearing.strongest(terms, 3)]
        ui.check(f"Which term moves unit {unit} of node {node} most?", sorted(strongest), strongest[0],
                 f"Its term is {hearing.spell(max(terms, key=abs))}.", wrong=hearing.outdone(names, terms),
                 veils=("picture",))  # fmt: skip
    elif view == "Reach":
        more, wrong = counts[layer + 1], hearing.miscounted(counts, layer, n_nodes)
        ui.check(f"How many nodes does node {node} hear with one layer more ({layer + 1})?",
                 sorted({more, *wrong}), more, f"It hears {counts[layer]} with {layer}.", wrong=wrong,
                 veils=("picture",))  # fmt: skip
    else:
        rates = hearing.rates(smooth.rate)
        ui.check("By which factor does the distance shrink in the last of 32 layers?",
                 list(rates), hearing.spell(smooth.rate),
                 f"Measured: {hearing.spell(smooth.distance[32] / smooth.distance[31])}; theory: |λ₂/λ₁|.",
                 wrong=rates, veils=("picture", "equation"))  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.graph.messages import editing, lens
        experiment = experiments.find({name.partition("/")[0]!r})
        model, data = weights.load(experiment.weights), lens.graph(experiment.card).data
        edges = editing.edit(data.edge_index, data.num_nodes, {edits!r}).edge_index
        result = model(data.x, edges).softmax(1)[{node}]
        """,
        shows=now[node],
    )
    ui.source(GraphConvolution, edge_weights, GCN.embeddings, hearing.hear, depth.smoothing, references=[
        "Kipf & Welling 2017, arXiv:1609.02907", "Li, Han & Wu 2018 (over-smoothing), arXiv:1801.07606",
        "[UDL] §13.4, §13.8.4",
    ])  # fmt: skip
