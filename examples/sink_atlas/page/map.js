// The large heat map with its tracks, the slider and the text.
const view = { layer: atlas.start.layer, head: atlas.start.head, step: Math.floor(steps / 3), key: -1 };
const map = $('map-canvas');
/** Position `steps` of the slider is the finished text; no step has looked at it. */
const finished = (step) => step >= steps;
let onCursor = () => {}; // the scatter follows the cursor of the map
const thin = (x) => Math.round(x * 2) / 2;

function drawMap() {
  const width = map.parentElement.clientWidth, row = Math.max(7, Math.min(13, 460 / steps));
  const left = 34, top = 4, gap = 4, bottom = 22, height = top + row * (steps + 1) + gap + bottom, scale = devicePixelRatio || 1;
  map.width = Math.round(width * scale);
  map.height = Math.round(height * scale);
  map.style.height = height + 'px';
  const g = map.getContext('2d');
  g.scale(scale, scale);
  const column = (width - left - 2) / keys;
  const rowTop = (step) => top + row * step + (finished(step) ? gap : 0);
  map.geometry = { left, rowTop, row, column };
  g.imageSmoothingEnabled = false;
  g.drawImage(picture(view.layer, view.head), left, top, column * keys, row * steps);

  g.font = '11px system-ui, sans-serif';
  g.fillStyle = color('soft');
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  const every = steps > 40 ? 8 : 4;
  g.fillText('text', left - 6, rowTop(steps) + 0.5 * row);
  for (let s = 0; s < steps - 1; s += every) g.fillText(String(s + 1), left - 6, top + (s + 0.5) * row);
  g.textAlign = 'center';
  g.textBaseline = 'top';
  const wide = keys > 64 ? 16 : 8;
  for (let k = 0; k < keys; k += wide) g.fillText(String(k), left + (k + 0.5) * column, rowTop(steps) + row + 6);
  g.strokeStyle = color('line'); // the finished text: a row without attention
  g.strokeRect(left, thin(rowTop(steps)), column * keys, row);

  // where the prompt ends
  let prompt = 0;
  while (prompt < keys && kind(0, prompt) === 'prompt') ++prompt;
  if (prompt > 0 && prompt < keys) {
    g.strokeStyle = color('grey');
    g.setLineDash([2, 3]);
    line(g, left + prompt * column, top, left + prompt * column, top + row * steps);
    g.setLineDash([]);
  }
  const x = (key) => left + (key + 0.5) * column, y = (step) => top + (step + 0.5) * row;
  for (const t of tracksOf[view.layer * heads + view.head]) drawTrack(g, t, x, y, Math.max(2, Math.min(4, column * 0.55)));

  g.strokeStyle = color('ink'); // the step
  g.lineWidth = 1.5;
  g.strokeRect(left, thin(rowTop(view.step)), column * keys, row);
  if (view.key >= 0) g.strokeRect(thin(left + view.key * column) - 0.5, thin(rowTop(view.step)), column + 1, row);
}
function line(g, x1, y1, x2, y2) {
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
}
/** Born: a ring. Moved: a slanted line. Died: a cross. */
function drawTrack(g, t, x, y, size) {
  g.strokeStyle = color('sink');
  g.lineWidth = 1.6;
  g.beginPath();
  t.path.forEach(([first, last, key], i) => {
    if (i === 0) g.moveTo(x(key), y(first)); else g.lineTo(x(key), y(first));
    g.lineTo(x(key), y(last));
  });
  g.stroke();
  const [first, , start] = t.path[0], [, last, end] = t.path[t.path.length - 1];
  g.fillStyle = color('card');
  g.beginPath();
  g.arc(x(start), y(first), size, 0, 2 * Math.PI);
  g.fill();
  g.stroke();
  if (t.died < 0) return;
  line(g, x(end) - size, y(last) - size, x(end) + size, y(last) + size);
  line(g, x(end) - size, y(last) + size, x(end) + size, y(last) - size);
}

function drawLegend() {
  const box = $('legend');
  const mark = (inner) => `<span><svg viewBox="0 0 20 14" fill="none" stroke="${color('sink')}" stroke-width="1.8">${inner}</svg>`;
  box.innerHTML = `<span>0 <canvas width="150" height="1"></canvas> ${number(highest, 0)} times what uniform attention gives</span>` +
    mark(`<circle cx="10" cy="7" r="4"/>`) + 'sink born</span>' + mark('<path d="M6 1v4l8 5v4"/>') + 'moved</span>' +
    mark('<path d="M6 3l8 8m0-8l-8 8"/>') + 'died</span>';
  const canvas = box.querySelector('canvas'), g = canvas.getContext('2d'), image = g.createImageData(150, 1);
  for (let i = 0; i < 150; ++i) image.data.set([...shade(Math.expm1((i / 149) * Math.log1p(highest))), 255], 4 * i);
  g.putImageData(image, 0, 0);
}

