// Full screen, pictures at slide size, CSV: small signs that show when they are pointed at.

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
    button.textContent = label;
    button.title = button.ariaLabel = TITLES[kind];
    button.addEventListener("click", act);
    bar.append(button);
  };
  add("full", "⛶", () => (document.fullscreenElement ? document.exitFullscreen() : box.requestFullscreen()));
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
