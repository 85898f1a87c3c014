// An address that named a host or a finding leads to the page of the host, any other to the index.
let id = '';
try {
  id = decodeURIComponent(location.hash.slice(1));
} catch (problem) {
  // An address that means nothing leads to the index.
}
const link = document.getElementById(id.split('/')[0]);
const page = link && link.matches('.links a') ? link.getAttribute('href') + '#' + id : 'index.html';
location.replace(link ? page : page + location.search);
