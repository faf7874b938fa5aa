"""A session of the dashboard without a browser: Streamlit's messages over a WebSocket, as a page sends them.

async with Session.of("http://localhost:8501") as session:
    await session.open("language-truncation")
    control = next(iter(session.controls.values()))
    answer = await session.move(control, control.draw(random, seq=1))
"""

import asyncio
import json
import math
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

KINDS = {
    "checkbox": "switch",
    "button_group": "choice",
    "number_input": "number",
    "text_input": "text",
    "text_area": "text",
}
ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass
class Control:
    """A control as the server has drawn it: its widget, and the fragment that it stands in."""

    element: Element
    fragment: str

    @property
    def kind(self) -> str:
        """ "slider" (of our own), "switch", "choice", "number" or "text"; "" is none that we move."""
        kind = self.element.WhichOneof("type") or ""
        if kind == "bidi_component":
            return "slider" if self.element.bidi_component.component_name.endswith("lectern_slider") else ""
        return KINDS[kind] if kind in KINDS and not getattr(self.element, kind).disabled else ""

    @property
    def id(self) -> str:
        return str(getattr(self.element, self.element.WhichOneof("type") or "").id)

    @property
    def says(self) -> dict[str, Any]:
        """Arguments of a slider from the server: low, high, step, value, seq, …"""
        result: dict[str, Any] = json.loads(self.element.bidi_component.json)
        return result

    def draw(self, random: Random, seq: int, text: str = "") -> WidgetState:
        """Another value of this control, as a reader would set it.

        Args:
            seq: the number of a slider's question; its answer says it again.
            text: what is typed into a field.
        """
        if self.kind == "text":
            return WidgetState(id=self.id, string_value=text)
        if self.kind == "slider":
            result = self.says
            steps = math.floor((result["high"] - result["low"]) / result["step"] + 1e-9)
            value = result["low"] + result["step"] * random.randint(0, steps)
            return WidgetState(id=self.id, json_value=json.dumps({"moved": {"value": value, "seq": seq}}))
        if self.kind == "switch":
            return WidgetState(id=self.id, bool_value=random.random() < 0.5)
        if self.kind == "choice":
            state = WidgetState(id=self.id)
            option = random.choice(list(self.element.button_group.options))
            state.string_array_value.data.append(option.content)
            return state
        box = self.element.number_input
        low, high = (box.min if box.has_min else 0.0), (box.max if box.has_max else 9.0)
        return WidgetState(id=self.id, double_value=min(high, low + box.step * random.randint(0, 3)))


@dataclass
class Answer:
    """The answer of one run.

    Attributes:
        seconds: from the question to the end of the run.
        sliders: what the server said to each slider, by its widget's id.
        errors: sentences of failures.
        raw: all bytes.
    """

    seconds: float = 0.0
    sliders: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)


class Session:
    """One reader: a connection, the widgets' values, and what the server has drawn last."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.pages: dict[str, str] = {}  # address -> Streamlit's name of the page
        self.page = ""
        self.query = ""
        self.controls: dict[str, Control] = {}
        self.values: dict[str, WidgetState] = {}
        self.cached: set[str] = set()
        self.live: dict[str, float] = {}  # parts that draw themselves again, and after how many seconds

    @classmethod
    @asynccontextmanager
    async def of(cls, address: str) -> AsyncIterator["Session"]:
        """A session with the dashboard at this address; where several processes serve, with one of them."""
        with urllib.request.urlopen(f"{address}/", timeout=60) as answer:  # it may say which process is ours
            cookies = [c.split(";")[0] for c in answer.headers.get_all("Set-Cookie") or []]
        async with connect(
            address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            additional_headers={"Cookie": "; ".join(cookies)} if cookies else None,
            max_size=None,
            ping_timeout=None,  # an overloaded server answers late: that is what is measured
            proxy=None,
        ) as socket:
            yield cls(socket)

    async def open(self, page: str, query: str = "") -> Answer:
        """Go to a page: its address without the slash, and the query of a link."""
        self.page, self.query = page, query
        self.controls.clear()
        self.values.clear()
        self.live.clear()
        return await self.run("")

    async def move(self, control: Control, state: WidgetState) -> Answer:
        """Set a control; the server hears the values of all that were moved on this page."""
        self.values[state.id] = state
        return await self.run(control.fragment)

    async def stay(self) -> None:
        """Ask again and again for the parts that draw themselves, as a tab that is open does, for ever."""
        while True:
            await asyncio.sleep(min(self.live.values(), default=1.0))
            for fragment in list(self.live):
                await self.run(fragment)

    async def run(self, fragment: str) -> Answer:
        question = BackMsg()
        client = question.rerun_script
        client.query_string, client.fragment_id = self.query, fragment
        client.page_script_hash = self.pages.get(self.page, "")
        client.page_name = "" if client.page_script_hash else self.page
        client.widget_states.widgets.extend(self.values.values())
        client.cached_message_hashes.extend(self.cached)
        start = time.perf_counter()
        await self.socket.send(question.SerializeToString())
        answer = Answer()
        while True:
            data = await self.socket.recv()
            assert isinstance(data, bytes)
            answer.raw += data
            message = ForwardMsg.FromString(data)
            if self.hear(message, answer):
                answer.seconds = time.perf_counter() - start
                return answer

    def hear(self, message: ForwardMsg, answer: Answer) -> bool:
        """Take in one message; whether the run is over."""
        if message.metadata.cacheable:
            self.cached.add(message.hash)
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.pages = {p.url_pathname.strip("/"): p.page_script_hash for p in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            answer.errors.append(f"no page {self.page}")
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.draw(message.delta.new_element, message.delta.fragment_id, answer)
        elif kind == "auto_rerun":
            self.live[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self.live.pop(fragment, None)
        elif kind == "heartbeat_ack":  # the end of an answer that carried what had changed
            return True
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                answer.errors.append("the script does not compile")
            return message.script_finished in ENDS
        return False

    def draw(self, element: Element, fragment: str, answer: Answer) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            answer.errors.append(element.exception.message)
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            answer.errors.append(element.alert.body)
        elif (control := Control(element, fragment)).kind:
            self.controls[control.id] = control
            if control.kind == "slider":
                answer.sliders[control.id] = control.says
