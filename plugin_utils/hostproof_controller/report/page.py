# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixed pieces of report.html: style, script and legend.

They are Python strings because only Python files travel with a module. One-letter classes keep
large reports small: F fail, E error, W warn, V waived, S skip, P pass.
"""

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--ink:#1c2430;--dim:#586474;--line:#d9dee5;--soft:#f4f6f9;
--panel:#fbfcfd;--link:#0b57a4;--F:#b3261e;--Fb:#fdeceb;--E:#6d3bb0;--Eb:#f2ecfb;--W:#8a5300;
--Wb:#fdf3df;--V:#0b6377;--Vb:#e3f3f6;--S:#5b6675;--Sb:#f0f2f5;--P:#1b6e3c;--Pb:#e8f5ec;
--q1:#edf4fb;--q2:#d3e4f4;--q3:#a9cbe8;--q4:#72a9d8;--q5:#2f6fae;--q6:#123f75;--qi:#152230;
--qj:#fff;--A:#a34d00;--B:#0b5fa5}
@media (prefers-color-scheme:dark){:root{--bg:#14181e;--ink:#e3e8ee;--dim:#9aa6b4;--line:#323a45;
--soft:#1d232b;--panel:#181d24;--link:#82b7f5;--F:#ff8f86;--Fb:#3b1d1d;--E:#c4a3f7;--Eb:#2c2240;
--W:#f0b95c;--Wb:#35290f;--V:#74cbdd;--Vb:#12303a;--S:#9aa6b4;--Sb:#232a33;--P:#7ccf98;
--Pb:#173022;--q1:#1d2833;--q2:#1e3549;--q3:#214a6d;--q4:#286496;--q5:#6aaee4;--q6:#c3e2fb;
--qi:#f2f7fb;--qj:#0c1a28;--A:#f0a04b;--B:#6fb6f2}}
*{box-sizing:border-box}
html{scroll-padding-top:.75rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums}
header,main,footer{max-width:82rem;margin:0 auto;padding:0 1.75rem}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.skiplink{position:absolute;left:-99rem}.skiplink:focus{left:1rem;top:.5rem;background:var(--bg);
padding:.5rem}
code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
header{padding-top:2rem}
.brand{margin:0;color:var(--dim);font-size:12px;letter-spacing:.08em;text-transform:uppercase}
.brand b{color:var(--ink)}
h1{margin:.15rem 0 1.1rem;font-size:1.9rem;line-height:1.2;letter-spacing:-.015em;font-weight:650}
h2{margin:2.4rem 0 .7rem;font-size:1.2rem;letter-spacing:-.01em}
h2 small,h3 small{font-weight:400;font-size:13px;color:var(--dim);margin-left:.4rem;
letter-spacing:0}
p{margin:.4rem 0}
.meta{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.7rem 1.5rem;
margin:0;
padding:.9rem 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.meta div{min-width:0}
dt{color:var(--dim);font-size:12px}
dd{margin:0;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:.75rem;margin:1.25rem 0 .75rem;
padding:0;list-style:none}
.tiles li{border:1px solid var(--line);border-left:5px solid var(--c);border-radius:6px;
padding:.6rem .9rem;background:var(--panel)}
.tiles b{display:block;font-size:1.7rem;line-height:1.2;font-weight:650}
.tiles .z{opacity:.6}
.tiles span,.v{color:var(--c);font-weight:600}
.tot{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:0;padding:0;list-style:none;
color:var(--dim)}
.tot b{color:var(--ink)}
.F{--c:var(--F);--b:var(--Fb)}.E{--c:var(--E);--b:var(--Eb)}.W{--c:var(--W);--b:var(--Wb)}
.V{--c:var(--V);--b:var(--Vb)}.S{--c:var(--S);--b:var(--Sb)}.P{--c:var(--P);--b:var(--Pb)}
.note{border-left:4px solid var(--E);background:var(--Eb);padding:.6rem 1rem;margin:.8rem 0;
border-radius:0 6px 6px 0}
form{display:flex;flex-wrap:wrap;gap:.6rem 1.4rem;align-items:end;margin:0 0 .8rem;
padding:.75rem 1rem;
background:var(--soft);border-radius:6px}
fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem .9rem}
legend,.lab{padding:0;font-size:12px;color:var(--dim);display:block}
fieldset label{white-space:nowrap;color:var(--c);font-weight:600}
input[type=search],select,button{font:inherit;color:inherit;background:var(--bg);
border:1px solid var(--dim);
border-radius:5px;padding:.25rem .55rem;min-height:2.1rem}
input[type=checkbox]{accent-color:var(--c);width:1rem;height:1rem;vertical-align:-2px}
button{cursor:pointer}
output{color:var(--dim);flex-basis:100%}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:600}
thead th{font-size:12px;color:var(--dim)}
.m{width:fit-content;max-width:100%;max-height:75vh;overflow:auto;border:1px solid var(--line);
border-radius:6px}
.m table{width:auto;border-collapse:separate;border-spacing:0}
.m th,.m td{padding:.32rem 1rem .32rem .75rem;border-bottom:1px solid var(--line);
white-space:nowrap}
.m tbody tr:last-child>*{border-bottom:0}
.m thead th{position:sticky;top:0;background:var(--soft);z-index:2}
.m th:first-child{position:sticky;left:0;background:var(--bg);z-index:1;max-width:22rem;
overflow:hidden;
text-overflow:ellipsis}
.m thead th:first-child{z-index:3;background:var(--soft)}
.m tbody tr:hover>*{background:var(--soft)}
.m td[class]{color:var(--c)}.m td.F,.m td.E,.m td.W{background:var(--b);font-weight:600}
.m td a{color:inherit;text-decoration:none;display:block}.m td a:hover{text-decoration:underline}
.h{content-visibility:auto;contain-intrinsic-size:auto 22rem;margin:0 0 1.4rem;padding-top:.9rem;
border-top:2px solid var(--line)}
h3{margin:0 0 .5rem;font-size:1.05rem}
h3 .v{margin-right:.6rem}
.g{table-layout:fixed;border:1px solid var(--line);background:var(--panel)}
.g col:first-child{width:25%}.g col:last-child{width:7.5rem}
.g th,.g td{padding:.4rem .7rem;vertical-align:top;overflow-wrap:anywhere}
.g thead th{background:var(--soft);padding:.3rem .7rem;border-bottom:1px solid var(--line)}
.g tbody{border-top:1px solid var(--line)}
.g tbody th{border-left:4px solid var(--c);font-weight:600}
.g tbody th b{color:var(--c);white-space:nowrap;margin-right:.35rem}
.g tbody th small{display:block;font-weight:400;color:var(--dim)}
.g tbody th small{font-size:12px}.g tbody th code{font-size:12px}
.g .d{border-left:4px solid var(--c);padding-top:0}
.g .n,.dim{color:var(--dim)}
p.y,p.u,p.r,p.ev{margin:.1rem 0 .3rem;max-width:66rem}
p.u,p.r,p.ev,pre.x{position:relative;margin-left:74px}
p.u::before,p.r::before,p.ev::before,pre.x::before{position:absolute;left:-74px;color:var(--dim);
font:12px/1.75 system-ui,sans-serif}
p.u::before{content:"Waived"}p.r::before{content:"Reference"}p.ev::before{content:"Evidence"}
pre.x::before{content:"Fix"}p.r,p.ev{color:var(--dim)}
pre.x{margin-top:.2rem;margin-bottom:.35rem;max-width:60.8rem}
pre{margin:0;padding:.35rem .6rem;background:var(--soft);border:1px solid var(--line);
border-radius:5px;
white-space:pre-wrap;overflow-wrap:anywhere}
.x button{position:absolute;right:.2rem;top:.2rem;min-height:0;padding:.05rem .45rem;
font-size:12px;opacity:0}
.x:hover button,.x button:focus{opacity:1}
.e{margin:.15rem 0}
summary{cursor:pointer;color:var(--link);width:fit-content}
.e summary{font-size:12.5px}
.e h4{margin:.6rem 0 .2rem;font-size:12px;font-weight:600;overflow-wrap:anywhere}
.e h4 small{color:var(--dim);font-weight:400}
.e pre{max-height:26rem;overflow:auto}
.l{margin:.35rem 0}.l>summary{font-size:12.5px;font-weight:600}
.l figure{margin:.6rem 0 .2rem}
.l figcaption{font-size:12.5px;font-weight:600;overflow-wrap:anywhere}
.l figcaption small{font-weight:400;color:var(--dim)}
.sx{overflow-x:auto}.sx svg{display:block;flex:none}
svg text{font:11.5px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums;fill:var(--ink)}
svg .lb{fill:var(--dim)}svg .nb{font-weight:600}
svg path{fill:none}svg .gl{stroke:var(--line)}svg .ax{stroke:var(--dim)}
.q1{--q:var(--q1);--t:var(--qi)}.q2{--q:var(--q2);--t:var(--qi)}.q3{--q:var(--q3);--t:var(--qi)}
.q4{--q:var(--q4);--t:var(--qi)}.q5{--q:var(--q5);--t:var(--qj)}.q6{--q:var(--q6);--t:var(--qj)}
svg rect{fill:var(--q);stroke:var(--line);stroke-width:.5}svg g text{fill:var(--t)}
svg .rg{stroke:var(--B);stroke-width:3;stroke-opacity:.45}svg .r9{stroke:var(--B);stroke-width:2}
svg .pt{fill:var(--B)}
svg .cA,svg .cB{stroke-width:1.4;stroke-linejoin:round}
svg .cA{stroke:var(--A);stroke-dasharray:4 2}
svg .cB{stroke:var(--B);fill:var(--B);fill-opacity:.22}
svg .mA{stroke:var(--A);stroke-width:1.5}svg .mB{stroke:var(--B);stroke-width:1.5}
svg .ds{stroke-dasharray:5 3}svg .tA{fill:var(--A);font-weight:600}
svg .tB{fill:var(--B);font-weight:600}
svg .tA,svg .tB{paint-order:stroke;stroke:var(--panel);stroke-width:4px;stroke-linejoin:round}
svg .wA{fill:var(--panel);stroke:var(--A);stroke-width:1.5}svg .wB{fill:var(--B);
stroke:var(--panel);stroke-width:.6}
.g .lt{width:auto;margin:.5rem 0 .2rem;font-size:12.5px}
.g .lt th,.g .lt td{padding:.18rem .8rem .18rem 0;border:0;border-bottom:1px solid var(--line);
overflow-wrap:normal;white-space:nowrap;text-align:right;background:none}
.g .lt .ln{white-space:normal;overflow-wrap:anywhere;min-width:11rem;max-width:24rem}
.g .lt th{font-weight:400;text-align:left}.g .lt thead th{color:var(--dim);text-align:right}
.g .lt thead th:first-child{text-align:left}.g .lt tbody{border:0}
.g .lt .lc td{font-weight:600}.lk,.lp{margin:.15rem 0 .3rem;font-size:12px;color:var(--dim)}
.lp{color:var(--E)}
.o{margin-top:.4rem}.o>summary{padding:.2rem 0}.o>table{margin-top:.35rem}
.w{width:auto;min-width:60%}.w th,.w td{padding:.4rem .7rem;border:1px solid var(--line);
vertical-align:top;overflow-wrap:break-word}
.w th:last-child,.w td:last-child,.w td:nth-child(2){white-space:nowrap}
.c{border:1px solid var(--line);border-radius:6px;padding:.6rem .9rem;margin:0 0 .6rem;
background:var(--panel);
content-visibility:auto;contain-intrinsic-size:auto 9rem}
.c h3{font-size:14px;margin:0 0 .2rem}.c div{border-left:3px solid var(--c);padding-left:.7rem;
margin:.3rem 0}
.legend{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));gap:0 2.5rem;
font-size:13px}
.legend dl{display:grid;grid-template-columns:8.5rem 1fr;gap:.15rem .8rem;margin:.3rem 0}
.legend dt{color:var(--c,var(--ink));font-weight:600}
footer{padding-top:.5rem;padding-bottom:3rem;color:var(--dim)}
footer h2{color:var(--ink);border-top:1px solid var(--line);padding-top:1.6rem}
.sign{display:none}
[hidden]{display:none!important}
@media screen and (max-width:52rem){header,main,footer{padding-left:1rem;padding-right:1rem}
.tiles{grid-template-columns:repeat(2,1fr)}h1{font-size:1.55rem}.g col:first-child{width:27%}
.g col:last-child{width:5.4rem}.g th,.g td{padding:.35rem .5rem}}
@media screen and (max-width:40rem){.w{display:block;overflow-x:auto}
.g,.g>tbody,.g>tbody>tr,.g>tbody>tr>*{display:block}
.g>thead{display:none}
.g>tbody>tr>*{border-left:4px solid var(--c)}.g>tbody>tr>td{padding:.15rem .7rem}
.g>tbody>tr:first-child>td::before{display:inline-block;min-width:5.2rem;color:var(--dim);
font-size:12px}
.g>tbody>tr>td:nth-of-type(1)::before{content:"desired"}
.g>tbody>tr>td:nth-of-type(2)::before{content:"persisted"}
.g>tbody>tr>td:nth-of-type(3)::before{content:"running"}
.g>tbody>tr>td:nth-of-type(4)::before{content:"in use"}
.g>tbody>tr>td:nth-of-type(5)::before{content:"takes effect"}
.g>tbody>tr>td.d::before{content:none}
.legend{grid-template-columns:1fr}.legend dl{grid-template-columns:7rem 1fr}}
@media print{:root{color-scheme:light;--bg:#fff;--ink:#000;--dim:#444;--line:#b8bfc8;
--soft:#f2f4f6;
--panel:#fff;--link:#000;--F:#a01810;--Fb:#fdeceb;--E:#5a2a9a;--Eb:#f2ecfb;--W:#744600;
--Wb:#fdf3df;
--V:#0b5364;--Vb:#e3f3f6;--S:#444;--Sb:#f0f2f5;--P:#155a30;--Pb:#e8f5ec;
--q1:#edf4fb;--q2:#d3e4f4;--q3:#a9cbe8;--q4:#72a9d8;--q5:#2f6fae;--q6:#123f75;--qi:#000;--qj:#fff;
--A:#a34d00;--B:#0b5fa5}
html{font-size:11.5px}body{font-size:8.6pt;-webkit-print-color-adjust:exact;
print-color-adjust:exact}
header,main,footer{max-width:none;padding-left:0;padding-right:0}header{padding-top:0}
form,.skiplink,.x button,.nop{display:none!important}
a{text-decoration:none}.m{max-height:none;overflow:visible}.m th{position:static!important}
.h,.c{content-visibility:visible}.h[data-p]:not([data-full]){display:none}
.e,.P .d:not(.t),.S .d:not(.t),.P .t>:not(.l),.S .t>:not(.l),
.l>summary{display:none}.l::details-content{content-visibility:visible;display:block}
.sx{overflow:visible}.sx svg{max-width:100%;height:auto}.l figure,.lt tr{break-inside:avoid}
.o>summary{color:var(--ink)}
.o::details-content{content-visibility:visible;display:block}
h2,h3{break-after:avoid}.g tbody,.m tr,.w tr,.c,.tiles li,.sign{break-inside:avoid}
.sign{display:grid;grid-template-columns:repeat(3,1fr);gap:2rem;margin:1.6rem 0 0}
.sign p{border-top:1px solid #000;padding-top:.25rem;margin-top:2.6rem;font-size:8.5pt}
code,pre{font-size:8pt}dt,legend,.g thead th,.m thead th,.brand{font-size:8pt}h1{font-size:17pt}}
"""

