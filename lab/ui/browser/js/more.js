// A list that goes on beyond what is seen says which way, by data-more="up down"; the mark is drawn by CSS.

export function more(list) {
  const look = () => {
    const ways = [];
    if (list.scrollTop > 2) ways.push("up");
    if (list.scrollHeight - list.clientHeight - list.scrollTop > 2) ways.push("down");
    if (list.dataset.more !== ways.join(" ")) list.dataset.more = ways.join(" ");
  };
  list.addEventListener("scroll", look, {passive: true});
  list.addEventListener("toggle", look, true); // of what folds in it
  new ResizeObserver(look).observe(list);
  new MutationObserver(look).observe(list, {childList: true, subtree: true, attributeFilter: ["hidden", "class"]});
  look();
}
