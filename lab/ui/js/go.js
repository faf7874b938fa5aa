// From page to page without a reload: Streamlit takes page and query from the address, as after Back.

// The dashboard's own address of a page ("" is Home), with its query.
export const address = (page) => new URL(`../../${page}`, import.meta.url).href;

export function go(page) {
  history.pushState({}, "", address(page));
  window.dispatchEvent(new PopStateEvent("popstate"));
}

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