#: {running} is the line that stands at the foot of every printed page.
PAGE_STYLE = """
@page{{size:landscape;margin:13mm 13mm 15mm;@bottom-left{{content:"{running}";font:8pt sans-serif;
color:#444}}
@bottom-right{{content:"page " counter(page) " of " counter(pages);font:8pt sans-serif;
color:#444}}}}
"""

SCRIPT = r"""
'use strict';
(() => {
  // Tables of latencies stand inside of findings, whose rows are those of .g alone.
  const FINDINGS = '.g>tbody';
  const all = (selector, node) => Array.from((node || document).querySelectorAll(selector));
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const hosts = all('section.h');

  // Evidence: packed once for all hosts, unpacked when somebody unfolds it.
  const packed = document.getElementById('ev');
  const chunks = new Map();
  let shelf = null;

  function evidence() {
    shelf = shelf || JSON.parse(packed.textContent);
    return shelf;
  }

  function unpack(number) {
    if (!chunks.has(number)) {
      const bytes = Uint8Array.from(atob(evidence().chunks[number]), (c) => c.charCodeAt(0));
      const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
      chunks.set(number, new Response(inflated).json());
    }
    return chunks.get(number);
  }

  async function unfold(box, host, keys) {
    if (box.dataset.done) return;
    box.dataset.done = 1;
    const places = evidence().hosts[host] || {};
    for (const key of keys) {
      let note = '';
      let text = 'not in this page: see findings.jsonl';
      try {
        if (places[key]) [note, text] = (await unpack(places[key][0]))[places[key][1]];
      } catch (problem) {
        text = 'could not be unpacked (' + problem + '): see findings.jsonl';
      }
      const head = make('h4', '', evidence().keys[key] + ' ');
      head.append(make('small', '', note));
      box.append(head, make('pre', '', text));
    }
  }

  // A section is completed when it comes near: shared texts in line, evidence, copy buttons.
  function proseOf(finding) {
    let cell = finding.querySelector('.d');
    if (!cell) {
      const row = make('tr');
      cell = make('td', 'd');
      cell.colSpan = 6;
      row.append(cell);
      finding.append(row);
    }
    return cell;
  }

  function addSharedTexts(finding) {
    const link = finding.querySelector('th a');
    const check = link && document.querySelector(link.getAttribute('href'));
    const shared = check && check.querySelector('div.' + finding.className);
    if (!shared) return;
    if (!finding.querySelector('th span')) {
      link.before(check.querySelector('h3 span').cloneNode(true), ' ');
    }
    const prose = proseOf(finding);
    for (const kind of ['y', 'u', 'x', 'r']) {
      const own = prose.querySelector('.' + kind);
      const part = own || (shared.querySelector('.' + kind) || make('i')).cloneNode(true);
      if (part.className) prose.append(part);
    }
    all('.l', prose).forEach((figure) => prose.append(figure));
  }

  function addFigure(host, figure) {
    if (!figure) return;
    figure.addEventListener('toggle', async () => {
      if (figure.dataset.done) return;
      figure.dataset.done = 1;
      const place = (evidence().hosts[host] || {})[figure.dataset.l];
      let parts = [make('p', 'lk', 'The drawing is not in this page: see findings.jsonl')];
      try {
        if (place) {
          const text = (await unpack(place[0]))[place[1]][1];
          const drawn = new DOMParser().parseFromString(text, 'text/html');
          figure.lastElementChild.replaceChildren();
          parts = Array.from(drawn.body.childNodes);
        }
      } catch (problem) {
        parts[0].append(' (' + problem + ')');
      }
      figure.lastElementChild.append(...parts);
    });
  }

  function addEvidence(host, finding) {
    if (!packed || finding.dataset.e === undefined) return;
    addFigure(host, finding.querySelector('.l'));
    const keys = evidence().sets[finding.dataset.e];
    const box = make('details', 'e');
    const names = keys.map((key) => evidence().keys[key]).join(', ');
    box.append(make('summary', '', 'Evidence: ' + names));
    box.addEventListener('toggle', () => unfold(box, host, keys));
    proseOf(finding).append(box);
  }

  function addCopyButton(fix) {
    const button = make('button', '', 'Copy');
    button.type = 'button';
    button.setAttribute('aria-label', 'Copy the fix');
    button.addEventListener('click', () => {
      const range = document.createRange();
      range.selectNodeContents(fix.firstChild);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand('copy');
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    fix.append(button);
  }

  // Findings of a host that is not among the worst: packed until one comes to them.
  let filter = () => {};

  async function addFindings(section) {
    let parts;
    try {
      const place = evidence().sections[section.id];
      const text = (await unpack(place[0]))[place[1]][1];
      parts = Array.from(new DOMParser().parseFromString(text, 'text/html').body.childNodes);
    } catch (problem) {
      parts = [make('p', 'dim', 'could not be unpacked (' + problem + '): see report.json')];
    }
    section.append(...parts);
    section.dataset.full = 1;
    finish(section);
    filter(section);
  }

  const isPacked = (section) => section.dataset.p !== undefined && !section.dataset.full;

  function complete(section) {
    if (section.dataset.done) return;
    section.dataset.done = 1;
    if (isPacked(section)) addFindings(section);
    else finish(section);
  }

  function finish(section) {
    for (const finding of all(FINDINGS, section)) {
      addSharedTexts(finding);
      addEvidence(section.id, finding);
    }
    all('pre.x', section).forEach(addCopyButton);
  }

  const watcher = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) complete(entry.target);
  }, { rootMargin: '800px' });
  all('section.h, section.a').forEach((section) => watcher.observe(section));

  // Paper cannot unfold.
  let folded = [];
  addEventListener('beforeprint', () => {
    hosts.filter((section) => !isPacked(section)).forEach(complete);
    folded = all('details.o:not([open])');
    folded.forEach((box) => { box.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach((box) => { box.open = false; }));

  // The filters.
  const form = document.getElementById('filter');
  if (!form) return;
  const boxes = all('input[type=checkbox]', form);
  const rows = all('.m tbody tr');
  const sections = new Map(hosts.map((section) => [section.id, section]));

  function controlOf(finding) {
    return finding.querySelector('th a, th code').textContent.split('.')[0];
  }

  function countPacked(section, statuses, control) {
    let total = 0;
    for (const [name, counts] of Object.entries(evidence().found[section.dataset.p])) {
      if (control && name !== control) continue;
      for (const [status, count] of Object.entries(counts)) {
        if (statuses.has(status)) total += count;
      }
    }
    return total;
  }

  function filterHost(section, statuses, control) {
    if (isPacked(section)) return countPacked(section, statuses, control);
    let count = 0;
    for (const finding of all(FINDINGS, section)) {
      const fits = statuses.has(finding.className) && (!control || controlOf(finding) === control);
      finding.hidden = !fits;
      if (fits) count += 1;
    }
    for (const table of all('.g', section)) {
      table.hidden = !table.querySelector(':scope>tbody:not([hidden])');
      const fold = table.closest('details.o');
      if (fold) {
        fold.hidden = table.hidden;
        if (!statuses.has('F') && !statuses.has('W') && !table.hidden) fold.open = true;
      }
    }
    return count;
  }

  function apply() {
    const statuses = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const control = form.elements.control.value;
    const name = form.elements.host.value.trim().toLowerCase();
    filter = (section) => filterHost(section, statuses, control);
    let findings = 0;
    let shown = 0;
    for (const row of rows) {
      const section = sections.get(row.dataset.h);
      const named = row.cells[0].textContent.toLowerCase().includes(name);
      const count = named && section ? filterHost(section, statuses, control) : 0;
      row.hidden = section ? !count : !named;
      if (section) section.hidden = row.hidden;
      findings += count;
      if (!row.hidden) shown += 1;
    }
    all('.m thead th').forEach((head, column) => {
      const hidden = column > 1 && control !== '' && head.textContent !== control;
      head.hidden = hidden;
      for (const row of rows) row.cells[column].hidden = hidden;
    });
    form.querySelector('output').textContent =
      findings + ' findings on ' + shown + ' of ' + rows.length + ' hosts shown';
  }

  let waiting;
  form.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(apply));
  form.hidden = false;
  apply();
})();
"""

