"""The picture's height: the room that is left on the first screen, but not another at each step of a film."""

from typing import Any

import pytest
from browsing import Visit

pytestmark = pytest.mark.browser

HEIGHT = "() => parseFloat(document.documentElement.style.getPropertyValue('--picture'))"
RESTS = "(at) => window.lecternFilm?.at === at && !window.lecternFilm.turning"
# Pixels between the foot's lower edge and that of the screen.
LEFT = """() => innerHeight - document.querySelector('.st-key-stand').getBoundingClientRect().bottom
  - document.querySelector('[data-testid=stMain]').scrollTop"""


def test_longer_and_shorter_captions_do_not_move_the_picture(walker: Visit) -> None:
    tab: Any = walker.walk("latent-mixture?step=0")
    heights, feet = [], set()
    for at in [*range(1, 9), *reversed(range(8))]:
        tab.keyboard.press("ArrowRight" if at > len(heights) else "ArrowLeft")
        tab.wait_for_function(RESTS, arg=at)
        tab.wait_for_timeout(60)  # for the observer of sizes
        heights.append(tab.evaluate(HEIGHT))
        feet.add(tab.evaluate("() => document.querySelector('.st-key-foot').offsetHeight"))
    assert len(feet) > 1  # its captions do differ in lines
    assert heights == sorted(heights, reverse=True)  # room is made where it is needed, and kept
    assert len(set(heights[8:])) == 1
    assert tab.evaluate(LEFT) > 13  # some lines were left alone
    tab.set_viewport_size({"width": 1280, "height": 721})  # a new size is used to the last one
    tab.wait_for_function(f"() => Math.abs(({LEFT})() - 10) <= 3")


def test_a_film_turns_no_figure_that_has_left_the_page(walker: Visit) -> None:
    tab: Any = walker.walk("autoregressive-gaussian-chain")
    members = "() => [lecternFilm.members.size, document.querySelectorAll('.lectern-figure').length]"
    for view in ("Your path", "Chain", "Your path", "Chain"):
        tab.get_by_role("radio", name=view, exact=True).click()
        tab.wait_for_function(
            "(count) => window.lecternFilm?.count === count && !window.lecternDrawing?.size",
            arg=5 if view == "Your path" else 30,
        )
        tab.wait_for_timeout(500)
        followers, figures = tab.evaluate(members)
        assert followers == figures + 1  # and the words of the bar


def test_a_plot_is_drawn_once_at_a_time(walker: Visit) -> None:
    """Two drawings at once share their margins: the numbers of a scale then left the figure."""
    tab: Any = walker.walk("recurrent-tagging")
    tab.evaluate(
        """() => {
        const running = new Map();
        window.drawings = {count: 0, most: 0, usual: {...Plotly}};
        for (const name of ["react", "relayout"]) {
          const draw = Plotly[name];
          Plotly[name] = async (plot, ...rest) => {
            running.set(plot, (running.get(plot) ?? 0) + 1);
            drawings.count++;
            drawings.most = Math.max(drawings.most, running.get(plot));
            await new Promise((done) => setTimeout(done, 50)); // as on a busy machine
            try { return await draw(plot, ...rest); } finally { running.set(plot, running.get(plot) - 1); }
          };
        }
    }"""
    )
    tab.keyboard.press("f")  # on the stage: larger type, and another size
    tab.keyboard.press("ArrowRight")  # the film turns meanwhile
    tab.wait_for_function("() => drawings.count >= 4 && !window.lecternDrawing.size && !lecternFilm.turning")
    most = tab.evaluate("Object.assign(Plotly, drawings.usual) && drawings.most")
    tab.keyboard.press("Escape")
    assert most == 1


def test_a_colour_bar_stands_in_its_margin(visit: Visit) -> None:
    """Plotly widens a margin now and then after it has placed the bar, whose numbers then left the figure."""
    tab: Any = visit.open("recurrent-tagging")
    tab.evaluate(
        """() => {
        window.drawings = {moved: 0, usual: {...Plotly}};
        for (const name of ["react", "relayout"])
          Plotly[name] = async (plot, ...rest) => {
            const drawn = await drawings.usual[name](plot, ...rest);
            for (const part of plot.querySelectorAll(".colorbar rect")) {
              part.setAttribute("x", +part.getAttribute("x") + 48);
              drawings.moved++;
            }
            return drawn;
          };
    }"""
    )
    tab.keyboard.press("f")  # on the stage: larger type, and another size
    tab.wait_for_function("() => drawings.moved && document.documentElement.hasAttribute('data-stage')")
    in_place = """() => [...document.querySelectorAll(".js-plotly-plot:has(.colorbar)")].every((plot) => {
      const {l, w} = plot._fullLayout._size, left = (node) => node.getBoundingClientRect().left;
      const off = left(plot.querySelector(".colorbar .cbbg")) - left(plot) - l - w;
      return 0 <= off && off < 40;
    })"""
    tab.wait_for_function(f"() => !window.lecternDrawing.size && ({in_place})()", timeout=20_000)
    visit.settle()  # and it stays there
    tab.wait_for_timeout(300)
    tab.wait_for_function(f"() => !window.lecternDrawing.size && ({in_place})()", timeout=20_000)


def test_axes_of_one_scale_are_the_same_from_another_view(visit: Visit) -> None:
    """They widen their ranges to fill their place: drawn first where the last view's picture was, and then in
    their own, they kept both, and a molecule was a spot in the middle."""
    ranges = """() => [...document.querySelectorAll('.js-plotly-plot')]
      .filter((p) => p.clientWidth && Object.values(p.layout).some((part) => part?.scaleanchor))
      .map(({_fullLayout: {xaxis}}) => xaxis.range)"""
    tab = visit.open("convolution-segmentation?scene=8")
    straight = tab.evaluate(ranges)
    assert straight
    tab = visit.open("convolution-segmentation?scene=7")
    tab.locator(".lectern-stage [aria-pressed]").nth(7).click()
    visit.settle()
    visit.worked()
    tab.wait_for_timeout(900)
    visit.settle()
    for now, then in zip(tab.evaluate(ranges), straight, strict=True):
        assert now == pytest.approx(then, abs=0.02)
