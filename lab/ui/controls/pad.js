// The drawing pad in the browser; no file from elsewhere.
//
// What the pad is told: `size` (pixels a side), `pixels` (what to show), `examples` (name and pixels of
// each), `seq` (the last message of this pad that Python has seen; an answer to an older one
// is stale and must not wipe what was drawn since). Pixels travel as base64 of one byte each, 0..15.
// With `planes` = 3 they are light, not ink: all of red, then all of green, then all of blue.

const LEVELS = 15, LIMIT = 2 * 1024 * 1024;

const encode = (pixels) => btoa(String.fromCharCode(...pixels));
const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

const blank = (width, height) => Object.assign(document.createElement("canvas"), {width, height});

function paint(canvas, pixels, size, planes) {
  canvas.width = canvas.height = size;
  const [r, g, b] = getComputedStyle(canvas).color.match(/[0-9.]+/g).map(Number);
  const context = canvas.getContext("2d"), picture = context.createImageData(size, size);
  const cells = size * size, light = (v) => (255 * v) / LEVELS;
  for (let i = 0; i < cells; i++) picture.data.set(planes === 1 ? [r, g, b, light(pixels[i])]
    : [light(pixels[i]), light(pixels[i + cells]), light(pixels[i + 2 * cells]), 255], 4 * i);
  context.putImageData(picture, 0, 0);
}

// Ink is 1 and paper 0, whatever the picture's own colours: a light border means dark ink. In colour the
// middle of the picture fills the pad, as light as it is.
async function read(file, size, planes) {
  if (file.size > LIMIT) throw `The file is ${(file.size / 1048576).toFixed(1)} MB; choose one of at most 2 MB.`;
  let bitmap;
  try { bitmap = await createImageBitmap(file); }
  catch { throw "That file is not a picture; choose a PNG or a JPEG."; }
  let width = bitmap.width, height = bitmap.height, from = bitmap;
  if (planes === 3) {
    const side = Math.min(width, height), left = (width - side) >> 1, top = (height - side) >> 1;
    from = blank(side, side);
    from.getContext("2d").drawImage(bitmap, left, top, side, side, 0, 0, side, side);
    width = height = side;
  }
  const whole = {width, height}, fit = size / Math.max(width, height);
  while (Math.max(width, height) > 2 * size) {        // halve, so that thin strokes are averaged, not skipped
    width = Math.max(1, Math.round(width / 2)); height = Math.max(1, Math.round(height / 2));
    const half = blank(width, height);
    half.getContext("2d").drawImage(from, 0, 0, width, height);
    from = half;
  }
  width = Math.max(1, Math.round(whole.width * fit)); height = Math.max(1, Math.round(whole.height * fit));
  const small = blank(width, height), context = small.getContext("2d", {willReadFrequently: true});
  context.fillStyle = "white"; context.fillRect(0, 0, width, height);
  context.drawImage(from, 0, 0, width, height);
  const rgba = context.getImageData(0, 0, width, height).data, cells = size * size;
  if (planes === 3) return Uint8Array.from({length: 3 * cells}, (_, i) =>
    Math.round((LEVELS * rgba[4 * (i % cells) + Math.floor(i / cells)]) / 255));
  const gray = Array.from({length: width * height}, (_, i) =>
    (0.299 * rgba[4 * i] + 0.587 * rgba[4 * i + 1] + 0.114 * rgba[4 * i + 2]) / 255);
  const border = gray.filter((_, i) => i < width || i >= width * (height - 1) || i % width === 0 || i % width === width - 1);
  const light = border.reduce((a, b) => a + b, 0) / border.length > 0.5;
  const ink = gray.map((v) => (light ? 1 - v : v));
  const low = Math.min(...ink), span = Math.max(...ink) - low;
  const pixels = new Uint8Array(size * size), left = (size - width) >> 1, top = (size - height) >> 1;
  if (span > 0.02) ink.forEach((v, i) => {
    pixels[(top + Math.floor(i / width)) * size + left + (i % width)] = Math.round((LEVELS * (v - low)) / span);
  });
  return pixels;
}

