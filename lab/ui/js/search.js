// The search over all pages: each word must be found in the title, idea, controls, symbols, models or references.

const FIELDS = [["title", 10], ["symbols", 6], ["words", 5], ["models", 5], ["idea", 3], ["references", 2], ["family", 2]];
let loading = null;

// All pages as `lab/ui/search.py` tells them.
export const entries = () => loading ??= fetch(new URL("../search.json", import.meta.url))
  .then((answer) => answer.json())
  .then((list) => list.map((entry) => ({...entry, plain: FIELDS.map(([name]) => [entry[name]].flat().map(plain))})))
  .catch(() => { loading = null; return []; });

// Without accents; a letter of another alphabet stays what it is.
const plain = (text) => text.toLowerCase().normalize("NFD").replace(/[̀-ͯ]/g, "");

// -> [{entry, why}], the best first; why: what was found beside the title, or the idea
export async function find(query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  const found = [];
  for (const entry of words.length ? await entries() : []) {
    let score = 0, why = null;
    const all = words.every((word) => {
      const best = hit(entry, word);
      if (!best) return false;
      score += best.score;
      if (best.field !== "title") why ??= best.text;
      return true;
    });
    if (all) found.push({entry, why: why ?? entry.idea, score});
  }
  return found.sort((a, b) => b.score - a.score);
}

// The field that says most about this word; a word's beginning counts twice what its middle does.
function hit(entry, word) {
  let best = null;
  FIELDS.forEach(([field, weight], f) => entry.plain[f].forEach((text, i) => {
    const at = text.indexOf(word);
    if (at < 0) return;
    const begins = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
    const score = weight * (text === word ? 3 : begins ? 2 : 1);
    if (!best || score > best.score) best = {field, score, text: [entry[field]].flat()[i]};
  }));
  return best;
}
