"""Images as tokens: patches and rollout, shifted windows and reach, attention among channels."""

from lab import ui
from lab.ui.controls.drawing import ink_code
from modules.transformer import davit, swin, vit
from pages.transformer.patches import figures, lens
from pages.transformer.patches.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.look, now)
film = ui.film_of(now, len(one.maps), names=one.names)
with stage.picture:
    left, middle, right = ui.columns(3)
    with left:
        ui.figure(figures.tokens(one), key="tokens", share=1.0, film=film, alt="The picture cut into tokens")
    with middle:
        ui.figure(figures.maps(one), key="maps", share=1.0, film=film, alt=f"Map of each frame: {one.title}")
    with right:
        ui.figure(figures.classes(one), key="classes", share=1.0, alt="Probabilities of the ten classes")
with stage.foot:
    film.bar(captions=one.captions, equations=one.equations)
with stage.below:
    ui.notice(
        "Attention among N tokens costs 4NC² + 2N²C multiply-adds, within windows 4NC² + 2M²NC: for 8 × 8 "
        "tokens of 32 channels and M = 4, 524,288 and 327,680. A shifted window holds tokens of opposite "
        "borders; the region mask leaves 256, 128, 128 and 64 pairs of four windows. Among channels scores "
        "cost d²N, among patches N²d: for 256 patches of 512 channels (problem 12.9) 67,108,864 and "
        "33,554,432."
    )
    ui.check(
        "Two blocks, W and SW: of how many tokens has token (0, 0), in the corner, heard?",
        lens.OPTIONS,
        lens.held(0, 0, True),
        "16: in the shifted block the corner shares a region with tokens of its own window alone.",
        wrong=("The mask keeps tokens of opposite borders apart.", "", "Its first window has 4 × 4 tokens."),
        veils=(),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.transformer.patches import lens

        models = [weights.load(name).eval() for name in {(now.vit, now.large, now.swin, now.davit)!r}]
        picture = {ink_code(one.picture)}
        one = lens.look({now.view!r}, picture, picture, {now.row}, {now.column}, {now.shift}, *models)
        result = one.p.tolist()
        """,
        shows=one.p.tolist(),
    )
    ui.source(
        vit.PatchClassifier.patches, swin.WindowAttention, swin.region_mask, davit.ChannelAttention,
        lens.rollout, references=ROOM.references,
    )  # fmt: skip
