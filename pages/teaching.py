"""Teaching with it: of each family the order of its rooms, the lecture, and what to try before the hour."""

from lab import ui
from lab.figures import hours

stage = ui.stage(
    "Teaching with it",
    "Of each family the rooms in order, a lecture of 45 minutes, and what to try before it.",
)
FAMILIES = ui.families()
stage.scenes(
    {
        family.capitalize(): ui.scene(
            f"{family.capitalize()}: where the minutes of its lecture go, room by room.", family=family
        )
        for family in FAMILIES[:9]  # as many as there are keys; the rest are in the choice beside
    }
)

with stage.rail:
    family = ui.choice("Family", FAMILIES, key="family", default=FAMILIES[0], as_list=True)
    hour = ui.hour(family)
    ui.lecture_link(hour)
names = [page.title for page, _ in hour.stops]
minutes = [spent for _, spent in hour.stops]
with stage.picture:
    if hour.lecture is None:
        ui.caption("No lecture passes by this family yet: the rooms below stand in the order of the course.")
    else:
        ui.figure(
            hours.hour(names, minutes, [page.family == family for page, _ in hour.stops]),
            alt=f"Minutes of the lecture {hour.lecture.title}, stop by stop",
            data={"room": names, "minutes": minutes},
            key="hour",
            share=1.0,
        )
with stage.foot:
    whole = sum(page.room.minutes for page in hour.rooms)
    ui.caption(
        f"{len(hour.rooms)} rooms, {whole} minutes if each is shown for as long as it says; "
        "the lecture takes the scenes that make one story of them."
    )
with stage.below:
    ui.course(hour)
    ui.notice(
        "A lecture goes from scene to scene by PageDown or a clicker. S opens the speaker's window with "
        "notes and clock, Q shows the way for students; `lab lecture <name> --pdf notes.pdf` prints scenes "
        "and notes. Students try alone what the lecture leaves out: a page opens on its poster, and every "
        "scene is a link."
    )
