// Common code of the index and of pages with findings, inserted before the script of the page.
const all = (selector, node) => Array.from((node || document).querySelectorAll(selector));
const lower = (text) => text.toLowerCase();

function linked() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch (problem) {
    return '';
  }
}

// Where a link leads, also into what is folded.
function goTo(id) {
  const target = document.getElementById(id);
  if (!target) return;
  for (let box = target.closest('details'); box; box = box.parentNode.closest('details')) {
    box.open = true;
  }
  target.scrollIntoView();
}
addEventListener('hashchange', () => goTo(linked()));

// Printed pages cannot be unfolded. They contain all details only if the user selects this.
let folded = [];
addEventListener('beforeprint', () => {
  if (!document.body.classList.contains('all')) return;
  folded = all('details:is(.o,.k,.rest):not([open])');
  folded.forEach((box) => { box.open = true; });
});
addEventListener('afterprint', () => {
  folded.forEach((box) => { box.open = false; });
  folded = [];
});

// The filters. The address of the page contains their values, so that a view can be shared.
const form = document.getElementById('filter');
const boxes = form ? all('input[name=status]', form) : [];
// Not every page has all of them.
const NAMES = ['severity', 'control', 'cluster', 'first', 'check', 'host', 'text']
  .filter((name) => form && form.elements[name]);
const OF_HOSTS = ['host', 'cluster', 'first'];

function wish() {
  const wanted = { host: '', statuses: new Set() };
  boxes.filter((box) => box.checked).forEach((box) => wanted.statuses.add(box.value));
  for (const name of NAMES) wanted[name] = form.elements[name].value.trim();
  for (const name of ['check', 'host', 'text']) wanted[name] = lower(wanted[name]);
  wanted.narrow = NAMES.some((name) => !OF_HOSTS.includes(name) && wanted[name])
    || wanted.statuses.size < boxes.length;
  return wanted;
}

function toAddress(wanted) {
  const query = new URLSearchParams();
  if (wanted.statuses.size < boxes.length) query.set('status', [...wanted.statuses].join(''));
  for (const name of NAMES) if (wanted[name]) query.set(name, wanted[name]);
  if (form.elements.all.checked) query.set('all', '1');
  const text = query.toString();
  try {
    history.replaceState(null, '', (text ? '?' + text : location.pathname) + location.hash);
  } catch (problem) {
    // Some browsers forbid this on pages from disk; the filters work anyway.
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

// Whether a finding matches the filters; its text is read only if there is a text filter.
function fits(fact, wanted) {
  return wanted.statuses.has(fact.status)
    && (!wanted.severity || fact.severity === wanted.severity)
    && (!wanted.control || fact.check.startsWith(wanted.control + '.'))
    && (!wanted.check || fact.check.includes(wanted.check))
    && (!wanted.text || fact.text().includes(wanted.text));
}

// The matrix. Long tables are laid out in steps, as the user scrolls or presses the button.
const rows = all('.m tbody tr');
const names = new Map(rows.map((row) => [row, lower(row.cells[0].textContent)]));
const heads = all('.m thead th');
const more = document.getElementById('more');
const step = more ? Number(more.dataset.rows) : Infinity;
let laidOut = step;
const columns = heads.map((head) => head.textContent);
let isNarrow = false;

const isNamed = (row, wanted) => names.get(row).includes(wanted.host)
  && (!wanted.cluster || row.dataset.c === wanted.cluster)
  && (!wanted.first || (row.dataset.a || '').split(' ').includes(wanted.first));

function layOut() {
  const shown = rows.filter((row) => !row.hidden);
  shown.forEach((row, place) => {
    if (row.classList.contains('later') !== place >= laidOut) row.classList.toggle('later');
  });
  const left = shown.length - laidOut;
  if (more) {
    more.hidden = left <= 0;
    more.textContent = 'Show ' + Math.min(left, step) + ' more of ' + left + ' hosts';
  }
  return shown.length;
}

if (more) {
  const showMore = () => { laidOut += step; layOut(); };
  const box = document.querySelector('.m');
  more.addEventListener('click', showMore);
  box.addEventListener('scroll', () => {
    if (!more.hidden && box.scrollTop + 2 * box.clientHeight > box.scrollHeight) showMore();
  });
}

// The findings that fit the filters, by the id of a host, by control, by status.
function addFound(found, host, check, status) {
  const controls = found.get(host) || new Map();
  found.set(host, controls);
  const control = check.split('.')[0];
  const counts = controls.get(control) || {};
  controls.set(control, counts);
  counts[status] = (counts[status] || 0) + 1;
}

const WORST_FIRST = 'FEWVSP';
const labels = new Map(boxes.map((box) => (
  [box.value, box.parentNode.textContent.trim().replace(/ \(.*/, '').split(' ')])));
const unfiltered = new WeakMap();

function fillCell(cell, counts) {
  const link = cell.querySelector('a');
  const place = link || cell;
  if (!unfiltered.has(cell)) {
    unfiltered.set(cell, { kind: cell.className, text: place.textContent });
  }
  let { kind, text } = unfiltered.get(cell);
  if (counts !== null) {
    kind = counts ? [...WORST_FIRST].find((status) => counts[status]) : '';
    text = '';
    if (kind) {
      const [glyph, ...status] = labels.get(kind);
      const many = counts[kind] > 1 && !'SP'.includes(kind) ? [counts[kind]] : [];
      text = [glyph, ...many, ...status].join(' ');
    }
  }
  if (cell.className !== kind) cell.className = kind;
  if (place.textContent !== text) place.textContent = text;
  // A link without a text has no name.
  if (link) link.hidden = !text;
}

// The cells show what fits the filters, and columns without any are hidden; null shows all.
function showCells(found) {
  if (found === null && !isNarrow) return;
  isNarrow = found !== null;
  const used = new Set();
  if (found) found.forEach((controls) => controls.forEach((_, control) => used.add(control)));
  heads.forEach((head, column) => {
    if (column < 2) return;
    const hidden = isNarrow && !used.has(columns[column]);
    head.hidden = hidden;
    for (const row of rows) {
      const cell = row.cells[column];
      cell.hidden = hidden;
      if (hidden || row.hidden) continue;
      const controls = isNarrow ? found.get(row.dataset.h) : null;
      fillCell(cell, isNarrow ? controls && controls.get(columns[column]) : null);
    }
  });
}

// ``filter`` hides findings and rows that do not match, adds the others to the map that it gets,
// and returns their number.
function startFilters(filter, hosts) {
  if (!form) return;
  const apply = () => {
    const wanted = wish();
    document.body.classList.toggle('all', form.elements.all.checked);
    const found = new Map();
    const findings = filter(wanted, found);
    const shown = rows.length ? layOut() : hosts();
    showCells(wanted.narrow ? found : null);
    // The table of causes counts all hosts.
    const causesTable = document.getElementById('causes');
    if (causesTable) causesTable.hidden = NAMES.some((name) => wanted[name]) || wanted.narrow;
    const where = rows.length ? ' on ' + shown + ' of ' + rows.length + ' hosts' : '';
    form.querySelector('output').textContent = findings + ' findings' + where + ' shown';
    toAddress(wanted);
  };
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
}
