// Draws a figure of the program as SVG, again at each zoom and change of size.

const LETTER = 7.2; // width of a letter of 12 px, on average
const ROW = 18;

// Keys of a panel's series in rows that fit the width: [{series, x, row}].
function placeKeys(panel, width) {
  const keys = [];
  let x = 0;
  let row = 0;
  for (const series of panel.series.filter((each) => each.name)) {
    const room = 24 + series.name.length * LETTER + 16;
    if (x > 0 && x + room > width) {
      x = 0;
      row++;
    }
    keys.push({ series, x, row });
    x += room;
  }
  return { keys, rows: keys.length ? row + 1 : 0 };
}

// The width of a panel's vertical axis.
function axisWidth(panel, width) {
  const longest = Math.max(0, ...ticksOf(panel.y, panel.y, 6).map((tick) => tick.text.length));
  return Math.min(Math.max(40, 14 + longest * LETTER + (panel.y.label ? ROW : 0)), width * 0.4);
}

// The places of the parts of a panel, from `top` and `left` on.
function layPanel(panel, view, width, top, left) {
  const { keys, rows } = placeKeys(panel, width - left);
  const upper = top + (panel.title ? ROW : 0) + rows * ROW + panel.rules.filter((rule) => rule.vertical).length * 14 + 8;
  const place = { left, right: width - 12, top: upper, bottom: upper + Math.min(panel.height_px, 340), keys, start: top };
  place.x = (value) => place.left + shareOf(panel.x, view, value) * (place.right - place.left);
  place.y = (value) => place.bottom - shareOf(panel.y, panel.y, value) * (place.bottom - place.top);
  place.end = place.bottom + 44;
  return place;
}

function textAt(x, y, text, attributes = {}) {
  return draw('text', { x: round(x), y: round(y), fill: 'currentColor', 'font-size': 12, ...attributes }, text);
}

function drawKeys(panel, place) {
  const top = place.start + (panel.title ? ROW : 0);
  return place.keys.flatMap(({ series, x, row }) => {
    const y = top + row * ROW + 6;
    const filled = EACH[series.kind] === 4 ? series.kind === 'boxes' : !series.hollow;
    return [draw('rect', { x: place.left + x, y: filled && EACH[series.kind] === 2 && series.kind !== 'marks' ? y + 3 : y, width: 14,
      height: series.kind === 'line' || series.kind === 'steps' ? 3 : 9, fill: filled ? LOOKS[series.look] : 'none',
      stroke: LOOKS[series.look], 'fill-opacity': series.look === 'grey' && filled ? 0.25 : null }),
    textAt(place.left + x + 20, y + 9, series.name)];
  });
}

function drawAxes(panel, view, place) {
  const out = [];
  const most = Math.max(2, Math.floor((place.right - place.left) / 90));
  for (const tick of ticksOf(panel.x, view, most)) {
    const x = round(place.x(tick.at));
    out.push(draw('line', { x1: x, x2: x, y1: place.top, y2: place.bottom, stroke: 'currentColor', 'stroke-opacity': 0.12 }),
      textAt(x, place.bottom + 16, tick.text, { 'text-anchor': 'middle' }));
  }
  for (const tick of ticksOf(panel.y, panel.y, 6)) {
    const y = round(place.y(tick.at));
    const room = Math.floor((place.left - 8) / LETTER);
    const text = tick.text.length > room ? `${tick.text.slice(0, room - 1)}…` : tick.text;
    out.push(draw('line', { x1: place.left, x2: place.right, y1: y, y2: y, stroke: 'currentColor', 'stroke-opacity': 0.12 }),
      textAt(place.left - 6, y + 4, text, { 'text-anchor': 'end' }));
  }
  const middle = (place.top + place.bottom) / 2;
  out.push(textAt((place.left + place.right) / 2, place.bottom + 36, axisTitle(panel.x), { 'text-anchor': 'middle' }));
  if (panel.y.label)
    out.push(textAt(0, 0, axisTitle(panel.y), { 'text-anchor': 'middle', transform: `translate(12 ${middle}) rotate(-90)` }));
  return out;
}

