// Axes of a figure: maps values to places, and makes ticks. `view` is the visible part of the axis.

// Maps a value to [0, 1] of the view.
function shareOf(axis, view, value) {
  if (!axis.log) return (value - view.min) / (view.max - view.min);
  return Math.log(value / view.min) / Math.log(view.max / view.min);
}

function valueAt(axis, view, share) {
  if (!axis.log) return view.min + share * (view.max - view.min);
  return view.min * (view.max / view.min) ** share;
}

function linearTicks(axis, view, most) {
  const factor = axis.factor || 1;
  const room = (view.max - view.min) / factor / most;
  const power = 10 ** Math.floor(Math.log10(room));
  let step = power * ([1, 2, 5, 10].find((times) => times * power >= room) ?? 10);
  if (axis.whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let i = Math.ceil(view.min / factor / step - 1e-9); i * step <= view.max / factor + 1e-9 * step; i++)
    ticks.push({ at: i * step * factor, text: String(Number((i * step).toPrecision(8))) });
  return ticks;
}

// Ticks at powers of ten, at halves and fifths of them if there are few, and at round numbers within a single one.
function logTicks(view, most) {
  const decades = Math.log10(view.max / view.min);
  if (decades < 1) return linearTicks({ factor: 1 }, view, most).map((tick) => ({ at: tick.at, text: human(tick.at, '') }));
  const every = Math.max(1, Math.ceil(decades / most));
  const times = decades < 2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(view.min)); power <= Math.log10(view.max); power++)
    for (const time of power % every === 0 ? times : [])
      if (time * 10 ** power >= view.min && time * 10 ** power <= view.max)
        ticks.push({ at: time * 10 ** power, text: human(time * 10 ** power, '') });
  return ticks;
}

function ticksOf(axis, view, most) {
  if (axis.ticks) return axis.ticks.filter((tick) => tick.at >= view.min && tick.at <= view.max);
  return axis.log ? logTicks(view, most) : linearTicks(axis, view, most);
}

function axisTitle(axis) {
  const unit = `${axis.log ? '' : axis.prefix}${axis.unit}`;
  return [axis.label, unit && `(${unit})`].filter(Boolean).join(' ');
}

// A value of an axis as text: its category, or the number.
function axisText(axis, value) {
  const near = axis.ticks?.find((tick) => Math.abs(tick.at - value) < 0.5);
  return near ? near.text : human(value, axis.unit);
}
