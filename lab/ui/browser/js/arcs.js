// Arcs: a map of cells as lines, from those who look on the left to those looked at on the right; the wider and
// the darker, the larger the value. The lines of the film's row stand out.

export function arcs(pen, state, place, map, write, marked) {
  const {spec, top} = state, {mapX, mapY, cellW, cellH, rows, columns, size, lead} = place, R = spec.rows.length;
  const {values} = spec.arrays.values, span = columns * cellW, to = mapX + span;
  const y = (i) => mapY + (i - top + 0.5) * cellH;
  const row = state.at, best = marked(state, map, row), over = state.near?.[1] === null ? state.near[0] : null;
  const value = (i, j) => values[(map * R + i) * R + j];
  const line = (i, j, color, share) => {
    pen.strokeStyle = color;
    pen.globalAlpha = Math.min(1, 0.04 + 0.96 * share);
    pen.lineWidth = 0.5 + Math.min(9, cellH * 0.55) * share;
    pen.beginPath();
    pen.moveTo(mapX, y(i));
    pen.bezierCurveTo(mapX + span * 0.35, y(i), to - span * 0.35, y(j), to, y(j));
    pen.stroke();
  };
  const fan = (i, color, fade) => {
    for (let j = 0; j < R; j++) if (value(i, j) > 0.004) line(i, j, color, fade * (spec.root ? Math.sqrt(value(i, j)) : value(i, j)));
  };
  pen.save();
  pen.beginPath();
  pen.rect(mapX - 1, mapY, span + 2, rows * cellH);
  pen.clip();
  for (let i = 0; i < R; i++) if (i !== row) fan(i, spec.colors[Math.floor(spec.colors.length * 0.6)], 0.45);
  if (over !== null && over !== row) fan(over, spec.soft, 1);
  fan(row, spec.accent, 1);
  pen.restore();
  pen.globalAlpha = 1;
  const heads = {size, color: spec.soft};
  write(pen, state, spec.titles.rows, mapX, size * 0.65, {...heads, align: "right", most: lead + span * 0.2});
  write(pen, state, spec.titles.columns, to, size * 0.65, {...heads, most: lead + span * 0.2});
  for (let i = top; i < top + rows; i++) {
    const asks = i === row, told = i === best;
    write(pen, state, spec.rows[i], mapX - 7, y(i),
      {align: "right", size, bold: asks, color: asks ? spec.accent : undefined, most: lead - 8, names: "row"});
    write(pen, state, spec.columns[i], to + 7, y(i), {size, bold: told, color: told ? spec.accent : undefined, most: lead - 8, names: "column"});
  }
}
