"""Messages: one node's sum, how far it hears, an edited graph, and what depth forgets."""

from typing import Any

from lab import ui
from lab.figures import networks
from lab.lenses import graphs, receptive_field
from modules.graph.convolution import GraphConvolution, edge_weights
from modules.graph.gcn import GCN
from pages.graph.messages import charts, depth, figures, hearing, lens, reaching
from pages.graph.messages.room import MESSAGES, REACH, ROOM, ROUNDS, SELECTS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    result = ui.compute(lens.view, now)
data, shown, node = result.data, result.shown, now.node
place = lens.places(shown)
edges = (
    data.edge_index if result.whole else result.edited.edge_index
)  # a small graph stands still while edited
positions = networks.layout(lens.inside(edges, shown), len(shown))


def pressed(x: float, y: float) -> dict[str, Any]:
    """Controls that a click on the graph sets."""
    clicked = int(shown[networks.node_at(positions, x, y)])
    if now.click == SELECTS:
        return ui.moved(now, node=clicked)
    if clicked == node:
        return {}
    return ui.moved(now, edits=graphs.toggle(data.edge_index, data.num_nodes, now.edits, node, clicked))


scene = {"positions": positions, **lens.scene(result.edited, data, shown, node)}
drawn = "all nodes" if result.whole else f"the {len(shown)} nearest to node {node}"
answer = hearing.prediction(result.before, result.now, data, node, result.classes, now.edits)

# --- Pictures and their numbers -----------------------------------------------------------------

if now.view == MESSAGES:
    heard = ui.compute(lens.heard, now)
    trace = hearing.listen(heard, now.unit)
    film = ui.film_of(now, len(trace), names=hearing.senders(trace))
    kept = [i for i, m in enumerate(heard.senders.tolist()) if m in place]
    table = hearing.terms(heard, now.unit)
    names, terms = table["sender"], table["term"]
    senders = [place[int(heard.senders[i])] for i in kept]
    net = networks.network(
        **scene, classes=result.now.argmax(1)[shown], names=result.classes, senders=senders,
        weights=heard.weights[kept], hover=hearing.verdicts(result.now, data, shown, result.classes),
    )  # fmt: skip
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.button_figure(
                figures.arriving(net, [place.get(step.values["sender"]) for step in trace], senders),
                key="at", on_press=pressed, whole=False, share=1.0, film=film,
                alt=f"The graph ({drawn}) in the colours of the predictions, with the messages to "
                f"node {node}; thick outlines are labelled nodes",
            )  # fmt: skip
        with right:
            ui.figure(
                charts.contributions(terms, names, len(trace), float(heard.total[now.unit])),
                key="terms",
                share=0.58,
                film=film,
                alt=f"Waterfall of the {len(terms)} terms of unit {now.unit}; the line is their sum",
            )
            before = result.before[node] if now.edits.strip() else None
            ui.figure(
                charts.prediction(result.classes, result.now[node], before),
                key="prediction",
                share=0.42,
                alt=f"Class probabilities of node {node}",
            )
    with stage.foot:
        says = hearing.numbers(trace, now.unit)
        ui.machine(now.model, film=film, lit=[next(iter(text)) for text in says], says=says)
        film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])
        ui.caption(answer)
