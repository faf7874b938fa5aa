// From page to page without a reload: Streamlit takes page and query from the address, as after Back.

// The dashboard's own address of a page ("" is Home), with its query.
export const address = (page) => new URL(`../../${page}`, import.meta.url).href;

export function go(page) {
  history.pushState({}, "", address(page));
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// Back leads from an entry of a lecture to the one before. Streamlit (1.67) adds a place to go back to whenever
// a run changes the address, unless it is the first run after Back or our `go`: within an entry it changes it only.
const push = history.pushState.bind(history);
const entry = ({pathname, search}) => {
  const said = new URLSearchParams(search);
  return said.has("lecture") && [pathname, said.get("lecture"), said.get("at")].join();
};
history.pushState = (state, title, url) => {
  const same = entry(location) && entry(location) === entry(new URL(url, location.href));
  if (same) history.replaceState(state, title, url); else push(state, title, url);
};

// Make a link go so, unless the reader asks for a new tab or window.
export function link(a, page, before = () => {}) {
  a.href = address(page);
  a.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    before();
    go(page);
  };
}
