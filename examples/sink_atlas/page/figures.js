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
    const grey = node(svg, 'rect', { x: left, y: y + 15, width: Math.max(1, x(r.tokens) - left), height: 9, rx: 2, fill: color('grey') });
    hover(node(svg, 'rect', { x: left, y, width: Math.max(1, x(r.sinks) - left), height: 14, rx: 2, fill: color('sink') }), text, { row: i, also: [grey] });
    node(svg, 'text', { x: x(Math.max(r.sinks, r.tokens)) + 6, y: y + 16 }, r.tokens > 0 ? `\u00d7 ${number(r.sinks / r.tokens, 1)}` : '');
  });
  node(svg, 'text', { x: left, y: height - 8 }, '\u00d7: how often compared with chance');
});

chart('sweep', (box, width) => {
  const { thresholds, curves } = atlas.sweep, height = 290, left = 52, right = width - 12, top = 22, bottom = height - 42;
  const css = { dlm: color('blue'), arm: color('green'), raw: color('green'), even: color('ink'), new: color('grey') };
  const dash = { raw: '6 4', even: '2 3', new: '2 5' };
  legend(box, curves.map((c) => [c.name, css[c.id], c.id === 'raw' ? 'dashed' : dash[c.id] ? 'dotted' : 'solid']));
  const svg = canvasSvg(box, width, height, 'Share of keys that are sinks, by threshold');
  const floor = 0.01, y = logarithmic(bottom, top, floor, 100), x = linear(left, right, 0, thresholds[thresholds.length - 1]);
  axisY(svg, y, [0.01, 0.1, 1, 10, 100], left, right, '% of keys that are sinks');
  axisX(svg, x, ticks(0, thresholds[thresholds.length - 1], width < 420 ? 4 : 8), bottom, '\u03b5: how far above the mean of the others');
  if (atlas.epsilon !== null) {
    node(svg, 'line', { x1: x(atlas.epsilon), x2: x(atlas.epsilon), y1: top, y2: bottom, class: 'rule' });
    node(svg, 'text', { x: x(atlas.epsilon) + 5, y: top + 12 }, `\u03b5 = ${atlas.epsilon}`);
  }
  curves.forEach((c, i) => {
    path(svg, thresholds.map((e, j) => [x(e), y(Math.max(floor, 100 * c.share[j]))]), css[c.id], { 'stroke-dasharray': dash[c.id] || '' });
    thresholds.forEach((e, j) => {
      if (j % 4) return;
      hover(node(svg, 'circle', { cx: x(e), cy: y(Math.max(floor, 100 * c.share[j])), r: 4, fill: css[c.id] }),
        `${c.name}\n\u03b5 = ${e}: ${number(100 * c.share[j], 2)} % of keys`, { row: i });
    });
  });
});

chart('motion', (box, width) => {
  const m = atlas.motion, css = { dlm: color('sink'), arm: color('green'), raw: color('green') };
  if (!m) { missing(box, atlas.absent.arm); return; }
  legend(box, [...m.series.map((s) => [s.name, css[s.id], s.id === 'raw' ? 'dashed' : 'solid']), ['uniform attention, raw sums', color('ink'), 'dotted']]);
  const height = 230, left = 52, right = width - 12, top = 26, bottom = height - 40;
  const svg = canvasSvg(box, width, height, 'Where the sinks are, step by step');
  const y = linear(bottom, top, 0, 1), x = linear(left, right, 0, 1);
  axisY(svg, y, [0, 0.25, 0.5, 0.75, 1], left, right, 'centre of the sinks: 0 start, 1 end of the text so far');
  node(svg, 'text', { x: left, y: bottom + 17 }, 'start');
  node(svg, 'text', { x: right, y: bottom + 17, 'text-anchor': 'end' }, 'end of writing');
  m.series.forEach((s, row) => {
    const n = Math.max(1, s.path.centroids.length - 1), every = Math.max(1, Math.round(n / 16));
    const points = (list) => list.map((c, i) => (c === null ? null : [x(i / n), y(c)]));
    path(svg, points(s.even.centroids), color('ink'), { 'stroke-dasharray': '2 3', 'stroke-width': 1.6 });
    path(svg, points(s.path.centroids), css[s.id], s.id === 'raw' ? { 'stroke-dasharray': '6 4' } : {});
    s.path.centroids.forEach((c, i) => {
      if (c === null || i % every) return;
      const uniform = s.even.centroids[i] === null ? 'has no sinks' : `has ${number(s.even.centroids[i])}`;
      hover(node(svg, 'circle', { cx: x(i / n), cy: y(c), r: 3.5, fill: css[s.id] }),
        `${s.name}, step ${i + 1} of ${n + 1}\ncentre at ${number(c)} of the text so far; uniform attention ${uniform}`, { row });
    });
  });
  drawBars(box, width, m, css);
});

