"""A self-contained HTML page: its frame, style and escaping. Nothing is loaded from elsewhere, and there are no scripts."""
from __future__ import annotations

import base64
import html
import re

START = "<!DOCTYPE html>"  # of each page
GENERATOR = '<meta name="generator" content="gpumc-report">'
STYLE = """
:root { --ink: #1a1d21; --soft: #5a6470; --rule: #d9dee4; --paper: #ffffff; --shade: #f5f7f9; --accent: #1f5fa8;
        --good: #1b6e3c; --bad: #a3341c; --open: #8a6100; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper);
       font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; padding-top: 1.2rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p { margin: .5rem 0; } .soft { color: var(--soft); }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .88em; }
pre { background: var(--shade); border: 1px solid var(--rule); border-radius: 4px; padding: .7rem .9rem; overflow-x: auto;
      line-height: 1.4; }
.verdict { border-left: 5px solid var(--open); background: var(--shade); padding: .6rem .9rem; margin: .9rem 0; }
.verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
.verdict b { font-size: 1.05rem; } .good b { color: var(--good); } .bad b { color: var(--bad); } .open b { color: var(--open); }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; border-bottom-color: var(--ink); } td.number, th.number { text-align: right; white-space: nowrap; }
table.facts th { border-bottom-color: var(--rule); font-weight: 400; color: var(--soft); min-width: 8rem; }
table.facts td { overflow-wrap: anywhere; }
caption { caption-side: top; text-align: left; font-weight: 600; padding: .2rem 0 .35rem; }
figure { margin: 1.2rem 0; } figure img { display: block; max-width: 100%; height: auto; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .6rem; }
.panels img { width: 100%; }
figcaption { color: var(--soft); font-size: .92rem; margin-top: .35rem; } figcaption b { color: var(--ink); }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); }
nav ol { padding-left: 1.3rem; columns: 2 18rem; } ol.works li { margin: .35rem 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .7rem; color: var(--soft); font-size: .88rem; }
@media (max-width: 36rem) { body { padding: 1rem .9rem 3rem; } h1 { font-size: 1.4rem; } nav ol { columns: 1; }
  figure > .scroll img { max-width: none; width: 38rem; }
  table.facts, table.facts tbody, table.facts tr, table.facts th, table.facts td { display: block; border: 0; padding: 0; }
  table.facts tr { padding: .3rem 0; border-bottom: 1px solid var(--rule); } }
@media print { @page { margin: 18mm 15mm; } body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3, caption { break-after: avoid; } figure, .verdict, tr { break-inside: avoid; } pre { white-space: pre-wrap; }
  .panels { grid-template-columns: repeat(3, 1fr); } .scroll { overflow: visible; } table { font-size: 8.5pt; } nav, .screen { display: none; } a { color: inherit; } }
"""


def document(title, contents, foot):
    """The whole page."""
    return (f'{START}\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{GENERATOR}\n'
            f'<title>{text(title)}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n</head>\n<body>\n'
            f'{contents}\n<footer>{foot}</footer>\n</body>\n</html>\n')


def text(value):
    """Of a file or a user, for HTML: escaped, and characters that do not print taken away."""
    return html.escape("".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in str(value)))


def image(svg, alt):
    """An SVG as an image of the page: its names cannot meet those of another one."""
    return f'<img alt="{text(alt)}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'


def figure(number, drawn, title, caption):
    """A picture, or several panels [(SVG, what it shows)] that stand beside each other as the page is wide."""
    images = "".join(image(svg, alt) for svg, alt in drawn)
    kind = "panels" if len(drawn) > 1 else "scroll"
    return (f'<figure><div class="{kind}">{images}</div>'
            f"<figcaption><b>Figure {number}. {text(title)}.</b> {text(caption)}</figcaption></figure>")


def prose(value):
    """Words with signs as they are printed: +-J is \u00b1J."""
    return text(re.sub(r"\+-(?=[A-Z0-9])", "\u00b1", str(value)))


def symbol(plain):
    """A symbol in HTML: <m^2> is shown with angle brackets and a raised 2, U_4 with a lowered 4."""
    found = text(plain.replace("<", "\u27e8").replace(">", "\u27e9"))
    found = re.sub(r"\^\{?([\w+-]+)\}?", r"<sup>\1</sup>", found)
    return re.sub(r"_\{?(\w+)\}?", r"<sub>\1</sub>", found)


def facts(rows):
    """Names and values, one pair a row."""
    body = "".join(f"<tr><th scope=\"row\">{text(name)}</th><td>{value}</td></tr>" for name, value in rows)
    return f'<table class="facts"><tbody>{body}</tbody></table>'


def table(caption, heads, rows):
    """Numbers in columns; heads and cells are HTML."""
    head = "".join(f'<th class="number" scope="col">{cell}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f'<td class="number">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return (f'<div class="scroll"><table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def folded(summary, contents):
    return f"<details><summary>{text(summary)}</summary>{contents}</details>"


def download(name, contents, words):
    """A link that saves `contents`, a text."""
    encoded = base64.b64encode(contents.encode()).decode()
    return f'<a class="screen" download="{text(name)}" href="data:text/csv;base64,{encoded}">{text(words)}</a>'
