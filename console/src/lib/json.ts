// JSON as the control API writes it: integers beyond 2^53 stay exact, as bigint. Pure functions.

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

// Marks a long integer while the rest is parsed; a random word, so that no text can pass for one.
const mark = `${crypto.randomUUID()}:`;
const kLong = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

export function parseJson(text: string): Json {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as Json;
  const marked = text.replace(kLong, (found) => (found.startsWith('"') ? found : `"${mark}${found}"`));
  return JSON.parse(marked, (_name, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const digits = value.slice(mark.length);
    return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
  }) as Json;
}

export function isObject(value: unknown): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Names in the order of UTF-16 code units, as RFC 8785 has it. Equal values have equal texts.
export function canonical(value: Json): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (isObject(value))
    return `{${Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}

// For people: indented, names sorted.
export function pretty(value: Json, indent = ''): string {
  const inner = indent + '  ';
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((one) => inner + pretty(one, inner)).join(',\n')}\n${indent}]`;
  if (isObject(value)) {
    const names = Object.keys(value).sort();
    return names.length === 0
      ? '{}'
      : `{\n${names.map((name) => `${inner}${JSON.stringify(name)}: ${pretty(value[name]!, inner)}`).join(',\n')}\n${indent}}`;
  }
  return canonical(value);
}

// One line, for tables. Where a text stands beside others it has quotes, unless it is one plain word: its end is seen.
export const brief = (value: Json): string => (typeof value === 'string' ? value : briefPart(value));
export function briefPart(value: Json): string {
  if (typeof value === 'string') return /^[\p{L}\p{N}_.:+/@-]+$/u.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (Array.isArray(value)) return `[${value.map(briefPart).join(', ')}]`;
  if (!isObject(value)) return canonical(value);
  return Object.entries(value)
    .map(([name, one]) => `${briefPart(name)}=${isObject(one) ? `{${briefPart(one)}}` : briefPart(one)}`)
    .join(' ');
}
