// The wire format of lab/ui/browser/wire.py, Plotly.js once a page, and the moment when something is painted.

export const ARRAYS = {f4: Float32Array, f8: Float64Array, i4: Int32Array, u4: Uint32Array, i2: Int16Array,
  u2: Uint16Array, i1: Int8Array, u1: Uint8Array};

// -> header, with arrays: name -> {values, shape}; the values are views of the bytes
export function unpack(bytes) {
  const copy = bytes.byteOffset % 8 ? bytes.slice() : bytes;
  const {buffer, byteOffset: start} = copy;
  const length = new DataView(buffer, start).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  for (const [name, [kind, shape, at]] of Object.entries(header.arrays)) {
    const count = shape.reduce((a, b) => a * b, 1);
    header.arrays[name] = {shape, values: new ARRAYS[kind](buffer, start + 4 + length + at, count)};
  }
  return header;
}

// What stands at place i of the first axis: a number, a typed array, or rows of them.
export function frame({values, shape}, i) {
  if (shape.length === 1) return values[i];
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return nested(values.subarray(i * size, (i + 1) * size), shape.slice(1));
}

export function nested(values, shape) {
  if (shape.length <= 1) return values;
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return Array.from({length: shape[0]}, (_, i) => nested(values.subarray(i * size, (i + 1) * size), shape.slice(1)));
}

// An array as Plotly's JSON has it: base64 of its bytes, in rows where it has several.
export function decoded({dtype, bdata, shape}) {
  const flat = new ARRAYS[dtype](Uint8Array.from(atob(bdata), (c) => c.charCodeAt(0)).buffer);
  return shape ? nested(flat, `${shape}`.split(",").map(Number)) : flat;
}

export const same = (a, b) => {
  if (!a || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

// A canvas to draw on that is never shown. (An OffscreenCanvas is younger than some halls' browsers.)
export const blank = (width, height) => Object.assign(document.createElement("canvas"), {width, height});

let loading = null;
export const plotly = () => loading ??= new Promise((resolve, reject) => {
  if (window.Plotly) return resolve(window.Plotly);
  const script = document.createElement("script");
  script.src = window.lecternPlotly; // its address carries the version
  script.onload = () => resolve(window.Plotly);
  script.onerror = () => reject(new Error("Plotly.js could not be loaded"));
  document.head.append(script);
});

export const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => resolve(performance.now());
  channel.port2.postMessage(0);
}));
