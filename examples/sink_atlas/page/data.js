// The data of the run, and what every figure needs.
const atlas = JSON.parse(document.getElementById('data').textContent);
const { steps, layers, heads, keys } = atlas;
const $ = (id) => document.getElementById(id);

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
}
/** 16-bit floats, as the page stores arrays; the NPY files beside it have 32 bits. */
function halves(text) {
  return Float32Array.from(new Uint16Array(bytes(text)), (h) => {
    const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = (h & 1023) / 1024;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  });
}
const received = halves(atlas.received); // [step, layer, head, key]
const norms = halves(atlas.norms);
const tokens = new Uint16Array(bytes(atlas.tokens)); // [step + 1, key]: what each step saw, and the end
const kinds = new Uint8Array(bytes(atlas.kinds)); // [step + 1, key]
const KINDS = ['unknown', 'prompt', 'masked', 'decoded', 'special'];
const place = (step, layer, head, key) => ((step * layers + layer) * heads + head) * keys + key;
const word = (step, key) => atlas.words[tokens[step * keys + key]];
const kind = (step, key) => KINDS[kinds[step * keys + key]];
const shown = (text) => (text === '\n' ? '\u21b5' : text === ' ' ? '\u2423' : text);
const number = (x, digits = 2) => (x === null || Number.isNaN(x) ? '\u2013' : x.toFixed(digits).replace('-', '\u2212'));
let highest = 1;
for (const x of received) if (x > highest) highest = x;

const tracksOf = Array.from({ length: layers * heads }, () => []);
for (const t of atlas.tracks) tracksOf[t.layer * heads + t.head].push(t);
/** The track that is at a key at a step, if any. */
function trackAt(step, layer, head, key) {
  return tracksOf[layer * heads + head].find((t) => t.path.some(([first, last, at]) => at === key && first <= step && step <= last));
}

// ---- theme: the system's, until somebody chooses
const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen = null;
const redraws = [];
function isDark() { return chosen === null ? dark.matches : chosen; }
function color(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); }
function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  $('theme').textContent = isDark() ? '\u2600' : '\u263e';
  ramp = makeRamp();
  for (const draw of redraws) draw();
}
dark.addEventListener('change', applyTheme);

// ---- colour: logarithmic in received attention, so that both the uniform share and the sinks can be seen
let ramp = null;
function makeRamp() {
  const stops = isDark()
    ? [[24, 29, 36], [29, 52, 80], [43, 99, 156], [112, 182, 236], [240, 249, 255]]
    : [[247, 246, 243], [204, 221, 236], [118, 163, 205], [41, 91, 143], [10, 33, 62]];
  const table = [];
  for (let i = 0; i < 256; ++i) {
    const x = (i / 255) * (stops.length - 1), n = Math.min(Math.floor(x), stops.length - 2), f = x - n;
    table.push(stops[n].map((c, j) => Math.round(c + f * (stops[n + 1][j] - c))));
  }
  return table;
}
const shade = (mass) => ramp[Math.max(0, Math.min(255, Math.round(255 * Math.log1p(mass) / Math.log1p(highest))))];

/** One head as an image of steps x keys, one pixel each. */
function picture(layer, head) {
  const canvas = document.createElement('canvas');
  canvas.width = keys;
  canvas.height = steps;
  const context = canvas.getContext('2d'), image = context.createImageData(keys, steps);
  for (let s = 0, i = 0; s < steps; ++s)
    for (let k = 0; k < keys; ++k, i += 4) {
      const [r, g, b] = shade(received[place(s, layer, head, k)]);
      image.data.set([r, g, b, 255], i);
    }
  context.putImageData(image, 0, 0);
  return canvas;
}

// ---- tooltip
const tip = $('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(6, Math.min(innerWidth - box.width - 6, event.clientX + 14)) + 'px';
  tip.style.top = (event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16) + 'px';
}
/** The mark that has the focus, and its text: what the tooltip goes back to when the mouse has left, or the page moved under it. */
let read = null;
function showTipAt(n, text) {
  const box = n.getBoundingClientRect();
  showTip({ clientX: box.right, clientY: (box.top + box.bottom) / 2 }, text);
}
function hideTip() {
  tip.hidden = true;
  if (read) showTipAt(read.node, read.text);
}
function forgetTip() {
  read = null;
  hideTip();
}
/** For the mouse itself: browsers also say that it moved when the page scrolls under it. */
const moved = (event) => event.movementX !== 0 || event.movementY !== 0;
