"""What the commands share for printing: strict JSON, tables, sizes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turgor.record import FileSink

__all__ = ["human_size", "plain", "print_json", "print_table", "wrote"]


def plain(value: Any) -> Any:
    """Numpy values, tuples and mappings as JSON has them; a number that is not finite becomes None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def print_json(value: Any) -> None:
    """One JSON value on stdout; strict: no NaN, no Infinity."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


def human_size(size: float) -> str:
    """`3.1 MB` for 3,100,000 bytes."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000.0:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000.0
    return f"{size:.1f} GB"


def wrote(sink: FileSink) -> str:
    """The line about a file that is complete; of numbered ones the size of all."""
    path = sink.path
    numbered = f"{path.name.partition('%')[0]}*{path.suffix}"
    files = [path] if "%" not in path.name else sorted(path.parent.glob(numbered))
    size = human_size(sum(file.stat().st_size for file in files if file.exists()))
    return f"wrote {path} ({', '.join(filter(None, (size, sink.note)))})"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A table on stdout; the first `left` columns are text, the others numbers. Plain where stdout is no terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 200  # a pipe or a file has no width; rich would take 80 and wrap
    with console.capture() as text:
        console.print(table)
    print(text.get(), end="")  # not by rich, which ends the program where a pipe is closed
