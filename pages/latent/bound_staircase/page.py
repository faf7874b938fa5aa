"""Bound staircase: log p over one parameter, and the bound that climbs below it."""

from lab import ui
from modules.latent import exponential_gaussian
from pages.latent.bound_staircase import figures, lens
from pages.latent.bound_staircase.room import ROOM

MODELS = ("mixture", "exponential")
WAYS = ("E and M", "M alone", "both at once")
LOOSE = {"model": "exponential", "start": 1.68}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Below": ui.scene("Any q gives a curve below the black one; red is the gap."),
        "E touches": ui.scene("E: the best q. The orange curve touches the black one at our θ.", step=1),
        "M climbs": ui.scene("M: to the top of the orange curve; the black one is higher there.", step=2),
        "At rest": ui.scene("Twelve rounds later: the top of the hill, where both curves are flat.", step=24),
        "Other hill": ui.scene("From the far right it rests on a lower hill.", start=6.5, step=24),
        "M alone": ui.scene("A q that fits badly: M raises the bound, and log p falls.",
                            how="M alone", step=1, **LOOSE),
        "Never touches": ui.scene("No Exp(φ) is the posterior: a gap stays, and it rests beside the top.",
                                  step=24, **LOOSE),
        "Both at once": ui.scene("As a VAE trains: θ and q take small steps together.",
                                 how="both at once", step=12),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Model", MODELS, key="model", as_list=True)
    how = ui.choice("Moves", WAYS, key="how", as_list=True)
    mix = name == "mixture"
    theta = ui.slider(
        "θ at the start", *((-4.5, 6.5, -4.0) if mix else (0.2, 3.8, 1.68)), key="start", step=0.02
    )
    if mix:
        guess = ui.slider("r of every point at the start", 0.02, 0.98, 0.5, key="r", step=0.02)
        text = ui.text("Points", "-2 -1 1 4", key="x", max_chars=200)
    else:
        guess = ui.slider("φ of q at the start", 0.2, 3.8, 1.0, key="phi", step=0.02)
        text = ui.text("One point x > 0", "1", key="one", max_chars=20)
result, bad = lens.typed(text, 40 if mix else 1)
if bad:
    stage.top.warning(bad)
if not result or (not mix and result[0] <= 0):
    ui.stop("Type at least one number." if mix else "Type one number above 0: else log p has no top.")
model, q = lens.begin(mix, result, guess)
moves = lens.climb(model, theta, q, how)
film = ui.film(len(moves), key="step", label="Move", seconds=0.7)

# --- Picture ------------------------------------------------------------------------------------

grid, log_p, bounds, stands = lens.landscape(model, moves)
now, top = moves[film.at], float(grid[log_p.argmax()])
with stage.picture:
    ui.figure(
        figures.landscape(grid, log_p, bounds, film.at, stands, top), key="landscape", share=1.0, film=film,
        frames=figures.moves(bounds, stands), data={"theta": grid, "log p": log_p, "bound": bounds[film.at]},
        alt="log p over the parameter, the bound of the present q below it, and the path of the moves",
    )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(moves), equations=lens.equations(moves))

# --- Words --------------------------------------------------------------------------------------

end = moves[-1]
fallen = [i for i in range(1, len(moves)) if moves[i].log_p < moves[i - 1].log_p - 1e-9]
with stage.below:
    ui.notice(
        "The gap is the KL from q to the posterior. A better q lifts the bound and leaves log p alone; a "
        "better θ lifts the bound, and log p with it if the bound touched before. "
        + (
            f"Here log p falls in {len(fallen)} of {len(moves) - 1} moves: where the bound is loose, its top "
            "is not a better model."
            if fallen
            else "Here log p falls in none of the moves."
        )
        + f" The moves end at θ = {end.theta:.3f}; log p is greatest near {top:.2f} (dotted)."
    )
    change = now.log_p - moves[film.at - 1].log_p if film.at else 0.0
    answers = ["it rises", "it falls", "it stays, to four decimals"]
    ui.check(
        "What does this move do to log p?",
        answers,
        answers[2 if abs(change) < 5e-5 else 0 if change > 0 else 1],
        "Only θ moves log p: a move of q alone never does.",
        wrong=(
            "It is the bound that rises with every move: log p follows θ alone, and not always upwards.",
            "A better q leaves log p where it is, and a better θ lifts it if the bound touched before.",
            "This move changes θ, and log p is a function of θ.",
        ),
        veils=("picture", "equation"),
    )
    results = f"lens.mixture(torch.tensor({result}).double())" if mix else f"lens.exponential({result[0]})"
    start = f"torch.full(({len(result)},), {guess}).double()" if mix else f"torch.tensor({guess}).double()"
    ui.program(
        f"""
        import torch
        from pages.latent.bound_staircase import lens

        model = {results}
        moves = lens.climb(model, {theta}, {start}, {how!r})
        result = [moves[{film.at}].log_p, moves[{film.at}].bound]
        """,
        shows=[now.log_p, now.bound],
    )
    ui.source(
        lens.climb,
        lens.mixture,
        exponential_gaussian.elbo,
        exponential_gaussian.log_evidence,
        references=ROOM.references,
    )
