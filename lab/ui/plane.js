const NS = "http://www.w3.org/2000/svg", LEFT = 56, TOP = 12, SIDE = 572;

function make(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

async function sheetOf(data) {                       // ink of every tile, read once a sheet
  const image = new Image();
  image.src = data.sheet;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.drawImage(image, 0, 0);
  const rgba = context.getImageData(0, 0, image.width, image.height).data;
  return {width: image.width, ink: Uint8Array.from({length: rgba.length / 4}, (_, i) => rgba[4 * i + 3])};
}

export default function (component) {
  const {data, parentElement: root, setStateValue} = component;
  const find = (s) => root.querySelector(s), svg = find(".map"), screen = find("canvas");
  const held = (root.host ?? root).lecternPlane ??= {seq: data.seq};
  const {extent, grid, tile} = data;
  const x = (u) => LEFT + (SIDE * (u + extent)) / (2 * extent);
  const y = (v) => TOP + (SIDE * (extent - v)) / (2 * extent);
  if (data.seq >= held.seq) { held.seq = data.seq; held.place = data.place; }

  // --- the map ------------------------------------------------------------------------------------
  svg.replaceChildren();
  svg.setAttribute("aria-label", data.alt);
  const style = {"font-family": data.font, "font-size": 20, fill: data.ink};
  const paint = (source) => make(svg, "image", {
    href: source.href, x: x(-source.reach), y: y(source.reach), width: SIDE * source.reach / extent,
    height: SIDE * source.reach / extent, opacity: source.opacity, preserveAspectRatio: "none"});
  data.backgrounds.filter((source) => !source.over).forEach(paint);
  make(svg, "rect", {x: LEFT, y: TOP, width: SIDE, height: SIDE, fill: "none", stroke: data.line});
  for (let t = -Math.floor(extent); t <= extent; t++) {
    make(svg, "text", {...style, x: x(t), y: TOP + SIDE + 22, "text-anchor": "middle"}, t);
    make(svg, "text", {...style, x: LEFT - 8, y: y(t) + 7, "text-anchor": "end"}, t);
  }
  make(svg, "text", {...style, x: LEFT + SIDE / 2, y: 636, "text-anchor": "middle"}, data.names[0]);
  make(svg, "text", {...style, "text-anchor": "middle", transform: `translate(18 ${TOP + SIDE / 2}) rotate(-90)`}, data.names[1]);
  const dots = make(svg, "g", {});
  for (const [u, v, label] of data.points) if (Math.abs(u) <= extent && Math.abs(v) <= extent)
    make(dots, "circle", {cx: x(u), cy: y(v), r: 5, fill: data.colors[label % data.colors.length], "fill-opacity": 0.75,
                          stroke: data.paper, "stroke-width": 0.7});
  data.backgrounds.filter((source) => source.over).forEach(paint);
  for (const mark of data.marks) {
    if (mark.line) make(svg, "polyline", {points: mark.line.map(([u, v]) => `${x(u)},${y(v)}`).join(" "),
                                          fill: "none", stroke: mark.color, "stroke-width": 2.5});
    if (mark.name === undefined) continue;
    make(svg, "circle", {cx: x(mark.at[0]), cy: y(mark.at[1]), r: 13, fill: "none", stroke: mark.color, "stroke-width": 4});
    make(svg, "text", {...style, x: x(mark.at[0]) + 16, y: y(mark.at[1]) - 11, "font-weight": 700, "font-size": 24,
                       stroke: data.paper, "stroke-width": 5, "paint-order": "stroke"}, mark.name);
  }
  find(".legend").replaceChildren(...data.classes.map((c) => {
    const item = document.createElement("span"), dot = document.createElement("i");
    dot.style.background = data.colors[c % data.colors.length];
    item.append(dot, String(c));
    return item;
  }));
  const ring = make(svg, "circle", {r: 13, fill: "none", stroke: "#D55E00", "stroke-width": 4});
  const probe = make(svg, "g", {stroke: "#E69F00", "stroke-width": 3, fill: "none"});
  make(probe, "circle", {r: 9}); make(probe, "path", {d: "M-18 0H-9M18 0H9M0 -18V-9M0 18V9"});

  // --- the picture under the pointer ----------------------------------------------------------------
  screen.width = screen.height = tile;
  const at = (u, v) => {
    const column = ((u + extent) / (2 * extent)) * (grid - 1), row = ((extent - v) / (2 * extent)) * (grid - 1);
    const c = Math.min(grid - 2, Math.max(0, Math.floor(column))), r = Math.min(grid - 2, Math.max(0, Math.floor(row)));
    const fc = column - c, fr = row - r, {width, ink} = held.sheet;
    const picture = new ImageData(tile, tile), [red, green, blue] = data.rgb;
    for (let i = 0; i < tile; i++) for (let j = 0; j < tile; j++) {
      let sum = 0;
      for (const [dr, dc, weight] of [[0, 0, (1 - fr) * (1 - fc)], [0, 1, (1 - fr) * fc], [1, 0, fr * (1 - fc)], [1, 1, fr * fc]])
        sum += weight * ink[((r + dr) * tile + i) * width + (c + dc) * tile + j];
      picture.data.set([red, green, blue, sum], 4 * (i * tile + j));
    }
    screen.getContext("2d").putImageData(picture, 0, 0);
  };
  const show = (u, v) => {
    held.probe = [u, v];
    probe.setAttribute("transform", `translate(${x(u)} ${y(v)})`);
    find(".where").textContent = `${data.names[0]} = ${u.toFixed(2)}\n${data.names[1]} = ${v.toFixed(2)}`;
    screen.dataset.u = u.toFixed(4); screen.dataset.v = v.toFixed(4);
    if (held.sheet) at(u, v);
  };
  const mark = () => {
    ring.setAttribute("visibility", held.place ? "visible" : "hidden");
    if (held.place) { ring.setAttribute("cx", x(held.place[0])); ring.setAttribute("cy", y(held.place[1])); }
  };
  const place = (event) => {
    const box = svg.getBoundingClientRect(), clamp = (t) => Math.max(-extent, Math.min(extent, t));
    const px = ((event.clientX - box.left) / box.width) * 640, py = ((event.clientY - box.top) / box.height) * 640;
    return [clamp(((px - LEFT) / SIDE) * 2 * extent - extent), clamp(extent - ((py - TOP) / SIDE) * 2 * extent)];
  };
  const select = (where) => {
    held.place = where; held.seq += 1; mark();
    setStateValue("place", {seq: held.seq, place: where});
  };
  svg.onpointermove = (event) => show(...place(event));
  svg.onpointerleave = () => { if (held.place) show(...held.place); };
  svg.onclick = (event) => { const where = place(event); show(...where); select(where); };
  svg.onkeydown = (event) => {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    const clamp = (t) => Math.max(-extent, Math.min(extent, t));
    if (step) { event.preventDefault(); event.stopPropagation();
                show(clamp(held.probe[0] + step[0] * extent / 24), clamp(held.probe[1] + step[1] * extent / 24)); }
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(held.probe); }
  };
  find(".let-go").onclick = () => select(null);
  find(".save").onclick = () => {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", NS);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], {type: "image/svg+xml"}));
    link.download = "plane.svg"; link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  mark();
  show(...(held.place ?? held.probe ?? [0, 0]));
  if (held.href !== data.sheet) {
    held.href = data.sheet;
    sheetOf(data).then((sheet) => { held.sheet = sheet; screen.dataset.ready = "true"; show(...held.probe); });
  }
}
