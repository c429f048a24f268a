"""The tab "Plot": the energy ledger, volume and pressure, the p-V diagram and the frame time, live."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame
from turgor.viewer.draw.diagram import diagram
from turgor.viewer.export.downloads import file_name
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.world.time_series import ENERGIES, LOSSES, Series

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["PlotsTab"]

COLORS = ("#e8590c", "#2f9e44", "#1971c2", "#9c36b5", "#212529", "#868e96", "#e03131")
HEIGHT = 210  # px
PADDING = (8, 14, 0, 0)
FONT = "11px sans-serif"
#: A line at the pointer, in all plots of the same time; the legend then shows the values there. Dragging would zoom,
#: but the next values come soon.
CURSOR = {"show": True, "x": True, "y": False, "drag": {"x": False, "y": False}, "focus": {"prox": 24}}
DIGITS = 5  # of the values that the legend shows


class PlotsTab(Tab):
    """Samples are taken as frames are streamed; only plots that are switched on are refreshed."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        self._selection = playground.selection
        self._series = Series(playground.world, playground.rates)
        self._drawn: dict[str, int] = {}  # samples that each plot shows
        self._samples = 0
        self._units = playground.world.gas_units
        gui = playground.server.gui
        self._selection.add_dropdown()
        self._boxes: dict[str, Any] = {}
        self._plots: dict[str, Any] = {}
        self._boxes["energy"] = gui.add_checkbox("Energy", True)
        self._losses = gui.add_checkbox(
            "with losses and work",
            playground.world.ledger,
            hint="Sums up what damping takes and grabs put in; it is slower.",
        )
        self._plots["energy"] = self._add_plot(_options("time (s)", ("J", ENERGIES)))
        self._plots["ledger"] = self._add_plot(_options("time (s)", ("J", (*ENERGIES, *LOSSES))))
        self._boxes["gas"] = gui.add_checkbox("Volume and pressure", True)
        self._plots["gas"] = self._add_plot(self._gas_options())
        self._boxes["path"] = gui.add_checkbox("p–V diagram", False)
        self._plots["path"] = gui.add_html("")
        self._boxes["pace"] = gui.add_checkbox("Frame time", False)
        pace = ("time of one (ms)", ("simulated frame", "update of the page"))
        self._plots["pace"] = self._add_plot(_options("clock (s)", pace))
        download = gui.add_button(
            "Values (.csv)",
            icon="download",
            hint="What the plots of energy and of gas show, as a table for a spreadsheet.",
        )
        download.on_click(lambda event: playground.do(self._send_table, event.client))
        for box in (*self._boxes.values(), self._losses):
            box.on_update(lambda _: playground.do(self._switch))
        self._selection.on_change(self._arrange)
        self._switch()
        playground.on_show(self._sample)
        playground.every(0.25, self._refresh)

    @property
    def series(self) -> Series:
        """What is measured."""
        return self._series

    def _add_plot(self, options: dict[str, Any]) -> Any:
        nothing = (np.array([0.0, 1.0]), *(np.full(2, np.nan) for _ in options["series"][1:]))
        return self._playground.server.gui.add_uplot(nothing, height=HEIGHT, padding=PADDING, visible=False, **options)

    def _gas_options(self) -> dict[str, Any]:
        volume, pressure = self._units
        return _options("time (s)", (f"volume ({volume})", ("volume",)), (f"gauge ({pressure})", ("gauge pressure",)))

    # the world's thread -----------------------------------------------------------------------------------------------

    def _shown(self, key: str) -> bool:
        if key in ("energy", "ledger"):
            return bool(self._boxes["energy"].value and self._losses.value == (key == "ledger"))
        return bool(self._boxes[key].value)

    def _switch(self) -> None:
        """A box was ticked or cleared."""
        for key, plot in self._plots.items():
            plot.visible = self._shown(key)
        self._series.with_energy = self._boxes["energy"].value
        wanted = self._series.with_energy and self._losses.value
        if wanted != self._playground.world.ledger:
            self._playground.world.keep_ledger(wanted)
            self._series.energy.clear()
        self._drawn.clear()

    def _arrange(self) -> None:
        """Another body is selected, or there are other bodies."""
        self._series.watch(self._selection.name)
        self._boxes["gas"].label = f"Volume and pressure of {self._series.body or 'a body with gas'}"
        units = self._playground.world.gas_units
        if units != self._units:
            self._units = units
            self._plots["gas"].axes = self._gas_options()["axes"]
        self._drawn.clear()

    def _sample(self, frame: Frame) -> None:
        if not self._playground.replaying and self._series.sample(frame):
            self._samples += 1

    def _refresh(self) -> None:
        if not self._playground.server.get_clients():
            return
        rings = {"energy": self._series.energy, "gas": self._series.gas, "pace": self._series.pace}
        rings["ledger"] = rings["energy"]
        for key, plot in self._plots.items():
            if not self._shown(key) or self._drawn.get(key) == self._samples:
                continue
            self._drawn[key] = self._samples
            if key == "path":
                plot.content = self._path()
            elif len(rings[key]) > 1:
                plot.data = tuple(_rounded(column) for column in rings[key].columns()[: len(plot.series)])

    def _send_table(self, client: Any) -> None:
        name = file_name(self._playground.world.scene.name, "-plots.csv")
        client.send_file_download(name, self.table().encode(), save_immediately=True)

    def table(self) -> str:
        """What has been measured, as CSV: a row per time, a column per curve with its unit; empty where it was not."""
        volume, pressure = self._units
        body = self._series.body or "gas"
        energies = (*ENERGIES, *LOSSES) if self._losses.value else ENERGIES
        parts = {
            tuple(f"{name} (J)" for name in energies): self._series.energy.columns()[: len(energies) + 1],
            (f"volume of {body} ({volume})", f"gauge pressure of {body} ({pressure})"): self._series.gas.columns()[:3],
        }
        rows: dict[float, dict[str, float]] = {}
        for names, (at, *columns) in parts.items():
            for k, moment in enumerate(at.tolist()):
                rows.setdefault(moment, {}).update(zip(names, (float(column[k]) for column in columns), strict=True))
        target = io.StringIO()
        heads = ["time (s)", *(name for names in parts for name in names)]
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(heads)
        for moment in sorted(rows):
            values = (rows[moment].get(name) for name in heads[1:])
            writer.writerow([f"{moment:.9g}", *("" if value is None else f"{value:.9g}" for value in values)])
        return target.getvalue()

    def _path(self) -> str:
        body = self._series.body
        if body is None:
            return diagram("No body holds gas.", "", "", np.zeros(0), np.zeros(0))
        volumes, pressures = self._series.path()
        labels = (f"volume ({self._units[0]})", f"absolute pressure ({self._units[1]})")
        return diagram(f"{body} (dashed: its gas law)", *labels, volumes, pressures, self._series.law)


