"""Answers that carry what has changed, and nothing else.

Streamlit (1.67) answers a control by sending every element of the part that ran, each in a message of its
own, between notices that a run has begun and ended; each notice renders all elements of the page again. Here
the messages of such a run wait until it ends. Where its elements stand at the places of the run before, the
browser gets those that differ, and keeps the others as they are. A run that takes longer than `PATIENCE`, or
that draws other places than before, is sent whole, as Streamlit does.
"""

import asyncio
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.RootContainer_pb2 import RootContainer
from streamlit.runtime.app_session import AppSession

DRAWS = "delta", "ref_hash"  # the messages that draw: an element or a box, or the name of one that is cached
NOTICES = "new_session", "session_status_changed", "script_finished"
PATIENCE = 0.4  # seconds that a run's messages wait for its end
Place = tuple[int, ...]  # of an element in the page: Streamlit's delta path


@dataclass
class ShownDeltas:
    """The state of one session's browser: the deltas it shows, and the run whose messages wait."""

    looks: dict[Place, str] = field(default_factory=dict)  # of every place, as it was sent last
    drawn: dict[tuple[str, ...], set[Place]] = field(default_factory=dict)  # by the part that draws them
    parts: tuple[str, ...] = ()  # that run now; none: all of the page
    run: list[ForwardMsg] = field(default_factory=list)  # the deltas of this run
    waiting: list[ForwardMsg] | None = None  # all of its messages, while they are held back
    alarm: asyncio.TimerHandle | None = None
    hushed: bool = False  # the browser was not told that a run had begun, nor is it told that it is over

    def hear(self, message: ForwardMsg) -> list[ForwardMsg]:
        """The messages to send now that the server has this one."""
        kind = message.WhichOneof("type")
        if kind == "session_status_changed" and self.hushed:
            self.hushed = False
            return []
        if kind == "new_session":
            before = self.release()
            self.parts, self.run = tuple(message.metadata.run.fragment_ids), []
            if self.parts and self.parts in self.drawn:
                self.waiting = [message]
                return before
            return [*before, message]
        if kind in DRAWS:
            self.run.append(message)
        if self.waiting is not None:
            self.waiting.append(message)
            if kind != "script_finished":
                return []
            if (changed := self.changed(message)) is not None:
                self.waiting, self.run, self.hushed = None, [], True
                return changed
            sent = self.release()
        else:
            sent = [message]
            if kind in DRAWS:
                self.looks[place(message)] = digest(message)
        if kind == "script_finished":
            self.whole(message)
        return sent

    def changed(self, end: ForwardMsg) -> list[ForwardMsg] | None:
        """Messages that differ from those shown, of a run that went to its end and drew the places it drew
        before; None where the browser needs all of it."""
        last = {place(message): message for message in self.run}
        done = end.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        if not done or places(self.run) != self.drawn[self.parts]:
            return None
        looks = {at: digest(message) for at, message in last.items()}
        new = {at for at in last if looks[at] != self.looks.get(at) or brings_value(last[at])}
        if any(is_structural(message) for message in self.run if place(message) in new):
            return None
        self.looks |= looks
        others = [
            message for message in self.waiting or [] if message.WhichOneof("type") not in (*NOTICES, *DRAWS)
        ]
        # a sign of life ends the answer, for whoever waits for its end; a browser draws nothing at it
        return [*others, *(last[at] for at in last if at in new), ForwardMsg(heartbeat_ack=True)]

    def release(self) -> list[ForwardMsg]:
        """The messages that have waited, to be sent as they are."""
        held, self.waiting = self.waiting or [], None
        self.looks |= {place(message): digest(message) for message in held if draws_element(message)}
        return held

    def whole(self, end: ForwardMsg) -> None:
        """A run was sent whole: what it did not draw again, the browser has removed."""
        if end.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.drawn = spans(self.run)
        elif end.script_finished != ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
            self.drawn = {}
        elif not spans(self.run).items() <= self.drawn.items():
            self.drawn = spans(self.run)
        self.run = []

    def lose(self, messages: list[ForwardMsg]) -> None:
        """These messages never reach the browser."""
        for message in messages:
            if draws_element(message):
                self.looks.pop(place(message), None)


def spans(run: list[ForwardMsg]) -> dict[tuple[str, ...], set[Place]]:
    """The places that each part of a run has drawn, with those of the parts inside it."""
    numbers: dict[str, list[int]] = {}
    for number, message in enumerate(run):
        if part := message.delta.fragment_id:
            numbers.setdefault(part, []).append(number)
    return {(part,): places(run[at[0] : at[-1] + 1]) for part, at in numbers.items()}


def places(run: Iterable[ForwardMsg]) -> set[Place]:
    """Places at which these messages draw, without styles and the like, which a part draws once."""
    return {at for at in map(place, run) if at[0] != RootContainer.EVENT}


def draws_element(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") in DRAWS


def place(message: ForwardMsg) -> Place:
    return tuple(message.metadata.delta_path)


def digest(message: ForwardMsg) -> str:
    """Equal for messages that show the same: Streamlit's digest, by which it names what a browser has."""
    return message.hash or message.ref_hash


def is_structural(message: ForwardMsg) -> bool:
    """True if it draws something else than one element that takes its place."""
    return message.HasField("delta") and message.delta.WhichOneof("type") != "new_element"


def brings_value(message: ForwardMsg) -> bool:
    """True if the element brings its control a value, which the reader may have turned; or is unknown."""
    element = message.delta.new_element
    kind = element.WhichOneof("type")
    return not digest(message) or (kind is not None and getattr(getattr(element, kind), "set_value", False))


sessions: weakref.WeakKeyDictionary[AppSession, ShownDeltas] = weakref.WeakKeyDictionary()


def install() -> None:
    """Let every session of this process answer so."""
    send, clear = AppSession._enqueue_forward_msg, AppSession._clear_queue

    def tell(session: AppSession, messages: list[ForwardMsg]) -> None:
        for message in messages:
            send(session, message)

    def enqueue(session: AppSession, message: ForwardMsg) -> None:
        shown = sessions.setdefault(session, ShownDeltas())
        tell(session, shown.hear(message))
        if shown.waiting is None and shown.alarm is not None:
            shown.alarm.cancel()
            shown.alarm = None
        elif shown.waiting is not None and shown.alarm is None:
            shown.alarm = asyncio.get_running_loop().call_later(PATIENCE, late, session, shown)

    def late(session: AppSession, shown: ShownDeltas) -> None:
        shown.alarm = None
        tell(session, shown.release())

    def clearing(session: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
        if fragment_ids_this_run is not None:
            # A run of a part makes Streamlit drop what the run before has drawn there and the browser has
            # not got yet: nothing was seen of a job that goes on at once. It stays, before what comes.
            session._browser_queue._delta_index_map.clear()
            return
        if shown := sessions.get(session):
            shown.lose(session._browser_queue._queue)
        clear(session)

    AppSession._enqueue_forward_msg = enqueue  # type: ignore[method-assign,assignment]
    AppSession._clear_queue = clearing  # type: ignore[method-assign,assignment]
