// Texts of strangers, made harmless to look at: what would hide, reorder or break a line is shown as its code point.
// Pure functions. The result is for text nodes and attributes; nothing here makes markup.

// Controls, bidirectional marks, zero widths, line separators, tags, variation selectors, private use, lone surrogates.
const hidden =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]|\p{Surrogate}/gu;

function codePoint(text: string): string {
  return (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

// Letters that pass for others: Greek and Cyrillic ones in a word with Latin ones.
function mixed(text: string): { 0: string; index: number }[] {
  if (!/[\u0370-\u052f]/.test(text)) return [];
  return [...text.matchAll(/[\p{L}\p{M}]+/gu)]
    .filter(([word]) => /\p{Script=Latin}/u.test(word))
    .flatMap((word) => [...word[0].matchAll(/[\p{Script=Greek}\p{Script=Cyrillic}]/gu)].map((one) => ({ 0: one[0], index: word.index + one.index })));
}

export interface Piece {
  text: string;
  hidden: boolean; // a code point in words, instead of itself
}

// The pieces of a text; at most `most` characters of it, then how many are left out.
export function pieces(text: string, most = 4096): { list: Piece[]; left: number } {
  const kept = text.length > most ? text.slice(0, most) : text;
  const list: Piece[] = [];
  let end = 0;
  const found = kept.trim() === '' ? [...kept.matchAll(/./gsu)] : [...kept.matchAll(hidden), ...mixed(kept)].sort((a, b) => a.index - b.index);
  for (const one of found) {
    if (one.index > end) list.push({ text: kept.slice(end, one.index), hidden: false });
    list.push({ text: `U+${codePoint(one[0])}`, hidden: true });
    end = one.index + one[0].length;
  }
  if (end < kept.length) list.push({ text: kept.slice(end), hidden: false });
  return { list, left: text.length - kept.length };
}

// As one string, for attributes, titles and SVG.
export function plain(text: string, most = 4096): string {
  const { list, left } = pieces(text, most);
  return list.map((piece) => (piece.hidden ? `<${piece.text}>` : piece.text)).join('') + (left > 0 ? '…' : '');
}

export function shortId(id: string): string {
  return /^[0-9a-f-]{20,}$/.test(id) ? id.slice(0, 8) : plain(id, 40);
}

export function plural(count: number | bigint, one: string, many = one + 's'): string {
  return `${count.toLocaleString('en')} ${Number(count) === 1 ? one : many}`;
}
