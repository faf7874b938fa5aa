"""Your own data: a reader's table, four models fitted before them, and which size two criteria choose."""

from lab import ui
from lab.figures import rows
from lab.lenses import rows as tables
from lab.lenses import trained_rows
from lab.ui.session import access
from modules.latent import em
from pages.latent.own_table import figures, lens, words
from pages.latent.own_table.room import ROOM

OWN = "Own table"
TYPED = tables.geyser()[:520].rpartition("\n")[0]
UNITS = {"HMM": "an example"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two clusters": ui.scene("Two components hold both clusters of eruptions: BIC turns up after them."),
        "One Gaussian": ui.scene("A single Gaussian puts its top where few eruptions are.", size=1),
        "Too many": ui.scene("Six components: the fitted curve falls on, BIC has long turned up.", size=6),
        "A flow": ui.scene("Layers bend one Gaussian; they cost hundreds of parameters, and BIC minds.",
                           model="flow", size=3, most=4),
        "One factor": ui.scene("Irises: the colour is the posterior mean of a factor that flowers share.",
                               data="irises", model="factor analysis", size=1),
        "Kinds": ui.scene("Irises without their names: the colours are the components' posterior.",
                          data="irises", size=3),
        "Storms": ui.scene("A chain of two states finds the storms in the hours of a harbour.",
                           data="harbour", model="HMM", size=2, most=4),
        "Your table": ui.scene("Paste or upload your own CSV below the picture, then press Fit.",
                               data=OWN),
    }
)  # fmt: skip


@ui.cached
def table(text: str, columns: str, kind: str) -> tables.Data:
    return tables.read(text, columns, kind)


def draw(results: lens.Compared, at: int, film=None) -> None:
    """The rows under the model of one size, and the curves over sizes."""
    if not results.rows:
        return
    at = min(at, len(results.rows))
    left, right = ui.columns(2)
    names, two = data.names, len(data.names) == 2 and kind != "HMM"
    with left:
        if two:
            x, y = tables.plane(data)
            grounds = [lens.density(model, data) for model in results.models]
            top = float(max(p.max() for p in grounds[:2]))
            fig = figures.ground(data.rows, x, y, grounds[at - 1], names, top)
            moves: dict[str, list] = {"data.0.z": grounds}
            alt = "Rows of the table on the density of the model"
        else:
            texts = [trained_rows.belief(model, kind, data) for model in results.models]
            discrete = kind in ("mixture", "HMM")
            colours = [rows.classes(v) if discrete else v.tolist() for v in texts]
            across, up, axes = tables.places(data)
            fig = rows.beliefs(across, up, colours[at - 1], axes, bool(data.length), not discrete)
            moves = {"data.0.marker.color": colours}
            alt = f"Rows of the table, coloured by {trained_rows.COLOURS[kind]}"
        ui.figure(fig, key="rows", share=1.0, film=film, frames=moves if film else None, alt=alt,
                  data={name: data.rows[:, i] for i, name in enumerate(names)})  # fmt: skip
    with right:
        sizes = range(1, len(results.rows) + 1)
        ui.figure(
            figures.sizes(results.rows, len(data.train), at, unit, lens.MODELS[kind]), key="sizes", share=1.0,
            film=film, frames={f"layout.shapes.0.x{end}": list(sizes) for end in (0, 1)} if film else None,
            data={"size": sizes, **{k: [row[k] for row in results.rows] for k in results.rows[0]}},
            alt="Fitted and held-out nats and BIC over the size of the model",
        )  # fmt: skip


def rows_alone() -> None:
    """The table before anything is fitted to it."""
    across, up, axes = tables.places(data)
    fig = rows.beliefs(across, up, [rows.PLAIN] * len(up), axes, bool(data.length), False)
    ui.figure(fig, key="rows", share=0.8, alt="Rows of the table",
              data={name: data.rows[:, i] for i, name in enumerate(data.names)})  # fmt: skip


with stage.rail:
    source = ui.choice("Data", [*tables.EXAMPLES, OWN], key="data", as_list=True)
    kind = ui.choice("Model", list(lens.MODELS), key="model", as_list=True)
    wanted = ui.text("Columns, with commas between", "", key="columns", max_chars=200, area=False,
                     help="By name or number. Empty: all columns of numbers.")  # fmt: skip
    most = ui.slider("Largest size", 1, 8, 6, key="most")