function drawRules(panel, place) {
  let line = 0;
  return panel.rules.flatMap((rule) => {
    const at = round(rule.vertical ? place.x(rule.at) : place.y(rule.at));
    if (rule.vertical ? at < place.left || at > place.right : at < place.top || at > place.bottom) return [];
    const ends = rule.vertical ? { x1: at, x2: at, y1: place.top, y2: place.bottom }
      : { x1: place.left, x2: place.right, y1: at, y2: at };
    const half = at > (place.left + place.right) / 2;
    const text = rule.vertical ? textAt(at, place.top - 6 - 14 * line++, rule.text, { 'text-anchor': half ? 'end' : 'start' })
      : textAt(place.right - 4, at - 5, rule.text, { 'text-anchor': 'end' });
    return [draw('line', { ...ends, stroke: LOOKS[rule.look], 'stroke-width': 1.5, 'stroke-dasharray': '7 4' }), text];
  });
}

// The box that a label must fit, if it is in one.
function boxAround(panel, label) {
  for (const series of panel.series)
    for (const box of EACH[series.kind] === 4 ? pointsOf(series) : [])
      if (label.align === 'centre' && label.x > box[0] && label.x < box[1] && label.y > box[2] && label.y < box[3] &&
        series.look !== 'grey') return box;
  return null;
}

function drawLabels(panel, place) {
  const taken = [];
  return panel.labels.flatMap((label) => {
    const width = label.text.length * LETTER;
    const box = boxAround(panel, label);
    const beside = label.beside ? { left: 8, right: -8, centre: 0 }[label.align] : 0;
    const x = place.x(label.x) + beside;
    const y = place.y(label.y) + (label.beside ? (label.below ? 16 : -7) : 4);
    const left = x - { left: 0, centre: width / 2, right: width }[label.align];
    const room = { left, right: left + width, top: y - 11, bottom: y + 3 };
    if (place.x(label.x) < place.left - 1 || place.x(label.x) > place.right + 1) return [];
    if (box && place.x(box[1]) - place.x(box[0]) < width + 2) return [];
    const covered = taken.some((other) => room.left < other.right && other.left < room.right && room.top < other.bottom &&
      other.top < room.bottom);
    if (label.yields && (covered || room.right > place.right + 12)) return [];
    taken.push(room);
    const shift = room.right > place.right + 10 ? place.right + 10 - room.right : 0;
    const anchor = { left: 'start', centre: 'middle', right: 'end' }[label.align];
    return [textAt(x + shift, y, label.text, { 'text-anchor': anchor,
      fill: label.light ? '#ffffff' : box && !label.light ? '#000000' : 'currentColor' })];
  });
}

let clips = 0;

function drawPanel(panel, view, place) {
  const clip = `clip${++clips}`;
  const inside = draw('clipPath', { id: clip }, draw('rect', { x: place.left, y: place.top - 6,
    width: Math.max(0, place.right - place.left), height: place.bottom - place.top + 12 }));
  return draw('g', {}, inside,
    panel.title ? textAt(place.left, place.start + 12, panel.title, { 'font-weight': 600 }) : null, drawKeys(panel, place),
    drawAxes(panel, view, place),
    draw('g', { 'clip-path': `url(#${clip})` }, panel.series.flatMap((series) => DRAW[series.kind](series, place))),
    drawRules(panel, place), drawLabels(panel, place));
}

