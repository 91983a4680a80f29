// Axes and marks that the charts share.
const SVG = 'http://www.w3.org/2000/svg';
function node(parent, tag, attributes = {}, text = null) {
  const n = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) n.setAttribute(name, value);
  if (text !== null) n.textContent = text;
  parent.append(n);
  return n;
}
/** A mark that can be hovered and, by Tab, focused: its text in the tooltip and for screen readers. */
function hover(n, text) {
  node(n, 'title', {}, text);
  n.addEventListener('mousemove', (event) => showTip(event, text));
  n.addEventListener('mouseleave', hideTip);
  return n;
}
/** Draws into the figure now and whenever its width or the theme changes. */
function chart(id, draw) {
  const box = document.querySelector(`#${id} .chart`);
  const again = () => {
    box.textContent = '';
    draw(box, Math.max(260, box.clientWidth));
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
  for (const [k, v] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label })) svg.setAttribute(k, v);
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
function path(svg, points, css, extra = {}) {
  const d = points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  return node(svg, 'path', { d, fill: 'none', stroke: css, 'stroke-width': 2.2, 'stroke-linejoin': 'round', ...extra });
}
function missing(box, why) {
  const p = document.createElement('p');
  p.className = 'none';
  p.textContent = why;
  box.append(p);
}
