// Draws the series of a panel as shapes, and as spots: places that show their values when pointed at.

const LOOKS = { blue: '#0072B2', orange: '#E69F00', green: '#009E73', vermilion: '#D55E00', sky: '#56B4E9',
  purple: '#CC79A7', yellow: '#F0E442', grey: '#8a8f98', black: 'currentColor',
  shade1: '#EFF3FF', shade2: '#BDD7E7', shade3: '#6BAED6', shade4: '#3182BD', shade5: '#08519C' };
const EACH = { line: 2, steps: 2, marks: 2, drops: 2, boxes: 4, hollow: 4, whiskers: 3 };

function pointsOf(series) {
  const points = [];
  for (let i = 0; i < series.values.length; i += EACH[series.kind])
    points.push(series.values.slice(i, i + EACH[series.kind]));
  return points;
}

function pathOf(points, steps) {
  return points.map(([x, y], i) => (i === 0 ? `M${x} ${y}` : steps ? `H${x}V${y}` : `L${x} ${y}`)).join('');
}

const round = (value) => Math.round(value * 100) / 100;

function drawLine(series, place) {
  const points = pointsOf(series).map(([x, y]) => [round(place.x(x)), round(place.y(y))]);
  return [draw('path', { d: pathOf(points, series.kind === 'steps'), fill: 'none', stroke: LOOKS[series.look],
    'stroke-width': series.thin ? 1 : 2, 'stroke-dasharray': series.dashed ? '6 4' : null })];
}

function drawMarks(series, place) {
  const colour = LOOKS[series.look];
  return pointsOf(series).flatMap(([x, y]) => {
    const [cx, cy] = [round(place.x(x)), round(place.y(y))];
    const drop = series.kind === 'drops' ? draw('line', { x1: cx, x2: cx, y1: cy, y2: place.bottom, stroke: colour }) : null;
    return [drop, draw('circle', { cx, cy, r: 4, fill: series.hollow ? 'none' : colour, stroke: colour,
      'stroke-width': 1.5 })].filter(Boolean);
  });
}

function drawBoxes(series, place) {
  return pointsOf(series).map(([x0, x1, y0, y1]) => {
    const [left, right] = [place.x(x0), place.x(x1)];
    const [top, bottom] = [place.y(y1), place.y(y0)];
    const filled = series.kind === 'boxes';
    return draw('rect', { x: round(left), y: round(top), width: round(Math.max(right - left, 0.5)),
      height: round(Math.max(bottom - top, 0.5)), fill: filled ? LOOKS[series.look] : 'none',
      'fill-opacity': filled && series.hatched ? 0.55 : filled && series.look === 'grey' ? 0.25 : null,
      stroke: filled ? 'none' : LOOKS[series.look], 'stroke-dasharray': series.hatched && !filled ? '3 3' : null });
  });
}

function drawWhiskers(series, place) {
  return pointsOf(series).map(([x0, x1, y]) => {
    const [left, right, at] = [place.x(x0), place.x(x1), place.y(y)].map(round);
    return draw('path', { d: `M${left} ${at}H${right}M${left} ${at - 5}v10M${right} ${at - 5}v10`, fill: 'none',
      stroke: LOOKS[series.look], 'stroke-width': 1.5 });
  });
}

const DRAW = { line: drawLine, steps: drawLine, marks: drawMarks, drops: drawMarks, boxes: drawBoxes, hollow: drawBoxes,
  whiskers: drawWhiskers };

// The label inside a box, or at a point.
function labelAt(panel, [x0, x1, y0, y1]) {
  const inside = panel.labels.find((label) => label.x >= x0 && label.x <= x1 && label.y >= y0 && label.y <= y1);
  return inside ? ` ${inside.text}` : '';
}

function boxWords(panel, series, [x0, x1, y0, y1]) {
  const row = axisText(panel.y, (y0 + y1) / 2);
  const length = human(x1 - x0, panel.x.unit);
  const from = x0 === 0 ? '' : `, from ${human(x0, panel.x.unit)} to ${human(x1, panel.x.unit)}`;
  return `${panel.y.ticks ? `${row}: ` : ''}${series.name}${labelAt(panel, [x0, x1, y0, y1])} ${length}${from}`;
}

function pointWords(panel, series, [x, y]) {
  const label = panel.labels.find((each) => each.x === x && each.y === y);
  const name = label?.text || series.name;
  return `${name ? `${name}: ` : ''}${panel.x.label} ${axisText(panel.x, x)}, ${panel.y.label} ${axisText(panel.y, y)}`;
}

// Spots in the order of the drawing: {words, left, right, top, bottom}, a point where left is right.
function spotsOf(panel, place) {
  return panel.series.flatMap((series) => pointsOf(series).map((values) => {
    if (EACH[series.kind] === 4)
      return { words: boxWords(panel, series, values), left: place.x(values[0]), right: place.x(values[1]),
        top: place.y(values[3]), bottom: place.y(values[2]), back: series.look === 'grey' || series.kind === 'hollow' };
    if (series.kind === 'whiskers')
      return { words: `${series.name} ${human(values[0], panel.x.unit)} to ${human(values[1], panel.x.unit)}`,
        left: place.x(values[0]), right: place.x(values[1]), top: place.y(values[2]) - 5, bottom: place.y(values[2]) + 5 };
    const [x, y] = [place.x(values[0]), place.y(values[1])];
    return { words: pointWords(panel, series, values), left: x, right: x, top: y, bottom: y };
  })).filter((spot) => spot.right >= place.left - 1 && spot.left <= place.right + 1);
}

function spotAt(spots, x, y) {
  const inside = (spot) => x >= spot.left && x <= spot.right && y >= spot.top && y <= spot.bottom;
  const boxes = spots.filter((spot) => spot.right > spot.left && inside(spot));
  const front = boxes.filter((spot) => !spot.back);
  const points = spots.filter((spot) => spot.right === spot.left);
  const away = (spot) => Math.hypot(spot.left - x, spot.top - y);
  const near = points.reduce((best, spot) => (!best || away(spot) < away(best) ? spot : best), null);
  return front.at(-1) ?? (near && away(near) < 30 ? near : null) ?? boxes.at(-1) ?? null;
}
