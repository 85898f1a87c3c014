// The index of many hosts: what needs attention, by cause.
const causes = all('.causes>details').map((box) => ({
  box,
  advice: lower(box.querySelector('p').textContent),
  rows: all('tbody', box).map((body) => ({ body, row: body.rows[0] })),
}));

// The findings of a row by the host that each link leads to; they are read when a filter asks.
function linksOf(one) {
  one.links = one.links || all('a', one.row).map((link) => (
    { link, host: link.hash.slice(1).split('/')[0] }));
  return one.links;
}

function factOf(one, cause) {
  one.fact = one.fact || {
    check: one.row.dataset.k,
    severity: one.row.dataset.v,
    status: one.body.className,
    text: () => lower(one.row.cells[0].textContent) + ' ' + cause.advice,
  };
  return one.fact;
}

function filterRow(one, cause, wanted, named, found) {
  const fit = fits(factOf(one, cause), wanted);
  let count = 0;
  for (const { link, host } of linksOf(one)) {
    const wantedHere = fit && (!named || named.has(host));
    if (link.hidden === wantedHere) link.hidden = !wantedHere;
    if (!wantedHere) continue;
    count += 1;
    addFound(found, host, factOf(one, cause).check, one.body.className);
  }
  if (one.body.hidden !== !count) one.body.hidden = !count;
  const told = String(count || one.links.length);
  if (one.row.cells[1].textContent !== told) one.row.cells[1].textContent = told;
  return count;
}

const total = causes.reduce((sum, cause) => sum
  + cause.rows.reduce((part, one) => part + Number(one.row.cells[1].textContent), 0), 0);
let isFiltered = false;
startFilters((wanted, found) => {
  const isOfHosts = OF_HOSTS.some((name) => wanted[name]);
  if (!wanted.narrow && !isOfHosts && !isFiltered) return total;
  isFiltered = true;
  const fitting = rows.filter((row) => isNamed(row, wanted));
  const named = isOfHosts ? new Set(fitting.map((row) => row.dataset.h)) : null;
  let findings = 0;
  for (const cause of causes) {
    const count = cause.rows
      .reduce((sum, one) => sum + filterRow(one, cause, wanted, named, found), 0);
    if (cause.box.hidden !== !count) cause.box.hidden = !count;
    findings += count;
  }
  for (const row of rows) {
    const hidden = wanted.narrow ? !found.has(row.dataset.h) : !isNamed(row, wanted);
    if (row.hidden !== hidden) row.hidden = hidden;
  }
  return findings;
});
if (location.hash) goTo(linked());
