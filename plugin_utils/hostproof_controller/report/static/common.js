// What the index and the pages with findings share. It stands before the script of the page.
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

// Paper cannot unfold, and has all details only where they are wanted.
let folded = [];
addEventListener('beforeprint', () => {
  if (!document.body.classList.contains('all')) return;
  folded = all('details:is(.o,.k):not([open])');
  folded.forEach((box) => { box.open = true; });
});
addEventListener('afterprint', () => {
  folded.forEach((box) => { box.open = false; });
  folded = [];
});

// The filters. What they ask stands in the address, so that a view can be handed on.
const form = document.getElementById('filter');
const boxes = form ? all('input[name=status]', form) : [];
// Not every page has all of them.
const NAMES = ['severity', 'control', 'cluster', 'check', 'host', 'text']
  .filter((name) => form && form.elements[name]);
const OF_HOSTS = ['host', 'cluster'];

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

// Whether a finding is wanted; its text is read only where one asks for a text.
function fits(fact, wanted) {
  return wanted.statuses.has(fact.status)
    && (!wanted.severity || fact.severity === wanted.severity)
    && (!wanted.control || fact.check.startsWith(wanted.control + '.'))
    && (!wanted.check || fact.check.includes(wanted.check))
    && (!wanted.text || fact.text().includes(wanted.text));
}

// The matrix. Of many rows as many are laid out as one has asked for, by scrolling or by the button.
const rows = all('.m tbody tr');
const names = new Map(rows.map((row) => [row, lower(row.cells[0].textContent)]));
const heads = all('.m thead th');
const more = document.getElementById('more');
const step = more ? Number(more.dataset.rows) : Infinity;
let laidOut = step;
let shownControl = '';

const isNamed = (row, wanted) => names.get(row).includes(wanted.host)
  && (!wanted.cluster || row.dataset.c === wanted.cluster);

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

function showColumns(control) {
  if (shownControl === control) return;
  shownControl = control;
  heads.forEach((head, column) => {
    const hidden = column > 1 && control !== '' && head.textContent !== control;
    head.hidden = hidden;
    for (const row of rows) row.cells[column].hidden = hidden;
  });
}

// ``filter`` hides what is not wanted, of the rows too, and returns how many findings are left.
function startFilters(filter, hosts) {
  if (!form) return;
  const apply = () => {
    const wanted = wish();
    document.body.classList.toggle('all', form.elements.all.checked);
    const findings = filter(wanted);
    const shown = rows.length ? layOut() : hosts();
    showColumns(wanted.control);
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
