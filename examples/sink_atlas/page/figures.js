// The charts, one function each.
chart('holders', (box, width) => {
  const rows = atlas.holders, line = 34, left = 104, height = rows.length * line + 30;
  legend(box, [['share of sinks', color('sink')], ['share of all tokens', color('grey')]]);
  const svg = canvasSvg(box, width, height, 'Kinds of tokens that hold sinks');
  const most = Math.max(...rows.flatMap((r) => [r.sinks, r.tokens]), 0.01);
  const x = linear(left, width - 56, 0, most);
  rows.forEach((r, i) => {
    const y = i * line + 4;
    node(svg, 'text', { x: left - 10, y: y + 18, 'text-anchor': 'end', class: 'strong' }, r.kind);
    const text = `${r.kind}: ${number(100 * r.sinks, 1)} % of sinks, ${number(100 * r.tokens, 1)} % of tokens`;
    hover(node(svg, 'rect', { x: left, y, width: Math.max(1, x(r.sinks) - left), height: 14, rx: 2, fill: color('sink') }), text);
    hover(node(svg, 'rect', { x: left, y: y + 15, width: Math.max(1, x(r.tokens) - left), height: 9, rx: 2, fill: color('grey') }), text);
    node(svg, 'text', { x: x(Math.max(r.sinks, r.tokens)) + 6, y: y + 16 }, r.tokens > 0 ? `\u00d7 ${number(r.sinks / r.tokens, 1)}` : '');
  });
  node(svg, 'text', { x: left, y: height - 8 }, '\u00d7: how often compared with chance');
});

chart('sweep', (box, width) => {
  const { thresholds, curves } = atlas.sweep, height = 290, left = 52, right = width - 12, top = 22, bottom = height - 42;
  const css = [color('blue'), color('green'), color('green'), color('grey')];
  const dash = ['', '', '6 4', '2 4'];
  legend(box, curves.map((c, i) => [c.name, css[i], i > 1 ? 'dashed' : 'solid']));
  const svg = canvasSvg(box, width, height, 'Share of keys that are sinks, by threshold');
  const floor = 0.01, y = logarithmic(bottom, top, floor, 100), x = linear(left, right, 0, thresholds[thresholds.length - 1]);
  axisY(svg, y, [0.01, 0.1, 1, 10, 100], left, right, '% of keys that are sinks');
  axisX(svg, x, ticks(0, thresholds[thresholds.length - 1], width < 420 ? 4 : 8), bottom, '\u03b5: how far above the mean of the others');
  if (atlas.epsilon !== null) {
    node(svg, 'line', { x1: x(atlas.epsilon), x2: x(atlas.epsilon), y1: top, y2: bottom, class: 'rule' });
    node(svg, 'text', { x: x(atlas.epsilon) + 5, y: top + 12 }, `\u03b5 = ${atlas.epsilon}`);
  }
  curves.forEach((c, i) => {
    path(svg, thresholds.map((e, j) => [x(e), y(Math.max(floor, 100 * c.share[j]))]), css[i], { 'stroke-dasharray': dash[i] });
    thresholds.forEach((e, j) => {
      if (j % 4) return;
      hover(node(svg, 'circle', { cx: x(e), cy: y(Math.max(floor, 100 * c.share[j])), r: 4, fill: css[i] }),
        `${c.name}\n\u03b5 = ${e}: ${number(100 * c.share[j], 2)} % of keys`);
    });
  });
});

chart('motion', (box, width) => {
  const m = atlas.motion, css = { dlm: color('sink'), arm: color('green'), raw: color('green') };
  if (!m) { missing(box, atlas.absent.arm); return; }
  legend(box, m.series.map((s) => [s.name, css[s.id], s.id === 'raw' ? 'dashed' : 'solid']));
  const height = 210, left = 52, right = width - 12, top = 22, bottom = height - 40;
  const svg = canvasSvg(box, width, height, 'Where the sinks are, step by step');
  const y = linear(bottom, top, 0, m.length), x = linear(left, right, 0, 1);
  axisY(svg, y, ticks(0, m.length, 4), left, right, 'position of the sinks\u2019 centre');
  node(svg, 'text', { x: left, y: bottom + 17 }, 'start');
  node(svg, 'text', { x: right, y: bottom + 17, 'text-anchor': 'end' }, 'end of writing');
  for (const s of m.series) {
    const n = Math.max(1, s.centroids.length - 1);
    path(svg, s.centroids.map((c, i) => [x(i / n), y(c)]), css[s.id], s.id === 'raw' ? { 'stroke-dasharray': '6 4' } : {});
  }
  // the two variances, side by side
  const bars = canvasSvg(box, width, 46 + 44 * m.series.length, 'Temporal and spatial variance');
  const half = width / 2, name = Math.min(118, half * 0.42);
  [['temporal', 'temporal variance: do they move?'], ['spatial', 'spatial variance: do the same keys win?']].forEach(([field, title], side) => {
    const from = side * half, values = m.series.map((s) => s[field]), most = Math.max(...values.filter((v) => v !== null), 1e-9);
    const scale = linear(from + name, from + half - 58, 0, most);
    node(bars, 'text', { x: from, y: 22, class: 'strong' }, width < 430 ? title.split(':')[0] : title);
    m.series.forEach((s, i) => {
      const top2 = 36 + i * 40;
      node(bars, 'text', { x: from, y: top2 + 14 }, s.short);
      const v = s[field] ?? 0;
      hover(node(bars, 'rect', { x: from + name, y: top2, width: Math.max(1, scale(v) - from - name), height: 18, rx: 2, fill: css[s.id], opacity: s.id === 'raw' ? 0.5 : 1 }),
        `${s.name}\n${field} variance ${number(s[field], 3)}`);
      node(bars, 'text', { x: Math.max(scale(v), from + name + 1) + 5, y: top2 + 14 }, number(s[field], v < 10 ? 2 : 0));
    });
  });
});

