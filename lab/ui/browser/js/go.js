// From page to page without a reload: Streamlit takes page and query from the address, as after Back.

// The dashboard's own address of a page ("" is Home), with its query.
export const address = (page) => new URL(`../../${page}`, import.meta.url).href;

export function go(page) {
  push({}, "", address(page));
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// In a lecture `go` alone adds a place to go back to, so that Back leads to the entry before. Streamlit (1.67) adds
// one whenever a run changes the address, unless it is the first run after Back or `go`; here it changes it only.
const push = history.pushState.bind(history);
const lecturing = (url) => new URL(url, location.href).searchParams.has("lecture");
history.pushState = (state, title, url) => {
  if (lecturing(location.href) && lecturing(url)) history.replaceState(state, title, url); else push(state, title, url);
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
