// Axes and marks that the charts share.
const SVG = 'http://www.w3.org/2000/svg';
function node(parent, tag, attributes = {}, text = null) {
  const n = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) n.setAttribute(name, value);
  if (text !== null) n.textContent = text;
  parent.append(n);
  return n;
}
/**
 * A mark that can be read: by the mouse, and by the keyboard. The marks of a figure are one stop for Tab; arrow keys move over
 * them (left and right in a row, up and down to the nearest of the next row), Enter does what a click does.
 */
function hover(n, text, { row = 0, does = null, also = [] } = {}) {
  const { marks } = n.closest('.chart');
  for (const part of [n, ...also]) {
    part.addEventListener('mousemove', (event) => { if (moved(event)) showTip(event, text); });
    part.addEventListener('mouseleave', hideTip);
    if (does) part.addEventListener('click', does);
  }
  n.setAttribute('role', does ? 'button' : 'img');
  n.setAttribute('aria-label', text.replaceAll('\n', ', '));
  n.classList.add('mark');
  n.addEventListener('focus', () => {
    makeStop(marks, n);
    read = { node: n, text };
    showTipAt(n, text);
    requestAnimationFrame(() => { if (read && read.node === n) showTipAt(n, text); }); // after it was scrolled to
  });
  n.addEventListener('blur', forgetTip);
  n.addEventListener('keydown', (event) => {
    if (does && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); does(); return; }
    const next = neighbour(marks, n, event.key);
    if (next) { event.preventDefault(); next.focus(); }
  });
  marks.push({ node: n, row });
  return n;
}
function makeStop(marks, chosen) {
  for (const { node: m } of marks) m.setAttribute('tabindex', m === chosen ? 0 : -1);
}
function neighbour(marks, n, key) {
  if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(key)) return null;
  const all = marks.map((m) => { const box = m.node.getBoundingClientRect(); return { ...m, x: box.left + box.width / 2 }; })
    .sort((a, b) => a.row - b.row || a.x - b.x);
  const at = all.findIndex((m) => m.node === n), here = all[at];
  if (key === 'Home') return all[0].node;
  if (key === 'End') return all[all.length - 1].node;
  if (key === 'ArrowLeft') return all[Math.max(0, at - 1)].node;
  if (key === 'ArrowRight') return all[Math.min(all.length - 1, at + 1)].node;
  const up = key === 'ArrowUp', rows = all.map((m) => m.row).filter((r) => (up ? r < here.row : r > here.row));
  const wanted = up ? Math.max(...rows) : Math.min(...rows);
  const near = all.filter((m) => m.row === wanted).sort((a, b) => Math.abs(a.x - here.x) - Math.abs(b.x - here.x))[0];
  return near ? near.node : n;
}
/** Draws into the figure now and whenever its width or the theme changes; who had the focus keeps it. */
function chart(id, draw) {
  const box = document.querySelector(`#${id} .chart`);
  box.marks = [];
  const again = () => {
    const active = document.activeElement, stop = box.marks.findIndex((m) => m.node.tabIndex === 0);
    const held = box.marks.some((m) => m.node === active), drawn = active.tagName === 'CANVAS' && box.contains(active);
    if (held || drawn) forgetTip();
    box.textContent = '';
    box.marks = [];
    draw(box, Math.max(260, box.clientWidth));
    if (box.marks.length) {
      const chosen = box.marks[Math.max(0, Math.min(stop, box.marks.length - 1))].node;
      makeStop(box.marks, chosen);
      if (held) chosen.focus();
    }
    if (drawn) box.querySelector('canvas').focus();
  };
  redraws.push(again);
  return again;
}
function legend(box, entries) {
  const key = document.createElement('div');
  key.className = 'key';
  for (const [text, css, style] of entries) {
    const span = document.createElement('span'), sample = document.createElement('i');
    sample.style.borderTopColor = css;
    if (style) sample.style.borderTopStyle = style;
    span.append(sample, text);
    key.append(span);
  }
  box.append(key);
}
function canvasSvg(box, width, height, label) {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [k, v] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': `${label}: arrow keys move over the values` })) svg.setAttribute(k, v);
  box.append(svg);
  return svg;
}
const linear = (from, to, low, high) => (v) => from + ((v - low) / (high - low)) * (to - from);
const logarithmic = (from, to, low, high) => (v) => from + (Math.log(v / low) / Math.log(high / low)) * (to - from);
/** Round numbers that cover a range. */
function ticks(low, high, count = 5) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw) * power;
  const result = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9; v += step) result.push(Number(v.toPrecision(10)));
  return result;
}
function axisY(svg, y, values, left, right, label, format = String) {
  for (const v of values) {
    node(svg, 'line', { x1: left, x2: right, y1: y(v), y2: y(v), class: 'axis' });
    node(svg, 'text', { x: left - 6, y: y(v) + 4, 'text-anchor': 'end' }, format(v).replace('-', '\u2212'));
  }
  if (label) node(svg, 'text', { x: 2, y: 12 }, label);
}
function axisX(svg, x, values, bottom, label, format = String) {
  for (const v of values) node(svg, 'text', { x: x(v), y: bottom + 17, 'text-anchor': 'middle' }, format(v));
  if (label) node(svg, 'text', { x: (x(values[0]) + x(values[values.length - 1])) / 2, y: bottom + 35, 'text-anchor': 'middle' }, label);
}
/** A point that is null is a gap. */
function path(svg, points, css, extra = {}) {
  const d = points.map((p, i) => (p ? `${i && points[i - 1] ? 'L' : 'M'}${p[0].toFixed(1)} ${p[1].toFixed(1)}` : '')).join('');
  return node(svg, 'path', { d, fill: 'none', stroke: css, 'stroke-width': 2.2, 'stroke-linejoin': 'round', ...extra });
}
function missing(box, why) {
  const p = document.createElement('p');
  p.className = 'none';
  p.textContent = why;
  box.append(p);
}
