// The search over all pages and lectures: each word must be found in one of the fields of `lab/ui/navigation/search.py`.

const FIELDS = [["title", 10], ["terms", 8], ["symbols", 6], ["words", 5], ["models", 5], ["idea", 3], ["references", 2], ["family", 2]];
const WHOLE = 3; // times as much for a query of several words that stands in a text as it was typed
let loading = null;

// All pages as `lab/ui/navigation/search.py` tells them.
export const entries = () => loading ??= fetch(new URL("../search.json", import.meta.url))
  .then((answer) => answer.json())
  .then((list) => list.map((entry) => ({...entry, plain: FIELDS.map(([name]) => [entry[name]].flat().map(plain))})))
  .catch(() => { loading = null; return []; });

// Without accents and hyphens; a letter of another alphabet stays what it is.
const plain = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[-‐–]/g, " ").replace(/['’]s(?![a-z])/g, "");

// -> [{entry, why}], the best first; why: what was found beside the title, or the idea
export async function find(query) {
  const whole = plain(query).trim(), words = whole.split(/\s+/).filter(Boolean);
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
    if (!all) continue;
    const phrase = words.length > 1 && hit(entry, whole);
    if (phrase) score += WHOLE * phrase.score;
    if (phrase && phrase.field !== "title") why = phrase.text;
    found.push({entry, why: why ?? entry.idea, score});
  }
  return found.sort((a, b) => b.score - a.score);
}

// The field that says most about these words; a word's beginning counts twice what its middle does.
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
