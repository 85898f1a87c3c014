"""Drawn latencies in a real browser: unfolding, filters, labels, contrast, narrow, paper."""

import re

import pytest
from browsing import BROWSER, ask
from hostproof_controller.report.store import merge
from latency_samples import active, example, latency_line, of_fixture, passive, reading
from whole_reports import render_html

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium: drawings are not looked at")

DARK = "--blink-settings=preferredColorScheme=0"

#: Unfolds all, and waits until it is laid out.
UNFOLD = """
  for (const section of all('section.h')) { section.scrollIntoView(); await rest(100); }
  all('details').forEach((box) => { box.open = true; });
  await rest(100);
"""


def lines():
    """Every kind of drawing, with names and numbers as long as they come."""
    long = "/dev/mapper/" + "very_long_name_of_a_volume_" * 4
    slow = {"log2": {str(octave): 10 ** (octave // 3) for octave in range(0, 33, 2)}, "open": 32}
    cells = [window._replace(bins=slow, size=1 << 30) for window in active(9, subject=long)[:1]]
    cells += [window._replace(bins=slow, size=4 << 40) for window in active(9, subject=long)[:1]]
    odd = latency_line(
        "db02",
        {
            "disk": {"windows:disk": reading(passive(3, subject=long) + passive(4e7))},
            "cells": {"windows:cells": reading(cells)},
            "database": {"windows:awr": of_fixture("awr-19c-made-up.txt")},
            "tcp": {"windows:tcp": reading(active(100, subject="b", size=None))},
            "change": {
                "windows:before:x": reading(active(0.3, subject=long)),
                "windows:after:x": reading(active(3e6, subject=long)),
            },
        },
        status="pass",
    )
    return [example("db01"), odd]


@pytest.fixture
def page():
    return render_html(merge(lines()), "2026-11-21T04:00:00Z")


def test_drawings_unfold_and_their_tables_are_no_findings(page, tmp_path):
    script = (
        UNFOLD
        + """
  const form = document.getElementById('filter');
  const said = {first: form.querySelector('output').textContent};
  said.drawn = all('details.l').map((box) => all('svg', box).length);
  said.tables = all('details.l').map((box) => all('table.lt', box).length);
  said.seen = all('svg').every((svg) => svg.getBoundingClientRect().height > 40);
  form.querySelectorAll('input[type=checkbox]').forEach((b) => { b.checked = b.value === 'F'; });
  form.dispatchEvent(new Event('input'));
  await rest(300);
  said.fail = form.querySelector('output').textContent;
  said.shown = all('details.l').filter((box) => box.checkVisibility()).length;
  said.rows = all('.lt tbody tr').filter((row) => row.checkVisibility()).length;
  return said;"""
    )
    result = ask(tmp_path, page, script)
    assert result["first"] == "8 findings on 2 of 2 hosts shown"
    assert [count for count in result["drawn"] if count] == [2, 1]
    assert result["tables"] == [1] * 8
    assert result["seen"] is True
    assert result["fail"] == "3 findings on 1 of 2 hosts shown"
    assert result["shown"] == 3
    assert result["rows"] == 6 + 4 + 2


def test_no_label_is_cut_off_or_lies_over_its_neighbour(page, tmp_path):
    script = (
        UNFOLD
        + """
  const wrong = [];
  let texts = 0;
  for (const svg of all('svg')) {
    const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
    const boxes = all('text', svg).map((text) => [text.textContent, text.getBBox()]);
    texts += boxes.length;
    for (const [word, box] of boxes) {
      if (box.x < -1 || box.y < -1 || box.x + box.width > width + 1
          || box.y + box.height > height + 2) wrong.push('cut: ' + word);
    }
    boxes.forEach(([word, box], number) => {
      for (const [other, beside] of boxes.slice(number + 1)) {
        const across = Math.min(box.x + box.width, beside.x + beside.width)
          - Math.max(box.x, beside.x);
        const down = Math.min(box.y + box.height, beside.y + beside.height)
          - Math.max(box.y, beside.y);
        if (across > 1 && down > 4) wrong.push(word + ' over ' + other);
      }
    });
  }
  return {texts, wrong};"""
    )
    result = ask(tmp_path, page, script)
    assert result["texts"] > 40
    assert result["wrong"] == []


CONTRAST = (
    UNFOLD
    + """
  const rgb = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (color) => rgb(color).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const panel = getComputedStyle(document.querySelector('.g')).backgroundColor;
  const said = {panel, cells: {}, texts: {}, lines: {}};
  const least = (into, name, value) => { into[name] = Math.min(into[name] || 99, value); };
  for (const cell of all('.lt td[class^=q]')) {
    const style = getComputedStyle(cell);
    least(said.cells, cell.className, contrast(style.color, style.backgroundColor));
  }
  for (const text of all('svg>text')) {
    least(said.texts, text.className.baseVal, contrast(getComputedStyle(text).fill, panel));
  }
  for (const path of all('svg path.mA, svg path.mB, svg path.cA, svg path.cB, svg path.ax')) {
    least(said.lines, path.className.baseVal, contrast(getComputedStyle(path).stroke, panel));
  }
  return said;"""
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_on_light_and_dark_screens(page, tmp_path, scheme):
    result = ask(tmp_path, page, CONTRAST, *([DARK] if scheme == "dark" else []))
    red = int(re.search(r"\d+", result["panel"]).group())
    assert (red < 60) if scheme == "dark" else (red > 240)
    assert set(result["cells"]) == {"q1", "q2", "q3", "q4", "q5", "q6"}
    assert min(result["cells"].values()) >= 4.5, result["cells"]
    assert {"lb", "tA", "tB"} <= set(result["texts"])
    assert min(result["texts"].values()) >= 4.5, result["texts"]
    assert min(result["lines"].values()) >= 3, result["lines"]


def test_names_of_any_length_keep_to_their_cells(page, tmp_path):
    script = (
        UNFOLD
        + """
  return all('.lt th, .lt td').filter((cell) => cell.scrollWidth > cell.clientWidth + 1)
    .map((cell) => cell.textContent);"""
    )
    assert ask(tmp_path, page, script) == []


def test_a_narrow_screen_scrolls_the_drawing_and_not_the_page(page, tmp_path):
    script = (
        UNFOLD
        + """
  const page = document.documentElement;
  const frames = all('.sx');
  const scrolls = (frame) => { frame.scrollLeft = 100; return frame.scrollLeft === 100; };
  return {
    width: page.clientWidth,
    beyond: page.scrollWidth - page.clientWidth,
    scrolls: frames.filter(scrolls).length,
    fits: frames.every((frame) => frame.getBoundingClientRect().right <= page.clientWidth + 1),
    prose: all('.g .d').map((cell) => getComputedStyle(cell, '::before').content),
  };"""
    )
    result = ask(tmp_path, page, script, "--window-size=520,900")
    assert result["width"] <= 600
    assert result["beyond"] == 0
    assert result["fits"] is True
    assert result["scrolls"] > 5
    assert set(result["prose"]) == {"none"}


def test_paper_shows_drawings_and_tables_of_what_is_folded(page, tmp_path):
    # A headless browser answers for the screen only, so that the rules for paper are made its own.
    on_paper = page.replace("@media print{", "@media all{")
    on_paper = re.sub(r"style-src '[^']*'", "style-src 'unsafe-inline'", on_paper)
    script = """
  const shown = (node) => node.checkVisibility({contentVisibilityAuto: false})
    && node.getBoundingClientRect().height > 10;
  const brief = all('.l').some(shown);
  const form = document.getElementById('filter');
  form.elements.all.checked = true;
  form.dispatchEvent(new Event('input'));
  await rest(300);
  dispatchEvent(new Event('beforeprint'));
  return {
    brief,
    folded: all('details.l:not([open])').length,
    drawings: all('.l svg').map(shown),
    tables: all('.l table').map(shown),
    evidence: all('.e pre').some(shown),
    beyond: all('svg').filter((svg) => svg.getBoundingClientRect().width
      > svg.closest('td').getBoundingClientRect().width).length,
  };"""
    result = ask(tmp_path, on_paper, script, "--window-size=1000,700")
    assert result["brief"] is False  # unless all details are required
    assert result["folded"] == 5
    assert result["drawings"] == [True] * 3
    assert result["tables"] == [True] * 8
    assert result["evidence"] is False
    assert result["beyond"] == 0