def _rounded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of DIGITS digits: the legend writes all that a number has."""
    size = np.floor(np.log10(np.maximum(np.abs(np.nan_to_num(values)), 1e-30)))
    step = 10.0 ** (size - DIGITS + 1)
    return np.asarray(np.round(np.round(values / step) * step, 12))


def _options(x: str, *groups: tuple[str, tuple[str, ...]]) -> dict[str, Any]:
    """Series, scales and axes of a uPlot: groups of (label of the axis, lines), the first on the left."""
    series: list[dict[str, Any]] = [{"label": x}]
    scales: dict[str, Any] = {"x": {"time": False}}
    small = {"font": FONT, "labelFont": FONT, "labelSize": 16, "labelGap": 0}
    axes: list[dict[str, Any]] = [{"label": x, "size": 30, **small}]
    for side, (name, labels) in zip(("left", "right"), groups, strict=False):
        scales[side] = {"auto": True}
        axes.append({"scale": side, "label": name, "side": 3 if side == "left" else 1, "size": 46, **small})
        axes[-1]["grid"] = {"show": side == "left"}
        for label in labels:
            color = COLORS[len(series) - 1]
            series.append({"label": label, "scale": side, "stroke": color, "width": 1.5, "points": {"show": False}})
    return {
        "series": tuple(series),
        "scales": scales,
        "axes": tuple(axes),
        "legend": {"live": True},
        "cursor": {**CURSOR, "sync": {"key": x}},
    }
