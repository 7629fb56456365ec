"""The fork server: one long-lived process with every reader loaded, which forks once per document.

It has a single thread and opens no document itself, so forking is safe and no document can harm it. It
ends, children included, when its standard input closes: that is, with the app that started it.
"""

import gc
import os
import selectors
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from shared.adapters.extract.fork_child import read_and_vanish
from shared.adapters.extract.messages import (
    CHILD_LINES,
    REQUESTS,
    Answer,
    Cancel,
    Died,
    Done,
    Opened,
    Order,
    Ready,
    line,
)

_PIECE_BYTES = 65_536


@dataclass(slots=True)
class _Child:
    pid: int
    order_id: int
    said: bytearray = field(default_factory=bytearray)


class _Server:
    def __init__(self, *, requests: int, answers: int, directory: str) -> None:
        self._requests = requests
        self._answers = answers
        self._directory = directory
        self._heard = bytearray()
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Work until the app closes its end."""
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._say(Ready(directory=self._directory))
        while True:
            for key, _ in self._selector.select():
                if key.fd != self._requests:
                    self._hear_child(key.fd)
                elif not self._hear_app():
                    return

    def end_children(self) -> None:
        """Kill and reap all that still read."""
        for child in self._children.values():
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)

    def _hear_app(self) -> bool:
        """Act on what the app sent; False when it is gone."""
        piece = os.read(self._requests, _PIECE_BYTES)
        self._heard += piece
        *complete, rest = self._heard.split(b"\n")
        self._heard = bytearray(rest)
        for request in complete:
            self._act(REQUESTS.decode(request))
        return bool(piece)

    def _act(self, request: Order | Cancel) -> None:
        if isinstance(request, Order):
            self._fork(request)
            return
        for child in self._children.values():
            if child.order_id == request.id:
                os.kill(child.pid, signal.SIGKILL)

    def _fork(self, order: Order) -> None:
        hear, say = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._forget(hear)
            read_and_vanish(order, self._output_of(order.id), say)
        os.close(say)
        self._children[hear] = _Child(pid=pid, order_id=order.id)
        self._selector.register(hear, selectors.EVENT_READ)

    def _forget(self, hear: int) -> None:
        """In a child: let go of everything that is not its own."""
        self._selector.close()
        for descriptor in (hear, self._requests, self._answers, *self._children):
            os.close(descriptor)

    def _output_of(self, order_id: int) -> str:
        return os.path.join(self._directory, f"{order_id}.txt")

    def _hear_child(self, hear: int) -> None:
        child = self._children[hear]
        if piece := os.read(hear, _PIECE_BYTES):
            child.said += piece
            return
        self._selector.unregister(hear)
        os.close(hear)
        del self._children[hear]
        _, status = os.waitpid(child.pid, 0)
        answer = _last_word(child, status)
        if not isinstance(answer, Done):
            # Half a text is of no use to anybody, and nobody else would clear it away.
            Path(self._output_of(child.order_id)).unlink(missing_ok=True)
        self._say(answer)

    def _say(self, message: Ready | Answer) -> None:
        os.write(self._answers, line(message))


def _last_word(child: _Child, status: int) -> Answer:
    """The child's answer, or ours for it when it died without one."""
    media_type = None
    *complete, _ = child.said.split(b"\n")
    for said in complete:
        message = CHILD_LINES.decode(said)
        if not isinstance(message, Opened):
            return message
        media_type = message.media_type
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return Died(id=child.order_id, signal=ended_by, media_type=media_type)


def main(directory: str) -> None:
    """Serve on standard input and output; texts go into a new folder below `directory`."""
    requests, answers = _take_standard_streams()
    # A key press in the terminal is for the app, which then closes our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # What is loaded now is shared by all children; the collector must not touch and so copy it.
    gc.freeze()
    texts = tempfile.mkdtemp(prefix="postern-texts-", dir=directory)
    server = _Server(requests=requests, answers=answers, directory=texts)
    try:
        server.serve()
    except BrokenPipeError:
        # The app died between its question and our answer.
        pass
    finally:
        server.end_children()
        shutil.rmtree(texts, ignore_errors=True)


def _take_standard_streams() -> tuple[int, int]:
    """Keep the app's two pipes to ourselves: a parser that prints must not speak for us."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    return requests, answers
