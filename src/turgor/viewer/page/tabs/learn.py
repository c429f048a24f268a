"""The tab "Learn": guided experiments, step by step: a question, a guess, a control, a plot, and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.scene.scene import Scene
from turgor.viewer.lessons import LESSONS, lesson
from turgor.viewer.lessons.lesson import Lesson
from turgor.viewer.lessons.session import QUESTION, WHY, Session
from turgor.viewer.page.tabs.tab import Tab

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["LearnTab"]

INTRO = (
    "**Experiments.** Each asks a question. Guess first; then try it, and see what the numbers say. The dots in the "
    "plots are measured in the running simulation; the lines are the formula."
)
CHOICES = 3  # at most
HEIGHT = 250  # px
# uPlot that is laid out before its box has a width keeps an x axis without numbers until the range of x changes. So the
# end of the range moves to and fro by this share of it, and plots are drawn again so many refreshes after a step began.
HAIR = 1e-4
AGAIN = (5, 15)
FONT = "11px sans-serif"
SMALL = {"font": FONT, "labelFont": FONT, "labelSize": 16, "labelGap": 0}
BODIES = ("#3f8fd6", "#f0655a")  # dots: in the colours of the balls
LINES = ("#e8590c", "#2f9e44", "#1971c2", "#9c36b5", "#868e96", "#e0a800")
FORMULAS = ("#e8590c", "#9c36b5")  # beside dots
OVER_LINES = ("#e03131", "#3f8fd6")


class LearnTab(Tab):
    """All controls of all experiments are there from the start; only those that are wanted are shown."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        gui = playground.server.gui
        self.session: Session | None = None
        self._drawn: tuple[int, int] | None = None  # points and step that are shown
        self._starts = 0
        self._refreshes = 0  # since this step is shown
        self.menu = [gui.add_markdown(INTRO)]
        for kind in LESSONS.values():
            button = gui.add_button(kind.title, hint=kind.summary)
            button.on_click(lambda _, name=kind.name: playground.do(self.begin, name))
            self.menu.append(button)
        self.text = gui.add_markdown("", visible=False)
        self.choices = [gui.add_button("-", color="gray", visible=False) for _ in range(CHOICES)]
        for index, button in enumerate(self.choices):
            button.on_click(lambda _, index=index: playground.do(self.choose, index))
        self.sliders = {name: self._add_slider(kind) for name, kind in LESSONS.items()}
        self.button = gui.add_button("-", visible=False)
        self.plots = {name: self._add_plot(kind) for name, kind in LESSONS.items()}
        self.readings = gui.add_markdown("", visible=False)
        self.next = gui.add_button("Next", visible=False)
        self.back = gui.add_button("Back", color="gray", visible=False)
        self.away = gui.add_button("Leave", color="gray", hint="Back to the scene before.", visible=False)
        self.button.on_click(lambda _: playground.do(self.run))
        self.next.on_click(lambda _: playground.do(self.turn, 1))
        self.back.on_click(lambda _: playground.do(self.turn, -1))
        self.away.on_click(lambda _: playground.do(self.leave))
        playground.every(0.2, self._refresh)

    def _add_slider(self, kind: type[Lesson]) -> Any:
        control = kind.control
        slider = self._playground.server.gui.add_slider(
            control.label, min=control.low, max=control.high, step=control.step, initial_value=control.start,
            visible=False,
        )  # fmt: skip

        def moved(event: Any) -> None:
            if event.client is not None:  # by a person, not by us
                self._playground.do(self.set, float(slider.value))

        slider.on_update(moved)
        return slider

    def _add_plot(self, kind: type[Lesson]) -> Any:
        options = _options(kind)
        nothing = (np.array([kind.x.low, kind.x.high]), *(np.full(2, np.nan) for _ in options["series"][1:]))
        return self._playground.server.gui.add_uplot(
            nothing, height=HEIGHT, padding=(8, 14, 0, 0), visible=False, **options
        )

    # on the world's thread --------------------------------------------------------------------------------------------

    def begin(self, name: str, before: Scene | None = None) -> None:
        """Open an experiment. `before`: the scene to go back to, when that of the experiment is open already."""
        chosen = lesson(name)
        if self.session is not None:
            self.leave()
        self.session = Session(self._playground.world, chosen, self._playground.open, before)
        self._starts = self.session.starts
        self.sliders[name].value = chosen.value
        self._show()

    def choose(self, answer: int) -> None:
        """A guess."""
        if self.session is not None:
            self.session.choose(answer)
            self._show()

    def set(self, value: float) -> None:
        """The slider was moved."""
        if self.session is not None:
            self.session.set(value)

    def run(self) -> None:
        """The button of the experiment."""
        if self.session is not None:
            self.session.run()

    def turn(self, steps: int) -> None:
        """To the next step (1), or the one before (-1)."""
        if self.session is not None:
            self.session.next() if steps > 0 else self.session.back()
            self._show()

    def leave(self) -> None:
        """Back to the scene before."""
        session, self.session = self.session, None
        if session is not None:
            self._show()
            session.leave()

    def _show(self) -> None:
        """The controls of this step."""
        session = self.session
        asked, tried = session is not None and session.step == QUESTION, session is not None and session.step > QUESTION
        name = session.lesson.name if session is not None else ""
        with self._playground.server.atomic():
            for handle in self.menu:
                handle.visible = session is None
            for handle in (self.text, self.next, self.back, self.away):
                handle.visible = session is not None
            for index, button in enumerate(self.choices):
                button.visible = asked and session is not None and index < len(session.lesson.choices)
            for key in LESSONS:
                self.sliders[key].visible = self.plots[key].visible = tried and key == name
            self.readings.visible = tried
            self.button.visible = tried and session is not None and bool(session.lesson.control.button)
            if session is None:
                return
            self.text.content = session.text
            for index, words in enumerate(session.lesson.choices):
                self.choices[index].label = words
                self.choices[index].color = "blue" if session.answer == index else "gray"
            self.button.label = session.lesson.control.button or "-"
            self.next.visible = session.step < WHY
            self.next.disabled = not session.may_go_on
            self.back.visible = session.step > QUESTION
        self._drawn, self._refreshes = None, 0

    def _refresh(self) -> None:
        session = self.session
        if session is None:
            return
        if session.over:  # another scene was chosen
            session.end()
            self.session = None
            self._show()
            return
        name = session.lesson.name
        if session.starts != self._starts:  # it was reset
            self._starts = session.starts
            self.sliders[name].value = session.lesson.value
        self._refreshes += 1
        state = session.points.count, session.step
        same = state == self._drawn and self._refreshes not in AGAIN
        if session.step == QUESTION or same or not self._playground.server.get_clients():
            return
        self._drawn = state
        self.readings.content = session.readings()
        columns = session.columns()
        if len(columns[0]) > 1:
            columns[0][-1] += (self._refreshes % 2) * HAIR * (session.lesson.x.high - session.lesson.x.low)
            self.plots[name].data = columns