function describe(step, key) {
  if (finished(step)) return `Finished text, position ${key}: \u201c${shown(word(step, key))}\u201d (${kind(step, key)}).`;
  const { layer, head } = view, at = place(step, layer, head, key), t = trackAt(step, layer, head, key);
  let text = `Step ${step + 1}, position ${key}: \u201c${shown(word(step, key))}\u201d (${kind(step, key)}) received ` +
    `${number(received[at])} times what uniform attention gives, value norm ${number(norms[at])}.`;
  if (t) text += ` Sink ${t.track}: born at step ${t.born + 1}, ${t.died < 0 ? 'alive at the end' : 'died at step ' + (t.died + 1)}, ` +
    `${t.path.length === 1 ? 'never moved' : `${t.path.length} waypoints`}, ${number(t.peak, 1)} at its strongest.`;
  return text;
}
function drawText() {
  const { layer, head, step } = view, box = $('text');
  box.textContent = '';
  for (let k = 0; k < keys; ++k) {
    const token = word(step, k), span = document.createElement('span');
    const plain = finished(step), masked = kind(step, k) === 'masked';
    span.textContent = masked ? '\u00b7' : shown(token);
    span.className = [masked ? 'masked' : kind(step, k), !plain && trackAt(step, layer, head, k) ? 'sink' : '',
      !masked && step > 0 && kind(step - 1, k) === 'masked' ? 'new' : ''].join(' ');
    if (!plain) {
      const back = shade(received[place(step, layer, head, k)]), luminance = 0.3 * back[0] + 0.59 * back[1] + 0.11 * back[2];
      span.style.background = `rgb(${back})`;
      if (!masked || (luminance < 140) !== isDark()) span.style.color = luminance < 140 ? '#fff' : '#16202b';
    }
    span.addEventListener('mouseenter', () => { view.key = k; drawMap(); $('readout').textContent = describe(view.step, k); });
    box.append(span, atlas.glue);
    if (token === '\n') box.append(document.createElement('br'));
  }
}
/** Live regions speak when they are written to, so nothing is written twice. */
function write(element, text) { if (element.textContent !== text) element.textContent = text; }
function drawStage() {
  write($('map-title'), `Layer ${view.layer + 1}, head ${view.head + 1}`);
  $('step').value = view.step;
  let masked = 0;
  for (let k = 0; k < keys; ++k) if (kind(view.step, k) === 'masked') ++masked;
  const where = finished(view.step) ? 'finished text' : `step ${view.step + 1} of ${steps}`;
  write($('step-number'), where);
  $('step').setAttribute('aria-valuetext', finished(view.step) ? where : `${where}, ${masked} tokens are still masked`);
  write($('readout'), view.key >= 0 ? describe(view.step, view.key)
    : (finished(view.step) ? 'The finished text, as the last step left it.' : `${masked} tokens are still masked.`) +
      ' Hover over the map or the text, or use the arrow keys on the map, to read values.');
  drawMap();
  drawText();
  onCursor();
}

function pointed(event) {
  const box = map.getBoundingClientRect(), { left, rowTop, row, column } = map.geometry;
  const key = Math.floor((event.clientX - box.left - left) / column), y = event.clientY - box.top;
  const step = y >= rowTop(steps) ? steps + Math.floor((y - rowTop(steps)) / row) : Math.min(steps - 1, Math.floor((y - rowTop(0)) / row));
  return key >= 0 && key < keys && step >= 0 && step <= steps ? { step, key } : null;
}
map.addEventListener('mousemove', (event) => {
  if (!moved(event)) return;
  const at = pointed(event);
  if (at) showTip(event, describe(at.step, at.key)); else hideTip();
});
map.addEventListener('mouseleave', hideTip);
map.addEventListener('click', (event) => {
  const at = pointed(event);
  if (at) { stop(); Object.assign(view, at); drawStage(); }
});
function moveCursor(down, right, last) {
  view.step = Math.max(0, Math.min(last, view.step + down));
  view.key = Math.max(0, Math.min(keys - 1, view.key + right));
  drawStage();
}
function moveByKey(event, last) {
  const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!move) return;
  event.preventDefault();
  stop();
  moveCursor(...move, last);
}
map.addEventListener('keydown', (event) => moveByKey(event, steps));

let timer = null;
function stop() {
  if (!timer) return;
  clearInterval(timer);
  timer = null;
  $('play').innerHTML = '&#9654;';
  $('play').setAttribute('aria-label', 'Play');
  $('readout').setAttribute('aria-live', 'polite');
}
$('play').addEventListener('click', () => {
  if (timer) { stop(); return; }
  if (finished(view.step)) view.step = 0;
  $('play').textContent = '\u275a\u275a';
  $('play').setAttribute('aria-label', 'Pause');
  $('readout').setAttribute('aria-live', 'off'); // five times a second is too much to listen to
  timer = setInterval(() => {
    view.step = Math.min(steps, view.step + 1);
    if (finished(view.step)) stop();
    drawStage();
  }, 220);
});
$('step').max = steps;
$('step').addEventListener('input', (event) => { stop(); view.step = Number(event.target.value); drawStage(); });
