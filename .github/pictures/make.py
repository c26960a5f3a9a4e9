#!/usr/bin/env python3
"""Makes the pictures of the README and the guides: python3 .github/pictures/make.py

Writes overview.svg and reading.svg into the documentation catalog of OneWaySync. They need nothing but Python 3. The pictures
have a background of their own and follow the reader's colour scheme, so that they are legible on any page.

The picture of the status page, status.png, is the upper part of fresh.png, which the tests of the example server make in a
headless Chromium:

    SCREENSHOTS=pictures swift test --package-path Demo/Server
"""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "Sources/OneWaySync/OneWaySync.docc/Resources"

STYLE = """
    text { font: 14px -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
    .small { font-size: 12px; fill: #59636e }
    .title { font-weight: 600 }
    .paper { fill: #ffffff; stroke: #d1d9e0 }
    .box { fill: #f6f8fa; stroke: #818b98 }
    .own { fill: #ddf4ff; stroke: #0969da }
    .line { stroke: #59636e; stroke-width: 1.5; fill: none }
    .dashed { stroke-dasharray: 4 4 }
    .head { fill: #59636e }
    .ours { fill: #0969da }
    .theirs { fill: #afb8c1 }
    .value { font-size: 12px; font-weight: 600; fill: #ffffff }
    .mark { stroke: #818b98; stroke-dasharray: 3 3 }
    @media (prefers-color-scheme: dark) {
        text { fill: #f0f6fc }
        .small { fill: #9198a1 }
        .paper { fill: #0d1117; stroke: #3d444d }
        .box { fill: #151b23; stroke: #656c76 }
        .own { fill: #0c2d4d; stroke: #4493f8 }
        .line { stroke: #9198a1 }
        .head { fill: #9198a1 }
        .ours { fill: #4493f8 }
        .theirs { fill: #59636e }
        .value { fill: #0d1117 }
        .mark { stroke: #656c76 }
    }"""


def picture(name, width, height, label, parts):
    """Writes a picture with a background."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{label}">',
        f"  <style>{STYLE}\n  </style>",
        '  <defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="head" d="M0 0 L8 4 L0 8 Z"/></marker></defs>',
        f'  <rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>',
    ]
    lines += ["  " + part for part in parts]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text("\n".join(lines) + "\n</svg>\n")


def text(x, y, content, kind="", anchor="start"):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{content}</text>'


def box(x, y, width, height, title, lines=(), kind="box"):
    """A box with a title and smaller lines, centred."""
    middle = x + width / 2
    top = y + height / 2 + 5 - 9 * len(lines)
    parts = [f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>']
    parts.append(text(middle, top, title, "title", "middle"))
    parts += [text(middle, top + 18 * (index + 1), line, "small", "middle") for index, line in enumerate(lines)]
    return parts


def arrow(points, kind=""):
    path = "M" + " L".join(f"{x} {y}" for x, y in points)
    return f'<path class="line {kind}" d="{path}" marker-end="url(#head)"/>'


def overview():
    parts = []
    # Document by document.
    parts.append(text(24, 32, "Document by document: one transaction", "title"))
    row, height = 48, 84
    parts += box(24, row, 140, height, "Source", ["API, pages, feeds", "JSON file, bytes"])
    parts += box(204, row, 124, height, "Reader", ["one element", "at a time"], "own")
    parts += box(368, row, 124, height, "Mapper", ["bytes to records,", "drift is counted"], "own")
    parts += box(532, row, 124, height, "Diff", ["insert, update,", "link, delete"], "own")
    parts += box(696, row, 180, height, "Store", ["SQLite, PostgreSQL,", "memory, your own"])
    for start in (164, 328, 492, 656):
        parts.append(arrow([(start, row + height / 2), (start + 38, row + height / 2)]))
    parts.append(text(786, 156, "queries, live queries, export", "small", "middle"))

    # Item by item.
    parts.append(text(24, 206, "Item by item: a bounded number at a time", "title"))
    row = 222
    parts += box(24, row, 140, height, "Source list", ["items with keys"])
    parts += box(204, row, 124, height, "Compare", ["keys, revisions,", "removal limit"], "own")
    parts += box(368, row, 124, height, "Remove", ["items that the", "list lacks"], "own")
    parts += box(532, row, 124, height, "Download", ["retries, timeouts,", "concurrency"], "own")
    parts += box(696, row, 180, height, "Your SyncProcessor", ["files, blobs, caches;", "StoreProcessor: any store"])
    for start in (164, 328, 492, 656):
        parts.append(arrow([(start, row + height / 2), (start + 38, row + height / 2)]))

    # What runs both.
    parts.append(text(24, 356, "In a server", "title"))
    parts += box(204, 372, 288, 56, "SyncService", ["schedule, triggers, health, events"], "own")
    parts += box(532, 372, 344, 56, "Lease", ["one process syncs, on any host; others stand by"], "own")
    parts.append(arrow([(348, 372), (348, 310)], "dashed"))
    parts.append(arrow([(532, 400), (496, 400)]))
    parts.append(text(360, 348, "runs either", "small"))
    picture("overview.svg", 900, 448, "How a source, the reader, the mapper, the diff and a store hang together", parts)


# ReadComparison: the time of typed reads as a fraction of GRDB's, in one run. Speed.md names the machine.
READING = [
    ("all users with their company", 0.31),
    ("all users as structs", 0.42),
    ("all users with their notes", 0.46),
    ("50 users in order, with their company", 0.67),
    ("a condition on the company, in order, 50 users", 0.97),
]


def reading():
    left, scale, row = 390, 380, 34
    parts = [text(24, 32, "Reading structs from SQLite: time as a fraction of GRDB 7's", "title")]
    parts.append(text(24, 52, "100,000 users with companies and notes, one file, one run, 2 cores; shorter is faster", "small"))
    top = 72
    for index, (name, value) in enumerate(READING):
        y = top + index * row
        parts.append(text(left - 14, y + 17, name, "", "end"))
        parts.append(f'<rect class="theirs" x="{left}" y="{y + 19}" width="{scale}" height="6" rx="2"/>')
        parts.append(f'<rect class="ours" x="{left}" y="{y + 3}" width="{value * scale:.0f}" height="16" rx="2"/>')
        parts.append(text(left + value * scale - 8, y + 15, f"{value:.2f}", "value", "end"))
    bottom = top + len(READING) * row
    parts.append(f'<line class="mark" x1="{left + scale}" y1="{top - 6}" x2="{left + scale}" y2="{bottom + 4}"/>')
    parts.append(text(left + scale, bottom + 22, "GRDB 7 = 1", "small", "middle"))
    parts.append(f'<rect class="ours" x="24" y="{bottom + 12}" width="14" height="12" rx="2"/>')
    parts.append(text(44, bottom + 22, "OneWaySynchronizer", "small"))
    parts.append(f'<rect class="theirs" x="194" y="{bottom + 12}" width="14" height="12" rx="2"/>')
    parts.append(text(214, bottom + 22, "GRDB 7", "small"))
    picture("reading.svg", 820, bottom + 40, "The time of typed reads as a fraction of GRDB's: 0.31 to 0.97", parts)


overview()
reading()