export default function (component) {
  const {data, parentElement: root, setStateValue} = component;
  const find = (s) => root.querySelector(s), canvas = find(".pad > canvas"), note = find(".note");
  const pad = (root.host ?? root).lecternPad ??= {seq: data.seq, tool: "brush"};
  const {size, planes} = data, cells = size * size;
  canvas.setAttribute("aria-label", `${data.label}: drawing pad of ${size} by ${size} pixels`);
  if ((data.seq >= pad.seq && !pad.down) || !pad.pixels || pad.pixels.length !== planes * cells) {
    pad.pixels = decode(data.pixels); pad.seq = data.seq;
  }
  paint(canvas, pad.pixels, size, planes);

  const send = (example) => {
    clearTimeout(pad.timer); pad.seq += 1;
    setStateValue("drawing", {seq: pad.seq, example: example ?? null, pixels: encode(pad.pixels)});
  };
  const show = (sentence) => { note.textContent = sentence; };

  // --- strokes: soft ink about as thick as MNIST's -----------------------------------------------
  const thick = Math.max(size / 28, 0.55), colour = find("input[type=color]");
  colour.hidden = planes === 1;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * size - 0.5, ((event.clientY - box.top) / box.height) * size - 0.5];
  };
  const stamp = (x, y) => {
    const wide = pad.tool === "erase" ? 2.2 * thick : thick, reach = Math.ceil(1.7 * wide);
    for (let i = Math.floor(y) - reach; i <= y + reach + 1; i++) for (let j = Math.floor(x) - reach; j <= x + reach + 1; j++) {
      if (i < 0 || j < 0 || i >= size || j >= size) continue;
      const ink = Math.min(1, Math.max(0, 1.7 - Math.hypot(i - y, j - x) / wide)), at = i * size + j;
      if (planes === 3) {
        for (let c = 0; c < 3; c++) {
          const goal = (LEVELS * parseInt(colour.value.slice(2 * c + 1, 2 * c + 3), 16)) / 255;
          const before = pad.pixels[at + c * cells];
          pad.pixels[at + c * cells] = Math.round(before + ink * ((pad.tool === "erase" ? 0 : goal) - before));
        }
      } else pad.pixels[at] = pad.tool === "erase" ? Math.min(pad.pixels[at], Math.round(LEVELS * (1 - ink)))
                                            : Math.max(pad.pixels[at], Math.round(LEVELS * ink));
    }
  };
  const stroke = (event) => {
    const [x, y] = place(event), [x0, y0] = pad.last ?? [x, y];
    const steps = Math.max(1, Math.ceil(4 * Math.hypot(x - x0, y - y0)));
    for (let k = 1; k <= steps; k++) stamp(x0 + ((x - x0) * k) / steps, y0 + ((y - y0) * k) / steps);
    pad.last = [x, y];
    paint(canvas, pad.pixels, size, planes);
  };
  canvas.onpointerdown = (event) => {
    event.preventDefault(); canvas.setPointerCapture(event.pointerId); canvas.focus({preventScroll: true});
    pad.last = null; pad.down = true; show(""); stroke(event);
  };
  canvas.onpointermove = (event) => {
    if (!pad.down) return;
    for (const e of event.getCoalescedEvents?.() ?? []) stroke(e);
    stroke(event);
  };
  canvas.onpointerup = canvas.onpointercancel = () => { if (pad.down) { pad.down = false; send(); } };

  // --- tools, upload, examples -------------------------------------------------------------------
  const input = find("input[type=file]");
  root.querySelectorAll("[data-tool]").forEach((button) => {
    const {tool} = button.dataset;
    if (tool === "brush" || tool === "erase") button.setAttribute("aria-pressed", String(pad.tool === tool));
    button.onclick = () => {
      show("");
      if (tool === "clear") { pad.pixels.fill(0); paint(canvas, pad.pixels, size, planes); send(); }
      else if (tool === "upload") input.click();
      else { pad.tool = tool; root.querySelectorAll("[aria-pressed]").forEach((b) => {
        b.setAttribute("aria-pressed", String(b.dataset.tool === tool)); }); }
    };
  });
  input.onchange = async () => {
    const [file] = input.files; input.value = "";
    if (!file) return;
    try { pad.pixels = await read(file, size, planes); paint(canvas, pad.pixels, size, planes); show(""); send(); }
    catch (sentence) { show(typeof sentence === "string" ? sentence : "That picture cannot be read; choose a PNG or a JPEG."); }
  };
  const examples = find(".examples");
  examples.replaceChildren(...data.examples.map(([name, text]) => {
    const button = document.createElement("button"), thumbnail = document.createElement("canvas");
    button.type = "button"; button.append(thumbnail, name); button.setAttribute("aria-label", `Example ${name}`);
    button.onclick = () => { pad.pixels = decode(text); paint(canvas, pad.pixels, size, planes); show(""); send(name); };
    requestAnimationFrame(() => paint(thumbnail, decode(text), size, planes));
    return button;
  }));
  const hidden = find("[data-unheard]"); // until now: nobody would have heard its buttons
  if (hidden) { hidden.removeAttribute("data-unheard"); hidden.style.visibility = ""; }
}
