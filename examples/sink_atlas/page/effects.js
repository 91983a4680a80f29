// What interventions do: masking, and a sink token.
/** Panels of one model each: by number of hidden keys, a mark with its interval for each condition. */
function drawMasking(box, width, m, height, marks) {
  const css = [color('sink'), color('grey'), color('blue')];
  legend(box, m.conditions.map((c, i) => [c, css[i]]));
  const top = 44, bottom = height - 44, left = 52;
  const svg = canvasSvg(box, width, height, `${m.axis}, by number of hidden keys`);
  const every = m.panels.flatMap((p) => [...p.series.flatMap((s) => [...s.low, ...s.high]), ...(marks ? p.before.high : [])]).filter((v) => v !== null);
  const low = Math.min(0, ...every), high = Math.max(...every, 1e-6), pad = (high - low) * 0.06;
  const y = linear(bottom, top, low - (marks ? 0 : pad), high + pad), part = (width - left) / m.panels.length;
  axisY(svg, y, ticks(low, high, 5), left, width, m.axis);
  node(svg, 'line', { x1: left, x2: width, y1: y(0), y2: y(0), class: 'rule' });
  let lacking = false;
  const mark = (x, s, i, fill, text, row) => {
    if (s.mean[i] === null || s.mean[i] === undefined) { // a control that could not be: there were not that many other keys
      lacking = true;
      hover(node(svg, 'text', { x, y: y(Math.max(0, low)) - 5, 'text-anchor': 'middle', class: 'absent', style: `fill:${fill}` }, '\u00d7'),
        `${text.split('\n')[0]}\ndid not exist: there were not that many other keys`, { row });
      return;
    }
    const bar = node(svg, 'line', { x1: x, x2: x, y1: y(s.low[i]), y2: y(s.high[i]), stroke: fill, 'stroke-width': 2.5 });
    const dot = node(svg, 'circle', { cx: x, cy: y(s.mean[i]), r: 5, fill });
    const area = node(svg, 'rect', { x: x - 7, y: y(s.high[i]), width: 14, height: Math.max(1, y(s.low[i]) - y(s.high[i])), fill: 'transparent' });
    hover(dot, text, { row, also: [bar, area] });
  };
  const told = (s, i) => `${number(s.mean[i], 3)} [${number(s.low[i], 3)}, ${number(s.high[i], 3)}]`;
  m.panels.forEach((p, n) => {
    const from = left + n * part + 14, to = left + (n + 1) * part - 18;
    const columns = [...(marks ? [0] : []), ...m.counts], middle = (c) => from + ((c + 0.5) / columns.length) * (to - from);
    node(svg, 'text', { x: (from + to) / 2, y: top - 12, 'text-anchor': 'middle', class: 'strong' }, part < 200 ? p.name.split(' (')[0] : p.name);
    if (n) node(svg, 'line', { x1: from - 15, x2: from - 15, y1: top - 20, y2: bottom, class: 'axis' });
    columns.forEach((k, c) => node(svg, 'text', { x: middle(c), y: bottom + 17, 'text-anchor': 'middle' }, part < 230 && c ? k : `K = ${k}`));
    p.series.forEach((s, j) => {
      const aside = (j - (p.series.length - 1) / 2) * Math.min(16, part / (4.5 * columns.length));
      const points = marks ? [[middle(0), y(p.before.mean[0])]] : [];
      m.counts.forEach((k, i) => { if (Number.isFinite(s.mean[i])) points.push([middle(i + (marks ? 1 : 0)) + aside, y(s.mean[i])]); });
      if (marks) path(svg, points, css[j], { 'stroke-width': 1.4, 'stroke-opacity': 0.55 });
      m.counts.forEach((k, i) => mark(middle(i + (marks ? 1 : 0)) + aside, s, i, css[j],
        `${p.name}, ${m.conditions[j]}, K = ${k}\n${told(s, i)}\n${number(s.killed[i], 2)} keys hidden per head`, j + 1));
    });
    if (marks) mark(middle(0), p.before, 0, color('ink'), `${p.name}, nothing hidden\n${told(p.before, 0)}`, 0);
  });
  node(svg, 'text', { x: left, y: height - 6 }, m.note);
  if (lacking) {
    const p = document.createElement('p');
    p.className = 'hint';
    p.textContent = '\u00d7: a control that did not exist, because there were not that many other keys.';
    box.append(p);
  }
}
for (const [id, height, marks] of [['answers', 320, true], ['masking', 320, false]])
  chart(id, (box, width) => {
    if (atlas[id]) drawMasking(box, width, atlas[id], height, marks);
    else missing(box, atlas.absent[id]);
  });

chart('token', (box, width) => {
  const t = atlas.token;
  if (!t) { missing(box, atlas.absent.token); return; }
  legend(box, [['sinks without it', color('grey')], ['with it: the sink token', color('sink')], ['with it: other sinks', color('blue')]]);
  const columns = heads, left = 50, cell = (width - left) / columns, row = 62, height = layers * row + 24;
  const svg = canvasSvg(box, width, height, 'Share of attention on sinks, head by head, before and after');
  const bar = (cell - 12) , most = Math.max(0.05, ...t.map((h) => Math.max(h.before, h.token + h.rest)));
  for (let h = 0; h < heads; ++h) node(svg, 'text', { x: left + (h + 0.5) * cell - 6, y: 14, 'text-anchor': 'middle' }, `head ${h + 1}`);
  t.forEach((c, i) => {
    const l = Math.floor(i / heads), h = i % heads, x = left + h * cell, y = 24 + l * row;
    if (h === 0) node(svg, 'text', { x: 0, y: y + 28 }, `layer ${l + 1}`);
    const text = `Layer ${l + 1}, head ${h + 1}: of its attention\nwithout a sink token ${number(100 * c.before, 1)} % goes to sinks,\n` +
      `with it ${number(100 * c.token, 1)} % to the token and ${number(100 * c.rest, 1)} % to other sinks`;
    node(svg, 'rect', { x, y, width: bar, height: 46, fill: color('faint'), rx: 3 });
    const scale = (v) => (v / most) * bar;
    node(svg, 'rect', { x, y: y + 5, width: scale(c.before), height: 14, fill: color('grey'), rx: 2 });
    node(svg, 'rect', { x, y: y + 25, width: scale(c.token), height: 14, fill: color('sink'), rx: 2 });
    node(svg, 'rect', { x: x + scale(c.token), y: y + 25, width: scale(c.rest), height: 14, fill: color('blue'), rx: 2 });
    hover(node(svg, 'rect', { x, y, width: bar, height: 46, fill: 'transparent', rx: 3 }), text, { row: l });
  });
});
