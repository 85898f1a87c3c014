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

  // A page of many hosts has them in files beside it. A page from disk may fetch none of them, but
  // run each as a script: it calls hostproof() with its name and its content.
  const asked = new Map();
  globalThis.hostproof = (name, text) => {
    if (asked.has(name)) asked.get(name)(String(text));
  };

  function load(name) {
    return new Promise((resolve, reject) => {
      const script = make('script');
      const end = () => {
        asked.delete(name);
        script.remove();
        reject(new Error(script.getAttribute('src') + ' beside this page cannot be read'));
      };
      asked.set(name, resolve);
      script.addEventListener('load', end);
      script.addEventListener('error', end);
      script.src = 'report.d/' + name + '.js';
      document.body.append(script);
    });
  }

  const MOST_CHUNKS = 64;
  async function inflate(chunk) {
    const text = evidence().beside ? await load(chunk) : chunk;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(inflated).json();
  }

  function unpack(number) {
    if (!chunks.has(number)) {
      if (chunks.size >= MOST_CHUNKS) chunks.delete(chunks.keys().next().value);
      const found = inflate(evidence().chunks[number]);
      chunks.set(number, found);
      // Who asks again may have more luck.
      found.catch(() => chunks.delete(number));
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
      const shown = make('pre', '', text);
      // It scrolls, so that a keyboard must be able to reach it.
      shown.tabIndex = 0;
      shown.ariaLabel = evidence().keys[key];
      box.append(head, shown);
    }
  }

  // A section is completed when it comes near: shared texts in line, evidence, copy buttons.
  function proseOf(finding) {
    let cell = finding.querySelector(':scope>tr>.d');
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
    const link = finding.querySelector(':scope>tr>th a');
    const check = link && document.querySelector(link.getAttribute('href'));
    const shared = check && check.querySelector('div.' + finding.className);
    if (!shared) return;
    if (!finding.querySelector(':scope>tr>th span')) {
      link.before(check.querySelector('h3 span').cloneNode(true), ' ');
    }
    const prose = proseOf(finding);
    for (const kind of ['y', 'u', 'x', 'r']) {
      const own = prose.querySelector(':scope>.' + kind);
      const part = own || (shared.querySelector('.' + kind) || make('i')).cloneNode(true);
      if (part.className) prose.append(part);
    }
    all(':scope>.l, :scope>.k', prose).forEach((box) => prose.append(box));
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
    addFigure(host, finding.querySelector(':scope>tr>.d>.l'));
    const keys = evidence().sets[finding.dataset.e];
    const box = make('details', 'e');
    const names = keys.map((key) => evidence().keys[key]).join(', ');
    box.append(make('summary', '', 'Evidence: ' + names));
    box.addEventListener('toggle', () => unfold(box, host, keys));
    const prose = proseOf(finding);
    prose.insertBefore(box, prose.querySelector(':scope>.k'));
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

  // Paper cannot unfold, and has all details only where they are wanted.
  let folded = [];
  addEventListener('beforeprint', () => {
    hosts.filter((section) => !section.hidden && !isPacked(section)).forEach(complete);
    if (!document.body.classList.contains('all')) return;
    folded = all('details:is(.o,.k):not([open])');
    folded.forEach((box) => { box.open = true; });
  });
  addEventListener('afterprint', () => {
    folded.forEach((box) => { box.open = false; });
    folded = [];
  });

  // Where a link leads, also into what is packed or folded.
  async function goTo(id) {
    const section = document.getElementById(id.split('/')[0]);
    if (!section || !section.matches('section.h')) return;
    section.dataset.done = 1;
    if (isPacked(section)) await addFindings(section);
    else finish(section);
    const target = document.getElementById(id) || section;
    for (let box = target.closest('details'); box; box = box.parentNode.closest('details')) {
      box.open = true;
    }
    target.scrollIntoView();
  }

  const linked = () => decodeURIComponent(location.hash.slice(1));
  addEventListener('hashchange', () => goTo(linked()));

  // The filters.
  const form = document.getElementById('filter');
  if (!form) return;
  const boxes = all('input[name=status]', form);
  // Without clusters there is no such filter.
  const NAMES = ['severity', 'control', 'cluster', 'check', 'host', 'text']
    .filter((name) => form.elements[name]);
  const OF_HOSTS = ['host', 'cluster'];
  const rows = all('.m tbody tr');
  const names = new Map(rows.map((row) => [row, row.cells[0].textContent.toLowerCase()]));
  const sections = new Map(hosts.map((section) => [section.id, section]));
  const lower = (text) => text.toLowerCase();

  // What the filters ask of a finding in plain sight; it is read once.
  const known = new WeakMap();
  function facts(finding) {
    let fact = known.get(finding);
    if (!fact) {
      const name = finding.querySelector(':scope>tr>th a, :scope>tr>th code');
      fact = { check: name.textContent, status: finding.className, text: null };
      const small = finding.querySelector(':scope>tr>th small');
      fact.severity = small ? small.lastChild.textContent.replace('·', '').trim()
        : severityOf(fact.check);
      known.set(finding, fact);
    }
    return fact;
  }

  const severities = new Map();
  function severityOf(check) {
    if (!severities.size) {
      for (const box of all('.c')) {
        severities.set(box.querySelector('h3 code').textContent,
          box.querySelector('h3 small').textContent);
      }
    }
    return severities.get(check);
  }

  const TEXTS = ':scope>tr>th, :scope>tr>td:not(.d), :scope>tr>.d>:is(p,pre)';
  function textOf(finding) {
    const fact = facts(finding);
    if (fact.text === null) {
      const own = all(TEXTS, finding).map((part) => part.textContent).join(' ');
      fact.text = lower(own + ' ' + sharedText(fact.check, fact.status));
    }
    return fact.text;
  }

  const shared = new Map();
  function sharedText(check, status) {
    if (!packed) return '';
    if (!shared.size) {
      for (const box of all('.c')) {
        const id = box.querySelector('h3 code').textContent;
        const title = box.querySelector('h3 span').textContent;
        for (const part of all(':scope>div', box)) {
          shared.set(id + part.className, title + ' ' + part.textContent);
        }
      }
    }
    return shared.get(check + status) || '';
  }

  // The findings of a packed section: by check and status at once, their texts when one asks.
  const packedTexts = new Map();
  async function readPacked(section) {
    const place = evidence().sections[section.id];
    const markup = (await unpack(place[0]))[place[1]][1];
    const plain = make('textarea');
    packedTexts.set(section, markup.split('<tbody ').slice(1).map((part) => {
      plain.innerHTML = part.slice(part.indexOf('>') + 1).replace(/<[^>]*>/g, ' ');
      const status = part[6];
      const check = /(?:<a href="#c\d+">|<code>)([a-z0-9_.]+)/.exec(part)[1];
      const text = plain.value + ' ' + sharedText(check, status);
      return { check, status, severity: severityOf(check), text: lower(text) };
    }));
  }

  function countPacked(section, wanted) {
    if (wanted.text) {
      return (packedTexts.get(section) || []).filter((one) => fits(one, one, wanted)).length;
    }
    let total = 0;
    const shelved = evidence();
    shelved.found[section.dataset.p].split(',').forEach((statuses, number) => {
      const [check, severity] = shelved.checks[number];
      for (const status of statuses) total += fits({ check, severity, status }, null, wanted);
    });
    return total;
  }

  function fits(fact, text, wanted) {
    return wanted.statuses.has(fact.status)
      && (!wanted.severity || fact.severity === wanted.severity)
      && (!wanted.control || fact.check.startsWith(wanted.control + '.'))
      && (!wanted.check || fact.check.includes(wanted.check))
      && (!wanted.text || (text.text === undefined ? textOf(text) : text.text).includes(wanted.text));
  }

  function filterHost(section, wanted) {
    if (isPacked(section)) return countPacked(section, wanted);
    let count = 0;
    const findings = all(FINDINGS, section);
    // What goes away with a cause stands below it: what fits there keeps the cause in sight.
    for (const finding of findings.reverse()) {
      const fit = fits(facts(finding), finding, wanted);
      const below = finding.querySelector(':scope>tr>.d>.k>.g>tbody:not([hidden])');
      if (finding.hidden === (fit || Boolean(below))) finding.hidden = !finding.hidden;
      const fold = finding.querySelector(':scope>tr>.d>.k');
      if (fold) {
        if (fold.hidden !== !below) fold.hidden = !below;
        if (below && wanted.narrow && !fit) fold.open = true;
      }
      if (fit) count += 1;
    }
    for (const table of all(':scope>.g, :scope>.o>.g', section)) {
      table.hidden = !table.querySelector(':scope>tbody:not([hidden])');
      const fold = table.closest('details.o');
      if (fold) {
        fold.hidden = table.hidden;
        if (!wanted.statuses.has('F') && !wanted.statuses.has('W') && !table.hidden) fold.open = true;
      }
    }
    return count;
  }

  function wish() {
    const wanted = { statuses: new Set(boxes.filter((box) => box.checked).map((box) => box.value)) };
    for (const name of NAMES) wanted[name] = form.elements[name].value.trim();
    for (const name of ['check', 'host', 'text']) wanted[name] = lower(wanted[name]);
    wanted.narrow = NAMES.some((name) => !OF_HOSTS.includes(name) && wanted[name])
      || wanted.statuses.size < boxes.length;
    return wanted;
  }

  // A view can be handed on: the address says what is filtered.
  function toAddress(wanted) {
    const query = new URLSearchParams();
    if (wanted.statuses.size < boxes.length) query.set('status', [...wanted.statuses].join(''));
    for (const name of NAMES) if (wanted[name]) query.set(name, wanted[name]);
    if (form.elements.all.checked) query.set('all', '1');
    const text = query.toString();
    try {
      history.replaceState(null, '', (text ? '?' + text : location.pathname) + location.hash);
    } catch (problem) {
      // A browser that forbids it to pages from disk filters all the same.
    }
  }

  function fromAddress() {
    const query = new URLSearchParams(location.search);
    if (query.has('status')) {
      boxes.forEach((box) => { box.checked = query.get('status').includes(box.value); });
    }
    for (const name of NAMES) form.elements[name].value = query.get(name) || '';
    form.elements.all.checked = query.get('all') === '1';
  }

  // Of a long matrix as many rows are laid out as one has asked for, by scrolling or by the button.
  const more = document.getElementById('more');
  const step = more ? Number(more.dataset.rows) : Infinity;
  let laidOut = step;

  function later(row, hidden) {
    if (row.classList.contains('later') !== hidden) row.classList.toggle('later', hidden);
  }

  function tellLater(shown) {
    if (!more) return;
    const left = shown - laidOut;
    more.hidden = left <= 0;
    more.textContent = 'Show ' + Math.min(left, step) + ' more of ' + left + ' hosts';
  }

  function showMore() {
    laidOut += step;
    const wanted = rows.filter((row) => !row.hidden);
    wanted.slice(0, laidOut).forEach((row) => later(row, false));
    tellLater(wanted.length);
  }

  if (more) {
    more.addEventListener('click', showMore);
    const box = document.querySelector('.m');
    box.addEventListener('scroll', () => {
      if (!more.hidden && box.scrollTop + 2 * box.clientHeight > box.scrollHeight) showMore();
    });
  }

  const FEW_HOSTS = 12;
  const output = form.querySelector('output');
  const heads = all('.m thead th');
  let turn = 0;
  let before = '';

  async function apply() {
    const wanted = wish();
    const mine = turn += 1;
    document.body.classList.toggle('all', form.elements.all.checked);
    if (wanted.text) {
      const unread = hosts.filter((section) => isPacked(section) && !packedTexts.has(section));
      if (unread.length) output.textContent = 'reading the findings of ' + unread.length + ' hosts';
      for (const section of unread) await readPacked(section).catch(() => {});
      if (mine !== turn) return;
    }
    filter = (section) => filterHost(section, wanted);
    let findings = 0;
    let shown = 0;
    for (const row of rows) {
      const section = sections.get(row.dataset.h);
      const named = names.get(row).includes(wanted.host)
        && (!wanted.cluster || row.dataset.c === wanted.cluster);
      const count = named && section ? filterHost(section, wanted) : 0;
      const hidden = section ? !count : !named;
      if (row.hidden !== hidden) row.hidden = hidden;
      later(row, shown >= laidOut);
      if (section && section.hidden !== hidden) section.hidden = hidden;
      findings += count;
      if (!hidden) shown += 1;
    }
    if (before !== wanted.control) {
      before = wanted.control;
      heads.forEach((head, column) => {
        const hidden = column > 1 && wanted.control !== '' && head.textContent !== wanted.control;
        head.hidden = hidden;
        for (const row of rows) row.cells[column].hidden = hidden;
      });
    }
    tellLater(shown);
    // Few are wanted, perhaps on paper: they need not be scrolled to.
    if (shown <= FEW_HOSTS && shown < rows.length) {
      hosts.filter((section) => !section.hidden).forEach(complete);
    }
    output.textContent =
      findings + ' findings on ' + shown + ' of ' + rows.length + ' hosts shown';
    toAddress(wanted);
  }

  let waiting;
  form.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(apply));
  form.hidden = false;
  fromAddress();
  apply();
  if (location.hash) goTo(linked());
})();