with stage.below:
    if source == OWN:
        text = ui.text("Your table: a row a line, names first if it has any", TYPED, key="table",
                       max_chars=200_000, area=True)  # fmt: skip
        ui.upload("CSV", into="table")
    else:
        text = tables.EXAMPLES[source]()
try:
    data = table(text, wanted.strip(), kind)
except ValueError as error:
    ui.stop(str(error))
unit = UNITS.get(kind, "a row")
if data.notes:
    with stage.rail:
        ui.caption(" ".join(data.notes))
of = (text, wanted, kind, most)
with stage.picture:
    if source == OWN:  # a reader's own stays in the reader's session
        result = ui.job("Fit", lambda: lens.compared(data, kind, most), key="fit", of=of,
                       show=lambda so_far: draw(so_far, len(so_far.rows)), before=rows_alone)  # fmt: skip
        if result is None:
            ui.wait("The picture is there when the sizes are fitted.")
    else:
        result = ui.result(
            "Fit", lambda: lens.compared(data, kind, most), key="example", of=of, quick=True,
            show=lambda so_far: draw(so_far, len(so_far.rows)), says="The film is there when all are fitted.",
        )  # fmt: skip
count = len(result.rows)
film = ui.film(count, key="size", values=range(1, count + 1), default=min(2, count),
               label=lens.MODELS[kind].capitalize(), seconds=0.8)  # fmt: skip
bic, held = result.best("bic"), result.best("held")
with stage.picture:
    draw(result, film.at + 1, film)
with stage.foot:
    film.bar(captions=words.captions(result, kind, unit), equations=words.equations(result, len(data.train)))
stage.metrics(
    {
        "Fitted on": f"{len(data.train)} × {data.length} rows" if data.length else f"{len(data.train)} rows",
        "Held out": f"{len(data.held)} × {data.length} rows" if data.length else f"{len(data.held)} rows",
        "Best by BIC": str(bic),
        "Best held out": str(held),
    }
)

with stage.below:
    close = result.rows[bic - 1]["held"] - result.rows[held - 1]["held"]
    ui.notice(
        f"BIC chooses {bic}, the held-out likelihood {held}"
        + ("." if bic == held else f", which is {close:.3f} nats {unit} better there.")
        + f" Few examples are held out ({len(data.held)}), so small differences are luck. BIC counts "
        "parameters: p ln N is its price for them; a network's many parameters do not all serve, so BIC is "
        "hard on flows"
        + (", and the step of a flow is chosen on what is held out." if kind == "flow" else ".")
        + f" The picture's colours are {trained_rows.COLOURS[kind]}."
        * (kind == "HMM" or len(data.names) != 2)
    )
    ui.check(
        "Which size does BIC choose?", [str(k) for k in range(1, count + 1)], str(bic),
        f"BIC is least at {bic}: {result.rows[bic - 1]['bic']:,.1f}.",
        wrong={
            str(row): f"At {row} it is {one['bic']:,.1f}: "
            + ("its fit is worse by more than it saves." if row < bic else "what it fits better costs more.")
            for row, one in enumerate(result.rows, 1)
        },
        veils=("sizes", "equation"),
    )  # fmt: skip
    if source == OWN:
        if access.is_closed():
            ui.caption("Saving a run is closed here.")
        elif ui.button("Save this size as a run", key="save"):
            folder = lens.save(data, kind, film.at + 1, result)
            ui.caption(f"Saved as {folder.parent.name}/{folder.name}: Models lists it, and pages that fit.")
    else:
        ui.program(
            f"""
            from lab.lenses import rows as tables
            from pages.latent.own_table import lens

            data = tables.read(tables.EXAMPLES[{source!r}](), {wanted.strip()!r}, {kind!r})
            *_, (_, comparison) = lens.compared(data, {kind!r}, {most})
            row = comparison.rows[{film.at}]
            result = [row["bic"], row["held"]]
            """,
            shows=[result.rows[film.at]["bic"], result.rows[film.at]["held"]],
        )
    ui.source(em.EMDensity.bic, em.EMModel.fit, lens.compared, references=ROOM.references)
