// Pages with the findings of hosts.
// Tables of latencies stand inside of findings, whose rows are those of .g alone.
const FINDINGS = '.g>tbody';
const sections = all('section.h');

function addCopyButton(fix) {
  const button = document.createElement('button');
  button.textContent = 'Copy';
  button.type = 'button';
  button.setAttribute('aria-label', 'Copy the commands');
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

all('pre.x').forEach(addCopyButton);

// What the filters ask of a finding; it is read once.
const known = new WeakMap();
const TEXTS = ':scope>tr>th, :scope>tr>td:not(.d), :scope>tr>.d>:is(p,pre)';
function facts(finding) {
  if (!known.has(finding)) {
    const line = finding.localName === 'dd';
    const small = finding.querySelector(line ? ':scope>i' : ':scope>tr>th small');
    const [check, severity] = small.textContent.split(' · ');
    const [glyph, head] = line ? headOf(finding).childNodes : [];
    const status = line ? finding.parentNode.classList[1] : finding.className;
    let text = null;
    known.set(finding, {
      // A passed check is below the name of its control.
      check: status === 'P' && line ? head.data.trim().replace(/ \(.*/, '.') + check : check,
      status,
      severity,
      text: () => {
        const whole = line ? [glyph, head, finding] : all(TEXTS, finding);
        text = text || lower(whole.map((part) => part.textContent).join(' '));
        return text;
      },
    });
  }
  return known.get(finding);
}

// The heading above a line.
const headings = new WeakMap();
function headOf(line) {
  if (!headings.has(line)) {
    let head;
    for (const one of line.parentNode.children) {
      if (one.localName === 'dt') head = one;
      headings.set(one, head);
    }
  }
  return headings.get(line);
}

// Hides lines that do not match, and headings without lines; ``count`` is called for the others.
function filterLines(box, wanted, ofHosts, count) {
  for (const list of all('dl.q', box)) {
    const used = new Set();
    for (const line of all(':scope>dd', list)) {
      const fit = ofHosts(headOf(line)) && fits(facts(line), wanted);
      if (line.hidden === fit) line.hidden = !fit;
      if (!fit) continue;
      used.add(headOf(line));
      count(line);
    }
    for (const head of all(':scope>dt', list)) {
      if (head.hidden === used.has(head)) head.hidden = !head.hidden;
    }
    list.hidden = !used.size;
  }
}

function showFold(fold, wanted) {
  fold.hidden = !fold.querySelector(':scope>.g>tbody:not([hidden]), :scope>dl>dd:not([hidden])');
  if (!wanted.statuses.has('F') && !wanted.statuses.has('W') && !fold.hidden) fold.open = true;
}

function filterHost(section, wanted, found) {
  let count = 0;
  // A cause remains visible if a finding below it matches the filters.
  for (const finding of all(FINDINGS, section).reverse()) {
    const fit = fits(facts(finding), wanted);
    const below = finding.querySelector(':scope>tr>.d>.k>.g>tbody:not([hidden])');
    if (finding.hidden === (fit || Boolean(below))) finding.hidden = !finding.hidden;
    const fold = finding.querySelector(':scope>tr>.d>.k');
    if (fold) {
      if (fold.hidden !== !below) fold.hidden = !below;
      if (below && wanted.narrow && !fit) fold.open = true;
    }
    if (!fit) continue;
    count += 1;
    addFound(found, section.id, facts(finding).check, facts(finding).status);
  }
  filterLines(section, wanted, () => true, (line) => {
    count += 1;
    addFound(found, section.id, facts(line).check, facts(line).status);
  });
  for (const table of all(':scope>.g, :scope>.o>.g', section)) {
    table.hidden = !table.querySelector(':scope>tbody:not([hidden])');
  }
  all(':scope>details.o:not(.e)', section).forEach((fold) => showFold(fold, wanted));
  return count;
}

// The skipped checks of all hosts of a page: their number by host.
const skipped = document.getElementById('skipped');
function filterSkipped(wanted, named, found) {
  const counts = new Map();
  if (!skipped) return counts;
  const sectionsOf = (head) => head.dataset.h.split(' ').map((place) => sections[place])
    .filter((section) => named.has(section));
  filterLines(skipped, wanted, (head) => sectionsOf(head).length, (line) => {
    for (const section of sectionsOf(headOf(line))) {
      counts.set(section, (counts.get(section) || 0) + 1);
      addFound(found, section.id, facts(line).check, 'S');
    }
  });
  const fold = skipped.querySelector('details');
  showFold(fold, wanted);
  skipped.hidden = fold.hidden;
  return counts;
}

const rowOf = new Map(rows.map((row) => [row.dataset.h, row]));
startFilters((wanted, found) => {
  let findings = 0;
  const named = new Set(sections.filter((section) => {
    const row = rowOf.get(section.id);
    return !row || isNamed(row, wanted);
  }));
  const skips = filterSkipped(wanted, named, found);
  for (const section of sections) {
    const row = rowOf.get(section.id);
    const elsewhere = skips.get(section) || 0;
    const count = named.has(section) ? filterHost(section, wanted, found) + elsewhere : 0;
    const link = section.querySelector(':scope>p.o');
    if (link) link.hidden = !elsewhere;
    // A page of one host stays, so that its heading says whose it is.
    if (row && section.hidden !== !count) section.hidden = !count;
    if (row && row.hidden !== !count) row.hidden = !count;
    findings += count;
  }
  return findings;
}, () => sections.length);
if (location.hash) goTo(linked());
