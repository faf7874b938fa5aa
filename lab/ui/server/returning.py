"""Tabs that outlive their session: after a laptop slept, after a restart of the server, or of its process.

Streamlit (1.67) takes such a tab back as a new session, which has drawn nothing, and drops whatever the tab
asks of a part of its page: the session does not know that part. Here the first such question makes the
session draw the page as its address says; then it hears the question, with all that the controls show.
"""

import asyncio
import weakref

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

drawn: weakref.WeakSet[AppSession] = weakref.WeakSet()  # sessions that have drawn a whole page
waiting: weakref.WeakKeyDictionary[AppSession, list[ClientState]] = weakref.WeakKeyDictionary()


def install() -> None:
    """Let every session of this process do so."""
    ask, send = AppSession.request_rerun, AppSession._enqueue_forward_msg

    def request(session: AppSession, asked: ClientState | None) -> None:
        if (
            asked is None
            or not asked.fragment_id
            or session in drawn
            or session.has_fragment(asked.fragment_id)
        ):
            return ask(session, asked)
        held = waiting.setdefault(session, [])
        if not asked.is_auto_rerun:  # a part that draws itself again will do so once it is there
            held.append(asked)
        if session._scriptrunner is None:
            ask(session, without_moves(asked))

    def enqueue(session: AppSession, message: ForwardMsg) -> None:
        send(session, message)
        if message.WhichOneof("type") != "script_finished" or session in drawn:
            return
        if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            drawn.add(session)
            for asked in waiting.pop(session, []):  # once this run's end has been taken in
                asyncio.get_running_loop().call_soon(hear, session, asked)

    def hear(session: AppSession, asked: ClientState) -> None:
        if not session.has_fragment(asked.fragment_id):  # the page has other parts today
            asked.fragment_id = ""
        ask(session, asked)

    AppSession.request_rerun = request  # type: ignore[method-assign,assignment]
    AppSession._enqueue_forward_msg = enqueue  # type: ignore[method-assign,assignment]


def without_moves(asked: ClientState) -> ClientState:
    """The page of this question as its address says: no control has been moved."""
    first = ClientState()
    first.CopyFrom(asked)
    for field in ("fragment_id", "widget_states", "is_auto_rerun"):
        first.ClearField(field)
    return first