let drawNorms = chart('norms', (box, width) => {
  const rows = atlas.heads_summary.map((h, i) => ({ ...h, layer: Math.floor(i / heads), head: i % heads }));
  const height = 270, left = 46, right = width - 12, top = 22, bottom = height - 40;
  // the head that is enlarged above: one dot per step and key
  legend(box, [[`a token of layer ${view.layer + 1}, head ${view.head + 1}, at one step`, color('blue')], ['a sink', color('sink')]]);
  const canvas = document.createElement('canvas'), scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + 'px';
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'Value norm against received attention in the chosen head');
  box.append(canvas);
  const g = canvas.getContext('2d');
  g.scale(scale, scale);
  let most = 0;
  for (let s = 0; s < steps; ++s) for (let k = 0; k < keys; ++k) most = Math.max(most, norms[place(s, view.layer, view.head, k)]);
  const x = logarithmic(left, right, 0.05, Math.max(highest, 10)), y = linear(bottom, top, 0, most * 1.05);
  g.font = '12px system-ui, sans-serif';
  g.fillStyle = color('soft');
  g.strokeStyle = color('line');
  for (const v of ticks(0, most, 4)) {
    line(g, left, y(v), right, y(v));
    g.textAlign = 'right';
    g.fillText(String(v), left - 6, y(v) + 4);
  }
  g.textAlign = 'center';
  for (const v of [0.1, 1, 10, 100].filter((t) => t <= Math.max(highest, 10))) g.fillText(String(v), x(v), bottom + 17);
  g.fillText('attention received (logarithmic)', (left + right) / 2, bottom + 35);
  g.textAlign = 'left';
  g.fillText('value norm', 2, 12);
  const sinks = [];
  g.globalAlpha = 0.22;
  g.fillStyle = color('blue');
  for (let s = 0; s < steps; ++s)
    for (let k = 0; k < keys; ++k) {
      const at = place(s, view.layer, view.head, k), spot = [x(Math.max(0.05, received[at])), y(norms[at])];
      if (received[at] > atlas.threshold && trackAt(s, view.layer, view.head, k)) sinks.push(spot);
      else g.fillRect(spot[0] - 1.2, spot[1] - 1.2, 2.4, 2.4);
    }
  g.globalAlpha = 0.7;
  g.fillStyle = color('sink');
  for (const [a, b] of sinks) { g.beginPath(); g.arc(a, b, 2.6, 0, 7); g.fill(); }
  // all heads: the norm of sinks over the norm of the others
  const strip = canvasSvg(box, width, 92, 'Value norm of sinks over that of the other tokens, head by head');
  const known = rows.filter((r) => r.norm_ratio !== null), far = Math.max(1.6, ...known.map((r) => r.norm_ratio));
  const at = linear(left, right - 8, 0, far * 1.05);
  node(strip, 'text', { x: 2, y: 18, class: 'strong' }, 'each head: norm of its sinks over its other tokens');
  node(strip, 'line', { x1: at(1), x2: at(1), y1: 28, y2: 66, class: 'rule' });
  axisX(strip, at, ticks(0, far, 6), 66, null);
  for (const r of known) {
    const here = r.layer === view.layer && r.head === view.head;
    hover(node(strip, 'circle', { cx: at(r.norm_ratio), cy: 48, r: 4 + 9 * Math.sqrt(r.absorbed), fill: r.norm_ratio < 1 ? color('sink') : color('blue'),
      'fill-opacity': here ? 0.95 : 0.45, stroke: here ? color('ink') : 'none', 'stroke-width': 2, style: 'cursor:pointer' }),
      `Layer ${r.layer + 1}, head ${r.head + 1}: sinks have ${number(r.norm_ratio)} \u00d7 the norm of the others,\nand hold ${number(100 * r.absorbed, 0)} % of its attention`)
      .addEventListener('click', () => select(r.layer, r.head));
  }
});
onSelect.push(() => drawNorms());
