"""Open pages of fits in headless Chromium and check what a reader sees of them.

    check.py PROGRAM FOLDER

Makes three data sets and their pages in FOLDER, opens each at 400, 900 and 1,600 pixels in light and dark, and writes screenshots beside them. A page
must not load anything, run anything, overflow, cut off or overlap texts, or have texts of too little contrast or pictures without marks. The progress of
a fit on a terminal is written to progress.ansi.
"""

import contextlib
import io
import math
import os
import pty
import random
import re
import subprocess
import sys
import termios
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTHS = (400, 900, 1600)
SCHEMES = ("light", "dark")
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=cmd()", "-->", "]]>", "\u202eabc", "</svg>", "n" * 300)

# What is wrong with the page: a list of sentences.
FAULTS = """() => {
  const faults = [], root = document.documentElement;
  const say = (what, node) => faults.push(what + ': ' + (node.textContent || node.tagName).trim().slice(0, 60));
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} pixels wide`);
  for (const node of document.querySelectorAll('script, img, iframe, object, embed, link, base, form')) say('not allowed', node);
  for (const node of document.querySelectorAll('*'))
    for (const {name} of node.attributes)
      if (name.startsWith('on') || ['href', 'src', 'action'].includes(name)) say('the attribute ' + name, node);

  // Colours as [r, g, b, a] over what is behind them.
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = node => {
    if (!node) return parse(getComputedStyle(document.body).backgroundColor);
    const own = parse(getComputedStyle(node).backgroundColor);
    return own[3] >= 1 ? own : over(own, behind(node.parentElement));
  };
  const light = colour => {
    const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || node.closest('title')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [...range.getClientRects()].filter(box => box.width > 0);
    if (!boxes.length) continue; // within closed details
    texts += 1;
    const style = getComputedStyle(node), below = behind(node.closest('svg')?.parentElement ?? node);
    const ink = over(parse(node.closest('svg') ? style.fill : style.color), below);
    if (contrast(ink, below) < 4.5) say(`contrast ${contrast(ink, below).toFixed(2)}`, node);
    if (!node.closest('.scroll, pre') && boxes.some(box => box.left < 0 || box.right > root.clientWidth)) say('beyond the page', node);
    if (!node.closest('svg') && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline' && !node.closest('pre'))
      say('wider than its box', node);
  }
  if (texts < 50) faults.push(`${texts} texts only`);
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
    const labels = [...svg.querySelectorAll('text')].map(node => [node, node.getBoundingClientRect()]);
    if (!svg.getAttribute('aria-label') || svg.getAttribute('role') !== 'img') say('a picture without a label', svg);
    labels.forEach(([node, box], at) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) say('cut off', node);
      if (parseFloat(getComputedStyle(node).fontSize) * scale < 9) say('too small', node);
      for (const [other, its] of labels.slice(at + 1)) {
        const wide = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const high = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (wide > 1 && high > 2) faults.push(`overlapping: ${node.textContent} and ${other.textContent}`);
      }
    });
  }
  // Headings in order, and tables with heads.
  let level = 0;
  for (const node of document.querySelectorAll('h1, h2, h3')) {
    const own = Number(node.tagName[1]);
    if (own > level + 1) say('a heading skips a level', node);
    level = own;
  }
  for (const table of document.querySelectorAll('table')) if (!table.querySelector('th[scope]') || !table.caption) say('a table without heads', table);
  if (!root.lang) faults.push('no language');
  return faults;
}"""


def write(path, header, rows):
    quoted = lambda cell: '"' + str(cell).replace('"', '""') + '"'
    path.write_text("".join(",".join(map(quoted, row)) + "\n" for row in [header, *rows]), encoding="utf-8")


def make(folder):
    """Write the data sets; return the name of each with its file and its options."""
    draw = random.Random(7)
    normal = lambda: draw.gauss(0, 1)

    def smooth(row):
        return 300_000 + 40_000 * math.sin(2 * row[0] + row[1]) + 20_000 * row[2] * row[0] + 3_000 * normal()

    rows = [[normal() for _ in range(6)] for _ in range(900)]
    names = ["income", "rooms", "distance_to_the_nearest_station_in_km", "age", "storeys", "x5", "price"]
    write(folder / "houses.csv", names, [row + [smooth(row)] for row in rows])
    # Enough for more than a second.
    many = [[normal() for _ in range(6)] for _ in range(10_000)]
    write(folder / "many.csv", names, [row + [smooth(row)] for row in many])

    labels = [f"species {letter}" for letter in "abcdefghijkl"]
    classes = []
    for _ in range(1_200):
        label = draw.randrange(12)
        place = [math.cos(label * math.pi / 6), math.sin(label * math.pi / 6)]
        habitat = ["wood", "meadow", "shore"][label % 3] if draw.random() < 0.8 else "wood"
        classes.append([2 * place[0] + 0.6 * normal(), 2 * place[1] + 0.6 * normal(), habitat, draw.choice(["north", "south"]), labels[label]])
    write(folder / "species.csv", ["length", "width", "habitat", "region", "species"], classes)

    # The target depends on the first three, so that pictures name them; of the longest name up to 50,000, whose label is wide.
    hostile = [[normal() for _ in HOSTILE] for _ in range(400)]
    named = [[*row[:2], 10_000 * (2.5 + max(-2.5, min(2.5, row[2]))), *row[3:], smooth(row)] for row in hostile]
    write(folder / HOSTILE[6].replace("/", "_"), [*HOSTILE[-3:], *HOSTILE[:-3], "<b>target</b>"], named)
    words = [[*row[:2], HOSTILE[int(row[0] > 0) * 2 + int(row[1] > 0)]] for row in hostile]
    write(folder / "words.csv", ["a", '"><b onclick=alert(1)>', "</style><b>"], words)
    return {
        "regression": ("houses.csv", ["--landmarks", "60", "--metric", "map"]),
        "classes": ("species.csv", ["--landmarks", "60", "--metric", "one"]),
        "hostile": (HOSTILE[6].replace("/", "_"), ["--landmarks", "30", "--metric", "scales"]),
        "hostile-classes": ("words.csv", ["--landmarks", "20", "--metric", "one"]),
    }