elif now.view == REACH:
    layer = int(now.layer)
    theory, measured = ui.compute(lens.reach, now)
    counts = reaching.field_sizes(theory, layer + 1)
    reached, nonzero = counts[layer], int((measured > 0).sum())
    rings = networks.network(
        **scene, classes=reaching.rings(theory, layer)[shown], names=reaching.ring_names(layer),
        colors=figures.hop_colors(layer), hover=reaching.ring_hover(theory, shown),
    )  # fmt: skip
    gradients = networks.network(
        **scene, values=measured[shown], scale="violet", hover=reaching.gradient_hover(measured, shown)
    )
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.button_figure(
                rings, key="at", on_press=pressed, whole=False, share=1.0,
                alt=f"Theory: nodes ({drawn}) coloured by their distance to node {node} in hops",
            )  # fmt: skip
        with right:
            ui.figure(
                gradients,
                key="measured",
                share=1.0,
                alt=f"Measured: nodes ({drawn}) coloured by the gradient of node {node} in their input",
            )
    half = receptive_field.half_held(measured)
    with stage.foot:
        counted = {"h": f"{data.num_nodes} nodes", "sum": f"{reached} in {layer} hops"}
        ui.machine(now.model, lit=["sum"], says=[counted])
    stage.equation(
        rf"\Big\{{m : \frac{{\partial h^{{({layer})}}_{{{node}}}}}{{\partial x_m}} \neq 0\Big\}} \subseteq "
        rf"\{{m : \mathrm{{hops}}(m, {node}) \le {layer}\}}, \qquad {nonzero} \le {reached}",
        f"{answer} Half of the gradient comes from {half} nodes.",
    )
else:
    smooth = ui.compute(lens.smoothed, now)
    film = ui.film_of(now, len(ROUNDS))
    order = data.y[shown].argsort(stable=True)
    similar = smooth.similarity[:, order][:, :, order]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                charts.similarity(similar, data.y[shown][order]), key="similar", share=1.0, film=film,
                alt="Cosine of every two nodes' states after so many layers, sorted by class",
            )  # fmt: skip
        with right:
            ui.figure(
                charts.differences(smooth, ROUNDS), key="differs", share=1.0, film=film,
                alt="Distance of the states to the dominant eigenspace, its predicted rate, Dirichlet energy",
            )  # fmt: skip
    with stage.foot:
        film.bar(equations=[depth.distance_equation(smooth, k) for k in ROUNDS])
        ui.caption(
            f"Computed on {drawn}. P projects on the dominant eigenspace of S, where all nodes are alike up "
            "to their degree; the states start one-hot and meet no Ω, β or ReLU: only the graph acts."
        )

# --- Words ----------------------------------------------------------------------------------------

with stage.below:
    if now.view == MESSAGES:
        rule = f"{lens.RULES[ui.load(now.model).propagation]} Ω: {heard.total.shape[0]} × {heard.width}."
        ui.equation(hearing.summary(heard, now.unit), rule)
    now = ui.read(ROOM, now, at="below")
    if now.train:
        results = ui.compute(lens.trained_depths, now)
        ui.figure(
            charts.accuracies(dict(zip(charts.ACCURACIES, zip(*results, strict=True), strict=True))),
            alt="Training and test accuracy of nets with 1 to 16 layers",
        )
    ui.notice(lens.NOTICES[now.view])
    if now.view == MESSAGES:
        strongest = [names[i] for i in hearing.strongest(terms, 3)]
        ui.check(f"Which term moves unit {now.unit} of node {node} most?", sorted(strongest), strongest[0],
                 f"Its term is {hearing.spell(max(terms, key=abs))}.", wrong=hearing.outdone(names, terms),
                 veils=("picture",))  # fmt: skip
    elif now.view == REACH:
        more, wrong = counts[layer + 1], hearing.miscounted(counts, layer, data.num_nodes)
        ui.check(f"How many nodes are in the receptive field of node {node} with {layer + 1} layers?",
                 sorted({more, *wrong}), more, f"With {layer} there are {counts[layer]}.", wrong=wrong,
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
        from lab.lenses import graphs
        experiment = experiments.find({now.model.partition("/")[0]!r})
        model, data = weights.load(experiment.weights), graphs.graph(experiment.card).data
        edges = graphs.edit(data.edge_index, data.num_nodes, {now.edits!r}).edge_index
        result = model(data.x, edges).softmax(1)[{node}]
        """,
        shows=result.now[node],
    )
    ui.source(
        GraphConvolution, edge_weights, GCN.embeddings, hearing.hear, depth.smoothing,
        references=ROOM.references,
    )  # fmt: skip