class Figure {
  constructor(figure) {
    this.figure = figure;
    this.views = figure.panels.map((panel) => ({ min: panel.x.min, max: panel.x.max }));
    this.at = -1;
    this.tip = make('p', { class: 'tip', role: 'status', 'aria-live': 'polite' }, 'Point at the picture, or use the arrow keys.');
    this.room = make('div', { class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${figure.title}. Arrow keys go from ` +
      'point to point, plus and minus zoom, 0 shows all.', onkeydown: (event) => this.key(event),
    onpointermove: (event) => this.point(event), onpointerdown: (event) => this.press(event),
    onpointerup: (event) => this.release(event), ondblclick: () => this.zoom(0) });
    this.element = make('figure', {}, make('figcaption', {}, figure.title), this.room, this.tip, make('div', { class: 'tools' },
      button('Zoom in', () => this.zoom(0.6)), button('Zoom out', () => this.zoom(1 / 0.6)), button('Show all', () => this.zoom(0)),
      button('Copy SVG', () => copyText(this.svgText(), 'The picture is copied as SVG.'))));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.room);
  }

  draw() {
    const width = Math.max(280, Math.floor(this.room.clientWidth));
    const left = Math.max(...this.figure.panels.map((panel) => axisWidth(panel, width)));
    let top = 4;
    this.places = this.figure.panels.map((panel, i) => {
      const place = layPanel(panel, this.views[i], width, top, left);
      top = place.end;
      return place;
    });
    this.spots = this.figure.panels.flatMap((panel, i) => spotsOf(panel, this.places[i]));
    this.marker = draw('rect', { class: 'marker', fill: 'none', stroke: 'currentColor', 'stroke-width': 2, visibility: 'hidden' });
    this.svg = draw('svg', { width, height: top, viewBox: `0 0 ${width} ${top}`, 'font-family': 'system-ui, sans-serif',
      'aria-hidden': 'true' }, this.figure.panels.map((panel, i) => drawPanel(panel, this.views[i], this.places[i])), this.marker);
    this.room.replaceChildren(this.svg);
  }

  show(spot) {
    if (!spot) return;
    this.tip.textContent = spot.words;
    setAttributes(this.marker, { x: spot.left - 4, y: spot.top - 4, width: spot.right - spot.left + 8,
      height: spot.bottom - spot.top + 8, visibility: 'visible' });
  }

  inside(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  point(event) {
    if (this.svg) this.show(spotAt(this.spots, ...this.inside(event)));
  }

  press(event) {
    this.from = this.inside(event)[0];
  }

  // Zooms to the range that was dragged over.
  release(event) {
    const to = this.inside(event)[0];
    if (this.from === undefined || Math.abs(to - this.from) < 12) return;
    const ends = [this.from, to].sort((a, b) => a - b);
    this.figure.panels.forEach((panel, i) => this.look(i, ends.map((x) => (x - this.places[i].left) /
      (this.places[i].right - this.places[i].left))));
    this.from = undefined;
    this.draw();
  }

  // Shows a range, in shares of the visible part, inside the whole axis.
  look(i, [low, high]) {
    const axis = this.figure.panels[i].x;
    const view = this.views[i];
    const [min, max] = [valueAt(axis, view, low), valueAt(axis, view, high)];
    this.views[i] = { min: Math.max(axis.min, min), max: Math.min(axis.max, max) };
  }

  // Zooms about the middle; 0 shows everything.
  zoom(times) {
    this.figure.panels.forEach((panel, i) => {
      if (times === 0) this.views[i] = { min: panel.x.min, max: panel.x.max };
      else this.look(i, [0.5 - times / 2, 0.5 + times / 2]);
    });
    this.draw();
  }

  shift(share) {
    this.figure.panels.forEach((panel, i) => {
      const { x } = panel;
      const view = this.views[i];
      const within = share < 0 ? view.min > x.min : view.max < x.max;
      if (within) this.look(i, [share, 1 + share]);
    });
    this.draw();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const zoom = { '+': 0.6, '=': 0.6, '-': 1 / 0.6, 0: 0 }[event.key];
    if (step === undefined && zoom === undefined) return;
    event.preventDefault();
    if (zoom !== undefined) this.zoom(zoom);
    else if (event.shiftKey) this.shift(0.25 * step);
    else this.show(this.spots[(this.at = (this.at + step + this.spots.length) % this.spots.length)]);
  }

  // The picture by itself, in its own colours, for a document.
  svgText() {
    const copy = this.svg.cloneNode(true);
    copy.querySelector('.marker')?.remove();
    setAttributes(copy, { xmlns: 'http://www.w3.org/2000/svg', color: '#222222' });
    copy.removeAttribute('aria-hidden');
    return new XMLSerializer().serializeToString(copy);
  }
}
