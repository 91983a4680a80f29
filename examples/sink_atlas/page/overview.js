// Small multiples: every layer and head; a click or Enter enlarges it.
const cells = [];
function buildOverview() {
  const box = $('overview');
  box.style.gridTemplateColumns = `auto repeat(${heads}, minmax(0, 1fr))`;
  const label = (text) => { const d = document.createElement('div'); d.className = 'label'; d.textContent = text; box.append(d); };
  label('');
  for (let h = 0; h < heads; ++h) label(`head ${h + 1}`);
  for (let l = 0; l < layers; ++l) {
    label(`layer ${l + 1}`);
    for (let h = 0; h < heads; ++h) {
      const button = document.createElement('button'), canvas = document.createElement('canvas');
      const facts = atlas.heads_summary[l * heads + h];
      const text = `Layer ${l + 1}, head ${h + 1}: ${facts.births} sinks, ${facts.moves} moves, ` +
        `${number(100 * facts.absorbed, 0)} % of attention on sinks`;
      button.type = 'button';
      button.setAttribute('aria-label', text);
      button.addEventListener('mousemove', (event) => showTip(event, text));
      button.addEventListener('mouseleave', hideTip);
      button.addEventListener('click', () => select(l, h));
      button.addEventListener('keydown', (event) => {
        const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
        const next = cells[l * heads + h + (move || 0)];
        if (move && next) { event.preventDefault(); next.button.focus(); }
      });
      canvas.width = keys;
      canvas.height = steps;
      button.append(canvas);
      box.append(button);
      cells.push({ button, canvas, layer: l, head: h });
    }
  }
}
function drawOverview() {
  for (const { button, canvas, layer, head } of cells) {
    canvas.getContext('2d').drawImage(picture(layer, head), 0, 0);
    const here = layer === view.layer && head === view.head;
    button.setAttribute('aria-pressed', String(here));
    button.tabIndex = here ? 0 : -1; // one stop for Tab, arrow keys inside
  }
}
function select(layer, head) {
  view.layer = layer;
  view.head = head;
  drawOverview();
  drawStage();
  for (const draw of onSelect) draw();
}
const onSelect = [];
