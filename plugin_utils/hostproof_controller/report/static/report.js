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
    const small = finding.querySelector(':scope>tr>th small');
    let text = null;
    known.set(finding, {
      check: small.querySelector('code').textContent,
      status: finding.className,
      severity: small.lastChild.textContent.replace('·', '').trim(),
      text: () => {
        text = text || lower(all(TEXTS, finding).map((part) => part.textContent).join(' '));
        return text;
      },
    });
  }
  return known.get(finding);
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

const rowOf = new Map(rows.map((row) => [row.dataset.h, row]));
startFilters((wanted, found) => {
  let findings = 0;
  for (const section of sections) {
    const row = rowOf.get(section.id);
    const count = !row || isNamed(row, wanted) ? filterHost(section, wanted, found) : 0;
    // A page of one host stays, so that its heading says whose it is.
    if (row && section.hidden !== !count) section.hidden = !count;
    if (row && row.hidden !== !count) row.hidden = !count;
    findings += count;
  }
  return findings;
}, () => sections.length);
if (location.hash) goTo(linked());