def _options(kind: type[Lesson]) -> dict[str, Any]:
    """Series, scales and axes of a uPlot: measured dots (or lines over time), and formulas as dashed lines."""
    series: list[dict[str, Any]] = [{"label": kind.x.label}]
    for index, label in enumerate(kind.measured):
        if kind.lines:
            line = {"stroke": LINES[index], "width": 1.6, "points": {"show": False}}
        else:
            dots = {"show": True, "size": 3, "fill": BODIES[index], "stroke": BODIES[index], "width": 2}
            line = {"stroke": BODIES[index], "width": 0, "points": dots}
        series.append({"label": label, "scale": "y", **line})
    for index, label in enumerate(kind.formulas):
        color = (OVER_LINES if kind.lines else FORMULAS)[index]
        series.append(
            {"label": f"formula: {label}", "scale": "y", "stroke": color, "width": 1.6, "dash": (6, 4),
             "points": {"show": False}}
        )  # fmt: skip
    axes = (
        {"label": kind.x.label, "size": 44, **SMALL},
        {"scale": "y", "label": kind.y.label, "side": 3, "size": 46, **SMALL},
    )
    scales = {"x": {"time": False}, "y": {"range": (kind.y.low, kind.y.high)}}
    return {"series": tuple(series), "scales": scales, "axes": axes, "legend": {"live": False}}
