"""The style of a study's report: colours by name, for light and for dark."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["STYLE"]

# viridis (van der Walt and Smith) in twelve steps; without its palest colours on white, its darkest on black
ON_LIGHT = (
    "#440154", "#482173", "#433e85", "#38588c", "#2d708e", "#25858e", "#1e9b8a", "#2ab07f", "#44bf70", "#67cc5c",
    "#8fd744", "#addc30",
)  # fmt: skip
ON_DARK = (
    "#3e4989", "#365d8d", "#2e6f8e", "#27808e", "#21918c", "#1fa287", "#2eb37c", "#4cc26c", "#73d056", "#a0da39",
    "#d0e11c", "#fde725",
)  # fmt: skip


def _steps(colors: Sequence[str]) -> str:
    return "".join(f"--c{number}:{color};" for number, color in enumerate(colors))


LIGHT = "--ink:#27303a;--soft:#5a6673;--page:#fff;--grid:#dfe4ea;--code:#eef1f5;--main:#2f5fb3;--bad:#c92f36;"
DARK = "--ink:#d8dee6;--soft:#98a3b0;--page:#14181d;--grid:#2b323b;--code:#222932;--main:#7aa5f0;--bad:#ff6b6f;"
SCALE = "".join(
    f".c{number}{{fill:var(--c{number})}}.dot.c{number},.thread.c{number}{{fill:none;stroke:var(--c{number})}}"
    for number in range(len(ON_LIGHT))
)

STYLE = (
    f":root{{color-scheme:light dark;{LIGHT}{_steps(ON_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{DARK}{_steps(ON_DARK)}}}}}"
    """
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
main{max-width:1120px;margin:auto;padding:16px 24px}h1{font-size:28px;margin:8px 0;overflow-wrap:anywhere}
h2{margin:40px 0 8px;padding-bottom:4px;border-bottom:2px solid var(--main);font-size:21px;overflow-wrap:anywhere}
h3{font-size:16px;margin:16px 0 0}a{color:var(--main)}.lead{font-size:18px;margin:4px 0 12px}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px}section{scroll-margin-top:8px}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:10px 0;font-size:14px}
th,td{padding:4px 12px 4px 0;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
tbody th{font-weight:600}thead th{border-bottom:2px solid var(--grid);vertical-align:bottom}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:12px}
.asked th{white-space:nowrap}.asked td{overflow-wrap:anywhere}
caption{caption-side:bottom;text-align:left;color:var(--soft)}
code{background:var(--code);padding:1px 5px;border-radius:4px;font-size:90%;overflow-wrap:anywhere}
pre{background:var(--code);padding:10px 14px;border-radius:6px;overflow-x:auto}pre code{padding:0;background:none}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,460px),1fr));gap:8px 24px}
figure{margin:8px 0;min-width:0}figcaption{font-size:13.5px;color:var(--soft)}.note{font-size:12.5px;color:var(--soft)}
svg.plot{display:block;width:100%;font:12px sans-serif;fill:var(--ink)}.wide svg.plot{min-width:860px}
.grid{stroke:var(--grid)}.axis{stroke:var(--ink);stroke-width:1.5}.bars{fill:var(--main)}
.line{fill:none;stroke:var(--main);stroke-width:2}.band{fill:var(--main);opacity:.3}.band.wide{opacity:.16}
.mark,.dot{fill:none;stroke:var(--main);stroke-width:6;stroke-linecap:round}.dot{stroke-width:3.6;opacity:.45}
.dot[class*=" c"]{opacity:.9}.mean{fill:none;stroke:var(--ink);stroke-width:2}.plots.one{max-width:680px}
.failed{fill:none;stroke:var(--bad);stroke-width:1.6}.thread{fill:none;stroke-width:1;opacity:.55}
.halo{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
@media(max-width:600px){main{padding:10px 12px}h1{font-size:23px}}@media print{nav{display:none}}
""" + SCALE
)
