// What interventions do: masking, and a sink token.
chart('masking', (box, width) => {
  const m = atlas.masking;
  if (!m) { missing(box, atlas.absent.masking); return; }
  const css = [color('sink'), color('grey'), color('blue')];
  legend(box, m.conditions.map((c, i) => [c, css[i]]));
  const height = 320, top = 44, bottom = height - 44, left = 52;
  const svg = canvasSvg(box, width, height, 'What masking does, by number of keys');
  const every = m.panels.flatMap((p) => p.series.flatMap((s) => [...s.low, ...s.high])).filter((v) => v !== null);
  const low = Math.min(0, ...every), high = Math.max(...every, 1e-6), pad = (high - low) * 0.06;
  const y = linear(bottom, top, low - pad, high + pad), half = (width - left) / m.panels.length;
  axisY(svg, y, ticks(low, high, 5), left, width, m.axis);
  node(svg, 'line', { x1: left, x2: width, y1: y(0), y2: y(0), class: 'rule' });
  m.panels.forEach((p, n) => {
    const from = left + n * half + 14, to = left + (n + 1) * half - 18;
    node(svg, 'text', { x: (from + to) / 2, y: top - 12, 'text-anchor': 'middle', class: 'strong' }, p.name);
    if (n) node(svg, 'line', { x1: from - 15, x2: from - 15, y1: top - 20, y2: bottom, class: 'axis' });
    m.counts.forEach((k, i) => {
      const middle = from + ((i + 0.5) / m.counts.length) * (to - from);
      node(svg, 'text', { x: middle, y: bottom + 17, 'text-anchor': 'middle' }, `K = ${k}`);
      p.series.forEach((s, j) => {
        if (s.mean[i] === null) return;
        const x = middle + (j - (p.series.length - 1) / 2) * Math.min(16, half / 14);
        const text = `${p.name}, ${m.conditions[j]}, K = ${k}\n${number(s.mean[i], 3)} [${number(s.low[i], 3)}, ${number(s.high[i], 3)}]` +
          `\n${number(s.killed[i], 2)} keys hidden per head`;
        node(svg, 'line', { x1: x, x2: x, y1: y(s.low[i]), y2: y(s.high[i]), stroke: css[j], 'stroke-width': 2.5 });
        hover(node(svg, 'circle', { cx: x, cy: y(s.mean[i]), r: 5, fill: css[j] }), text);
        node(svg, 'rect', { x: x - 7, y: y(s.high[i]), width: 14, height: Math.max(1, y(s.low[i]) - y(s.high[i])), fill: 'transparent' })
          .addEventListener('mousemove', (event) => showTip(event, text));
      });
    });
  });
  node(svg, 'text', { x: left, y: height - 6 }, m.note);
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
    hover(node(svg, 'rect', { x, y: y + 5, width: scale(c.before), height: 14, fill: color('grey'), rx: 2 }), text);
    hover(node(svg, 'rect', { x, y: y + 25, width: scale(c.token), height: 14, fill: color('sink'), rx: 2 }), text);
    hover(node(svg, 'rect', { x: x + scale(c.token), y: y + 25, width: scale(c.rest), height: 14, fill: color('blue'), rx: 2 }), text);
    hover(node(svg, 'rect', { x, y, width: bar, height: 46, fill: 'transparent' }), text);
  });
});
