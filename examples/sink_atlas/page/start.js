// Puts the page together.
function element(parent, tag, text, attributes = {}) {
  const e = document.createElement(tag);
  e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  parent.append(e);
  return e;
}
const lead = $('lead');
for (const [i, part] of atlas.lead.entries()) if (i % 2) element(lead, 'b', part); else lead.append(part);
for (const [value, what] of atlas.numbers) {
  const box = element($('figures-of-the-run'), 'div', '');
  element(box, 'b', value);
  element(box, 'span', what);
}
for (const [id, figure] of Object.entries(atlas.figures)) {
  const card = $(id);
  card.querySelector('.say').textContent = figure.say;
  const footer = card.querySelector('footer');
  footer.append('data:');
  for (const name of figure.data) element(footer, 'a', name, { href: name, download: '' });
  const details = element(footer, 'details', '');
  element(details, 'summary', 'the command that made it');
  element(details, 'code', atlas.command);
}
$('overview-say').textContent = atlas.overview_say;
document.title = `Sink atlas: ${atlas.prompt}`;

buildOverview();
redraws.push(drawLegend, drawOverview, drawStage);
applyTheme();
$('theme').addEventListener('click', () => { chosen = !isDark(); applyTheme(); });
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') forgetTip();
  if (event.key === ' ' && event.target === map) { event.preventDefault(); $('play').click(); }
});
let drawnWidth = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === drawnWidth) return;
  drawnWidth = innerWidth;
  for (const draw of redraws) draw();
});
addEventListener('scroll', () => { if (read) showTipAt(read.node, read.text); }, { passive: true });