/** What can be counted of motion, and beside each bar what uniform attention under the same mask gives. */
function drawBars(box, width, m, css) {
  const groups = [['stays', 'sinks that are sinks at the next step', 2], ['temporal', 'temporal variance of the centre', 4],
    ['spatial', 'spatial variance: do the same keys win?', 2]];
  const line = 22, block = 26 + line * m.series.length + 10, svg = canvasSvg(box, width, block * groups.length, 'Motion in numbers');
  const name = 74, space = 176;
  groups.forEach(([field, title, digits], g) => {
    const top = g * block, known = m.series.flatMap((s) => [s.path[field], s.even[field]]).filter((v) => v !== null);
    const scale = linear(name, width - space, 0, Math.max(...known, 1e-9));
    node(svg, 'text', { x: 0, y: top + 18, class: 'strong' }, title);
    m.series.forEach((s, i) => {
      const y = top + 28 + i * line, v = s.path[field], u = s.even[field], told = v === null ? 'no sinks' : number(v, digits);
      const uniform = `uniform: ${u === null ? 'no sinks' : number(u, digits)}`, end = v === null ? name : scale(v);
      node(svg, 'text', { x: 0, y: y + 12 }, s.short);
      hover(node(svg, 'rect', { x: name, y, width: Math.max(1, end - name), height: 15, rx: 2, fill: css[s.id], opacity: s.id === 'raw' ? 0.5 : 1 }),
        `${s.name}\n${title}: ${told}\nuniform attention: ${u === null ? 'no sinks' : number(u, digits)}`, { row: m.series.length * (g + 1) + i });
      if (u !== null) node(svg, 'line', { x1: scale(u), x2: scale(u), y1: y - 2, y2: y + 17, stroke: color('ink'), 'stroke-width': 2, class: 'tick' });
      node(svg, 'text', { x: Math.max(end, u === null ? 0 : scale(u)) + 6, y: y + 12, class: 'uniform' }, `${told}, ${uniform}`);
    });
  });
}

/** The dots of the scatter: the nearest one under the mouse; by the keyboard the cursor of the map, in a ring. */
function readScatter(canvas, ring, words, spot) {
  const show = () => {
    const there = view.key >= 0 && view.step < steps;
    ring.hidden = !there;
    if (there) [ring.style.left, ring.style.top] = spot(view.step, view.key).map((v) => v + 'px');
    const said = there ? describe(view.step, view.key) : 'Hover over a dot, or use the arrow keys here, to read values.';
    if (!timer && words.textContent !== said && (document.activeElement === canvas || !words.textContent)) words.textContent = said;
  };
  canvas.addEventListener('focus', () => { if (view.key < 0 || view.step === steps) moveCursor(0, 0, steps - 1); else show(); });
  canvas.addEventListener('keydown', (event) => moveByKey(event, steps - 1));
  const nearest = (event) => {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let best = null, least = 12 ** 2;
    for (let s = 0; s < steps; ++s)
      for (let k = 0; k < keys; ++k) {
        const [a, b] = spot(s, k), distance = (a - px) ** 2 + (b - py) ** 2;
        if (distance < least) [best, least] = [{ step: s, key: k }, distance];
      }
    return best;
  };
  canvas.addEventListener('mousemove', (event) => {
    if (!moved(event)) return;
    const dot = nearest(event);
    if (dot) showTip(event, describe(dot.step, dot.key)); else hideTip();
  });
  canvas.addEventListener('mouseleave', hideTip);
  canvas.addEventListener('click', (event) => {
    const dot = nearest(event);
    if (dot) { Object.assign(view, dot); drawStage(); }
  });
  onCursor = show;
  show();
}

let drawNorms = chart('norms', (box, width) => {
  const rows = atlas.heads_summary.map((h, i) => ({ ...h, layer: Math.floor(i / heads), head: i % heads }));
  const height = 270, left = 46, right = width - 12, top = 22, bottom = height - 40;
  // the head that is enlarged above: one dot per step and key
  legend(box, [[`a token of layer ${view.layer + 1}, head ${view.head + 1}, at one step`, color('blue')], ['a sink', color('sink')]]);
  const canvas = document.createElement('canvas'), scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + 'px';
  const frame = document.createElement('div'), ring = document.createElement('i'), words = document.createElement('p');
  frame.className = 'scatter';
  ring.className = 'ring';
  words.className = 'read';
  words.id = 'norms-read';
  words.setAttribute('aria-live', 'polite');
  for (const [name, value] of Object.entries({ tabindex: 0, role: 'application', 'aria-roledescription': 'scatter chart', 'aria-describedby': words.id,
    'aria-label': `Value norm against received attention in layer ${view.layer + 1}, head ${view.head + 1}. Up and down move over steps, left and right over positions.` }))
    canvas.setAttribute(name, value);
  frame.append(canvas, ring);
  box.append(frame, words);
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
  readScatter(canvas, ring, words, (step, key) => {
    const at = place(step, view.layer, view.head, key);
    return [x(Math.max(0.05, received[at])), y(norms[at])];
  });
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
      `Layer ${r.layer + 1}, head ${r.head + 1}: sinks have ${number(r.norm_ratio)} \u00d7 the norm of the others,\nand hold ${number(100 * r.absorbed, 0)} % of its attention`,
      { does: () => select(r.layer, r.head) });
  }
});
onSelect.push(() => drawNorms());
