// What is wrong with the layout of the page that is open: sentences, none where all is well.
({phone, stage, pictured}) => {
  const wrong = [];
  const box = (node) => node.getBoundingClientRect();
  const seen = (node) => node.checkVisibility({opacityProperty: true, visibilityProperty: true}) && box(node).width > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);

  // --- The first screen ---
  const inside = (name, nodes, least = 1) => {
    if (nodes.length < least) wrong.push(`there is no ${name}`);
    for (const node of nodes) {
      const {top, bottom} = box(node);
      if (top < -1 || bottom > innerHeight + 1) wrong.push(`${name} lies at ${Math.round(top)} to ${Math.round(bottom)} of ${innerHeight}`);
    }
  };
  const figures = all(".st-key-picture .lectern-figure, .st-key-picture .lectern-plane, .st-key-picture .lectern-cells, .lectern-wall .tile");
  if (phone) {
    for (const title of all(".lectern-head h1")) if (title.scrollWidth > title.clientWidth + 1) wrong.push("the title is cut");
    inside("picture", figures.slice(0, 1));
    const rail = document.querySelector(".st-key-rail");
    if (rail?.childElementCount > 1 && !all(".lectern-drawer").length) wrong.push("the controls are no drawer");
  } else {
    inside("title", all(".lectern-head"));
    inside("picture", figures);
    inside("foot", all(".st-key-foot"), 0);
    const {top, bottom} = figures.reduce((a, f) => ({top: Math.min(a.top, box(f).top), bottom: Math.max(a.bottom, box(f).bottom)}), {top: 1e9, bottom: 0});
    if (bottom - top < 0.38 * innerHeight) wrong.push(`the picture is only ${Math.round(bottom - top)} px high`);
    const controls = all(".st-key-rail input, .st-key-rail button, .st-key-rail textarea, .st-key-rail canvas");
    if (!controls.some((c) => box(c).bottom <= innerHeight)) wrong.push("no control on the first screen");
  }

  // --- One picture, or two equal ones, has two thirds of the width; little of the box is bare paper ---
  const stand = document.querySelector(".st-key-picture");
  if (pictured && stand) {
    const row = all(".st-key-picture [data-testid=stHorizontalBlock]").find((r) => r.querySelector(".lectern-figure, .lectern-plane, .lectern-cells"));
    const widths = [...row?.children ?? []].filter(seen).map((c) => box(c).width).sort((a, b) => b - a);
    const whole = widths.reduce((a, b) => a + b, 0), equal = widths[0] - widths[1] < 3, main = widths[0] + (equal ? widths[1] : 0);
    if (widths.length && main < 0.66 * whole) wrong.push(`the picture has ${Math.round((100 * main) / whole)} % of the width`);
    let covered = 0; // by the plots of figures, canvases of cells and planes
    for (const figure of all(".st-key-picture .lectern-figure, .st-key-picture .lectern-plane, .st-key-picture .lectern-cells")) {
      const plots = Object.values(figure.querySelector(".js-plotly-plot")?._fullLayout._plots ?? {});
      covered += plots.length ? plots.reduce((sum, {xaxis, yaxis}) => sum + xaxis._length * yaxis._length, 0) : box(figure).width * box(figure).height;
    }
    const bare = 1 - covered / (box(stand).width * box(stand).height);
    if (bare > 0.6) wrong.push(`${Math.round(100 * bare)} % of the picture's box are bare paper`);
  }

  if (stage)
    for (const line of all(".lectern-head p, .lectern-stage :is(button, .sees), .lectern-wall :is(.words, p)"))
      if (parseFloat(getComputedStyle(line).fontSize) < 23.9) wrong.push(`“${line.textContent.slice(0, 24)}” is too small for the hall`);

  // --- Texts of figures: turned boxes, told apart by separating axes ---
  const quad = (text) => {
    let b;
    try { b = text.getBBox(); } catch { return null; }
    if (!b.width || !b.height) return null;
    const m = text.getScreenCTM(), dx = Math.min(1, b.width * 0.04), dy = b.height * 0.18; // without leading
    return [[b.x + dx, b.y + dy], [b.x + b.width - dx, b.y + dy], [b.x + b.width - dx, b.y + b.height - dy], [b.x + dx, b.y + b.height - dy]]
      .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  };
  // as it is seen: Plotly makes the type of a narrow bar's text smaller by a scale
  const seenSize = (text) => {
    const m = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b);
  };
  const apart = (p, q) => [p, q].some((s) => s.some(([x1, y1], i) => {
    const [x2, y2] = s[(i + 1) % 4], nx = y1 - y2, ny = x2 - x1, n = Math.hypot(nx, ny) || 1;
    const a = p.map(([x, y]) => (x * nx + y * ny) / n), b = q.map(([x, y]) => (x * nx + y * ny) / n);
    return Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b)) < 1;
  }));
  for (const figure of all(".js-plotly-plot, .lectern-plane")) {
    const frame = box(figure), name = figure.closest("[aria-label]")?.ariaLabel?.slice(0, 40);
    const texts = [...figure.querySelectorAll("svg text")]
      .filter((t) => t.textContent.trim() && !t.closest(".hoverlayer, .modebar, .notifier") && seen(t))
      .map((t) => ({text: t.textContent.trim().slice(0, 24), quad: quad(t), size: seenSize(t)}))
      .filter((t) => t.quad);
    for (const {text, quad} of texts)
      if (quad.some(([x, y]) => x < frame.left - 2 || x > frame.right + 2 || y < frame.top - 2 || y > frame.bottom + 2))
        wrong.push(`“${text}” leaves its figure (${name})`);
    for (let i = 0; i < texts.length; i++)
      for (let j = i + 1; j < texts.length; j++)
        if (!apart(texts[i].quad, texts[j].quad)) wrong.push(`“${texts[i].text}” lies over “${texts[j].text}” (${name})`);
    if (!phone) for (const {text, size} of texts) if (size < 11.9) wrong.push(`“${text}” is ${size.toFixed(1)} px (${name})`);
    if (stage && figure.closest(".st-key-picture"))
      for (const {text, size} of texts) if (size < 23.5) wrong.push(`“${text}” is ${size.toFixed(1)} px (${name})`);
  }

  // --- Words in the parts of a machine ---
  for (const part of all(".lectern-machine .part")) {
    const frame = box(part.querySelector("rect"));
    for (const text of [...part.querySelectorAll("text")].filter((t) => frame.width && t.textContent)) {
      const {left, right} = box(text), size = parseFloat(getComputedStyle(text).fontSize), said = `“${text.textContent.slice(0, 24)}”`;
      if (left < frame.left || right > frame.right) wrong.push(`${said} leaves its part of the machine`);
      if (size < (stage ? 17.9 : 11.9)) wrong.push(`${said} is ${size.toFixed(1)} px (machine)`);
    }
  }

  // --- Labels of cells, drawn on a canvas: they tell where they lie ---
  for (const cells of all(".lectern-cells")) {
    const {labels, place, spec, at, top} = cells.cells ?? {labels: [], place: {}}, name = cells.ariaLabel?.slice(0, 40);
    const frame = box(cells);
    const grown = spec?.grows ? Math.min(place.rows, at + 1 - top) : place.rows; // later rows are not named yet
    for (const [kind, count] of [["row", grown], ["column", place.columns]])
      if (!count || labels.filter((l) => l.names === kind).length !== count) wrong.push(`labels of ${kind}s are skipped (${name})`);
    for (const {text, quad} of labels)
      if (quad.some(([x, y]) => x < -2 || x > frame.width + 2 || y < -2 || y > frame.height + 2)) wrong.push(`“${text}” leaves its cells (${name})`);
    for (let i = 0; i < labels.length; i++)
      for (let j = i + 1; j < labels.length; j++)
        if (!apart(labels[i].quad, labels[j].quad)) wrong.push(`“${labels[i].text}” lies over “${labels[j].text}” (${name})`);
    if (stage && cells.closest(".st-key-picture"))
      for (const {text, size} of labels) if (size < 23.5) wrong.push(`“${text}” is ${size.toFixed(1)} px (${name})`);
  }

  for (const text of all(".lectern-wall :is(.words, p)"))
    if (text.scrollHeight > text.clientHeight + 1 || text.scrollWidth > text.clientWidth + 1) wrong.push(`“${text.textContent.slice(0, 24)}” is cut`);

  // --- Nothing is wider than the screen, but what scrolls in itself ---
  for (const node of all("[data-testid=stMain] *")) {
    if (box(node).right <= innerWidth + 1) continue;
    let cut = node.tagName === "svg";
    for (let p = node.parentElement; p && p.dataset.testid !== "stMain" && !cut; p = p.parentElement)
      cut = getComputedStyle(p).overflowX !== "visible" || p.tagName === "svg";
    if (!cut) { wrong.push(`${node.className || node.tagName} is wider than the screen`); break; }
  }
  return [...new Set(wrong)].slice(0, 12);
}