def marks(png):
    """The share of pixels in a colour of the charts: far from grey."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    pixels = image.getcolors(1 << 24)
    coloured = sum(count for count, colour in pixels if max(colour) - min(colour) > 60)
    return coloured / (image.width * image.height)


def check(browser, page_path, name, width, scheme, folder):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    faults = []
    own = page_path.as_uri()
    page.on("request", lambda request: request.url == own or faults.append(f"a request: {request.url}"))
    page.on("console", lambda message: faults.append(f"the console: {message.text}"))
    page.on("pageerror", lambda error: faults.append(f"an error: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(own)
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    faults += page.evaluate(FAULTS)
    picture = folder / f"{name}-{width}-{scheme}.png"
    page.screenshot(path=picture, full_page=True)
    corner = Image.open(picture).convert("L").getpixel((2, 2))
    if (corner > 128) != (scheme == "light"):
        faults.append(f"the background is {corner} of 255")
    figures = page.locator("svg").all()
    if len(figures) < 2:
        faults.append(f"{len(figures)} pictures only")
    for place, figure in enumerate(figures):
        share = marks(figure.screenshot())
        if share < 0.001:
            faults.append(f"picture {place} is blank: {share}")
    context.close()
    return faults, len(figures)


def on_a_terminal(command, folder):
    """Run a command on a terminal of 80 columns; return what it wrote there, and keep that for `cat`."""
    pid, terminal = pty.fork()
    if pid == 0:
        # Before the program asks for it.
        termios.tcsetwinsize(0, (24, 80))
        os.chdir(folder)
        os.execvpe(command[0], command, os.environ | {"TERM": "xterm"})
    parts = []
    with contextlib.suppress(OSError):  # its end, on Linux
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    if status := os.waitpid(pid, 0)[1]:
        raise SystemExit(f"{command}: status {status}")
    (folder / "progress.ansi").write_bytes(b"".join(parts))
    return b"".join(parts).decode()


def progress(shown):
    """Return the phases that a terminal showed, and what is wrong: a line too long or one that stays, a phase that begins at 100 %."""
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", shown)]
    drawn = [(line, match) for line in lines if (match := re.match(r"(.*?) [█▉▊▋▌▍▎▏░]+ +(\d+) %", line))]
    faults = [f"{len(line)} columns: {line}" for line, _ in drawn if len(line) > 80]
    for (_, before), (line, match), (later, after) in zip(drawn, drawn[1:], drawn[2:]):
        # Several phases are called rows and folds, and may follow each other.
        begins = before[1] != match[1] == after[1] and match[1] not in ("rows", "folds")
        if begins and int(match[2]) == 100 > int(after[2]):
            faults.append(f"{line} -> {later}")
    if not shown.split("Errors are in")[-1].rstrip("\r\n").endswith("\x1b[2K"):
        faults.append("the line is not cleared at the end")
    return list(dict.fromkeys(match[1] for _, match in drawn)), faults


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    sets = make(folder)
    shown = on_a_terminal([program, "fit", "many.csv", "--landmarks", "200", "--model", "progress.dpp"], folder)
    phases, faults = progress(shown)
    if not phases:
        faults.append("no share of a phase was shown")
    print(f"a terminal: {', '.join(phases)}; {len(faults)} faults", *faults, sep="\n  ")
    failed += len(faults)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, (data, options) in sets.items():
            page = folder / f"{name}.html"
            command = [program, "fit", data, *options, "--model", f"{name}.dpp", "--report", page.name]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            for width in WIDTHS:
                for scheme in SCHEMES:
                    faults, figures = check(browser, page, name, width, scheme, folder)
                    print(f"{name} at {width} pixels, {scheme}: {figures} pictures, {len(faults)} faults")
                    for fault in faults:
                        print(f"  {fault}")
                    failed += len(faults)
        browser.close()
    print(f"screenshots: {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