LEGEND = """
<div class=legend>
<section><h3>Status of a finding</h3><dl>
<dt class=F>✗ fail<dd>a layer contradicts the policy
<dt class=E>? error<dd>could not be determined; no answer is never a pass
<dt class=W>! warn<dd>works today, will bite
<dt class=V>~ waived<dd>would be warn or fail; somebody answers for it until a date
<dt class=S>– skip<dd>does not apply here, for the reason given
<dt class=P>✓ pass<dd>every layer that exists agrees with the policy
</dl></section>
<section><h3>The four layers of a setting</h3><dl>
<dt>desired<dd>what the policy wants
<dt>persisted<dd>what the next boot or start will use
<dt>running<dd>what the kernel or daemon uses now
<dt>in use<dd>what the database or the peer really got
<dt>—<dd>this setting has no such layer
</dl></section>
<section><h3>Verdict on a host</h3><dl>
<dt class=F>✗ not ready<dd>at least one finding failed
<dt class=E>? could not determine<dd>nothing failed, but something gave no answer
<dt class=W>! ready with warnings<dd>nothing failed, something warns
<dt class=P>✓ ready<dd>none of these
</dl></section>
<section><h3>When a change takes effect</h3><dl>
<dt>now<dd>as soon as it is made
<dt>remount<dd>when the file system is mounted again
<dt>listener restart<dd>when the listener is stopped and started
<dt>instance restart<dd>when the database instance is restarted
<dt>reboot<dd>at the next boot
</dl></section>
</div>
"""
