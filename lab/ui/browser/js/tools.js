// Full screen, pictures at slide size, CSV: small signs that show when they are pointed at.

// Four corners: fonts of the hall's machine may lack the sign.
const FULL = '<svg viewBox="0 0 12 12" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">'
  + '<path d="M1 4V1h3M8 1h3v3M11 8v3H8M4 11H1V8"/></svg>';
const TITLES = {full: "Full screen", svg: "Save as SVG", png: "Save as PNG", csv: "Save the data as CSV"};

// acts: svg and png save by themselves, csv gives the text; what is missing has no sign
export function tools(box, name, acts) {
  const bar = box.querySelector(".tools");
  bar.replaceChildren();
  const add = (kind, label, act) => {
    if (!act) return;
    const button = document.createElement("button");
    button.className = kind;
    button.type = "button";
    button.innerHTML = label;
    button.title = button.ariaLabel = TITLES[kind];
    button.addEventListener("click", act);
    bar.append(button);
  };
  add("full", FULL, document.fullscreenEnabled && (() => (document.fullscreenElement ? document.exitFullscreen() : box.requestFullscreen())));
  add("svg", "SVG", acts.svg);
  add("png", "PNG", acts.png);
  add("csv", "CSV", acts.csv && (() => save(new Blob([acts.csv()], {type: "text/csv"}), `${name}.csv`)));
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
