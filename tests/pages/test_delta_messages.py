"""Answers that carry what has changed: what the browser is sent of a run."""

import re
from collections.abc import Iterable
from typing import Any
from unittest.mock import Mock

import pytest
from browsing import Visit
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from lab.ui.server.delta_messages import ShownDeltas, install, spans

PAGE = ("page",)


def begun(*parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.SetInParent()
    message.metadata.run.fragment_ids.extend(parts)
    return message


def status(running: bool) -> ForwardMsg:
    message = ForwardMsg()
    message.session_status_changed.script_is_running = running
    return message


def ended(how: int = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY) -> ForwardMsg:
    return ForwardMsg(script_finished=how)


def text(at: tuple[int, ...], says: str, part: str = "page") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(at)
    message.delta.fragment_id = part
    message.delta.new_element.markdown.body = says
    populate_hash_if_needed(message)
    return message


def box(at: tuple[int, ...], label: str = "", part: str = "page") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(at)
    message.delta.fragment_id = part
    message.delta.add_block.expandable.label = label
    populate_hash_if_needed(message)
    return message


def run(
    shown: ShownDeltas, deltas: Iterable[ForwardMsg], *parts: str, how: int | None = None
) -> list[ForwardMsg]:
    """All that is sent of a run of these parts; of the whole page where none is named."""
    done = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY if parts else ForwardMsg.FINISHED_SUCCESSFULLY
    messages = [begun(*parts), status(True), *deltas, ended(done if how is None else how), status(False)]
    return [sent for message in messages for sent in shown.hear(message)]


def kinds(messages: list[ForwardMsg]) -> list[str]:
    return [
        message.delta.new_element.markdown.body or "block"
        if message.HasField("delta")
        else str(message.WhichOneof("type"))
        for message in messages
    ]


def news(messages: list[ForwardMsg]) -> list[str]:
    """What an answer carries that ends with a sign of life."""
    assert messages[-1].HasField("heartbeat_ack")
    return kinds(messages[:-1])


WHOLE = ["new_session", "session_status_changed", "script_finished", "session_status_changed"]


def page(one: str = "a", two: str = "b", label: str = "") -> list[ForwardMsg]:
    return [box((0, 0), label), text((0, 0, 0), one), text((0, 1), two)]


def opened() -> ShownDeltas:
    """A session whose browser shows the page."""
    shown = ShownDeltas()
    run(shown, [text((1, 0), "menu", part=""), *page()])
    return shown


def test_an_answer_carries_the_element_that_differs_alone() -> None:
    shown = opened()
    assert news(run(shown, page(two="c"), "page")) == ["c"]
    assert news(run(shown, page("d", "c"), "page")) == ["d"]
    assert news(run(shown, page("a", "b"), "page")) == ["a", "b"]


def test_where_nothing_differs_the_browser_still_hears() -> None:
    assert news(run(opened(), page(), "page")) == []


def test_the_first_run_and_every_whole_run_are_sent_whole() -> None:
    shown = ShownDeltas()
    first = kinds(run(shown, page(), "page"))
    assert first == [*WHOLE[:2], "block", "a", "b", *WHOLE[2:]]
    assert news(run(shown, page(), "page")) == []
    assert len(run(shown, page())) == 7
    assert news(run(shown, page(), "page")) == []


@pytest.mark.parametrize(
    "drawn",
    [
        [*page(), text((0, 2), "more")],
        page()[:2],
        page(label="another"),
        [box((0, 0)), text((0, 0, 0), "a"), box((0, 1))],
    ],
    ids=["more", "less", "another box", "a box for a text"],
)
def test_another_structure_is_sent_whole(drawn: list[ForwardMsg]) -> None:
    shown = opened()
    assert len(run(shown, drawn, "page")) == len(drawn) + 4
    assert len(run(shown, drawn, "page")) == 1  # and is what the next run is measured by


def test_what_the_last_run_left_out_counts_no_more() -> None:
    shown = opened()
    run(shown, page()[:2], "page")
    assert len(run(shown, page(), "page")) == 7


@pytest.mark.parametrize("how", [ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_WITH_COMPILE_ERROR])
def test_a_run_that_broke_off_is_sent_whole_and_so_is_the_next(how: int) -> None:
    shown = opened()
    assert len(run(shown, page(two="c"), "page", how=how)) == 7
    assert len(run(shown, page(two="c"), "page")) == 7
    assert news(run(shown, page(two="e"), "page")) == ["e"]


def test_a_long_run_is_sent_as_it_goes() -> None:
    shown = opened()
    assert not shown.hear(begun("page")) and not shown.hear(status(True)) and not shown.hear(page()[0])
    assert kinds(shown.release()) == ["new_session", "session_status_changed", "block"]
    assert kinds(shown.hear(text((0, 0, 0), "half"))) == ["half"]
    for message in (text((0, 1), "b"), ended(), status(False)):
        assert shown.hear(message) == [message]
    assert news(run(shown, page("half", "c"), "page")) == ["c"]


def test_what_never_reached_the_browser_is_sent_again() -> None:
    shown = opened()
    lost = run(shown, page("c"), "page")
    shown.lose(lost)
    assert news(run(shown, page("c"), "page")) == ["c"]


def test_a_control_that_is_brought_a_value_is_sent_again() -> None:
    """The reader may have typed over it meanwhile: what is refused twice is put back twice."""
    field = ForwardMsg()
    field.metadata.delta_path.extend((0, 0))
    field.delta.fragment_id = "page"
    field.delta.new_element.text_input.value = "3"
    field.delta.new_element.text_input.set_value = True
    populate_hash_if_needed(field)
    shown = ShownDeltas()
    run(shown, [field, text((0, 1), "b")])
    assert run(shown, [field, text((0, 1), "b")], "page")[:-1] == [field]


def test_an_element_that_the_browser_has_cached_is_known_by_its_name() -> None:
    shown = opened()
    around, one, two = page()
    assert news(run(shown, [around, create_reference_msg(one), two], "page")) == []
    other = text((0, 0, 0), "c")
    named = create_reference_msg(other)
    assert run(shown, [around, named, two], "page")[:-1] == [named]
    assert news(run(shown, [around, other, two], "page")) == []


def test_styles_that_a_page_draws_once_are_no_part_of_its_answers() -> None:
    shown = ShownDeltas()
    run(shown, [page()[0], text((2, 0), "style"), *page()[1:]])
    assert news(run(shown, page(two="c"), "page")) == ["c"]


def test_what_is_no_element_goes_its_way() -> None:
    shown = opened()
    address = ForwardMsg()
    address.page_info_changed.query_string = "step=3"
    assert run(shown, [address, *page(two="c")], "page")[0] == address
    for message in (address, status(True), status(False)):
        assert shown.hear(message) == [message]


def test_a_part_inside_the_page_answers_alone() -> None:
    """A check, or a training that is on, runs without the page, whose next answer knows what it showed."""
    inside = [text((0, 1, 0), "epoch 1", "inner"), text((0, 1, 1), "chart", "inner")]
    drawn = [box((0, 0)), text((0, 0, 0), "a"), box((0, 1)), *inside, text((0, 2), "end")]
    shown = ShownDeltas()
    run(shown, drawn)
    assert spans(drawn) == {PAGE: {(0, 0), (0, 0, 0), (0, 1), (0, 1, 0), (0, 1, 1), (0, 2)},
                            ("inner",): {(0, 1, 0), (0, 1, 1)}}  # fmt: skip
    later = [text((0, 1, 0), "epoch 2", "inner"), inside[1]]
    assert news(run(shown, later, "inner")) == ["epoch 2"]
    assert news(run(shown, drawn, "page")) == ["epoch 1"]
    shown.hear(begun("inner"))
    shown.release()  # a long run, to the same places
    for message in (*later, ended(), status(False)):
        shown.hear(message)
    assert news(run(shown, drawn, "page")) == ["epoch 1"]


def test_what_waits_for_the_browser_outlives_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit drops it: a job that begins with its page runs again before its first picture is sent."""
    for name in ("_enqueue_forward_msg", "_clear_queue"):
        monkeypatch.setattr(AppSession, name, getattr(AppSession, name))  # put back what `install` changes
    install()
    session: Any = Mock(_browser_queue=ForwardMsgQueue())
    first, second = text((0, 0), "a", "job"), text((0, 0), "b", "job")
    for message in (first, ended()):
        session._browser_queue.enqueue(message)
    AppSession._clear_queue(session, ["job"])
    for message in (begun("job"), second):
        session._browser_queue.enqueue(message)
    waiting = session._browser_queue._queue
    assert waiting == [first, ended(), begun("job"), second]  # the second did not take the first one's place
    AppSession._clear_queue(session)  # a run of all of the page draws everything again
    assert kinds(session._browser_queue._queue) == ["script_finished", "new_session"]


@pytest.mark.browser
def test_a_knob_is_answered_in_few_messages(visit: Visit) -> None:
    heard: list[int] = []
    visit.tab.on("websocket", lambda wire: wire.on("framereceived", lambda _: heard.append(1)))
    tab = visit.open("autoregressive-gaussian-chain")
    drawn = len(heard)
    slider = tab.locator(".lectern-slider input").first
    before = visit.text()
    heard.clear()
    slider.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url(re.compile(r"\?"))
    visit.settle()
    assert visit.text() != before
    assert 0 < len(heard) < drawn / 2
