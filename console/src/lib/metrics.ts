// A node's metrics in Prometheus' text format, and what is drawn of them. Pure functions.

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: { labels: string; value: number }[];
}

const kMostLines = 100_000;

export function parseMetrics(text: string): Family[] {
  const families = new Map<string, Family>();
  const of = (name: string): Family => {
    let found = families.get(name);
    if (!found) families.set(name, (found = { name, type: 'untyped', help: '', samples: [] }));
    return found;
  };
  for (const line of text.split('\n').slice(0, kMostLines)) {
    const told = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (told) {
      if (told[1] === 'HELP') of(told[2]!).help = told[3]!;
      else of(told[2]!).type = told[3]!;
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample && !line.startsWith('#')) of(sample[1]!).samples.push({ labels: sample[2] ?? '', value: Number(sample[3]) });
  }
  return [...families.values()].filter((one) => one.samples.length > 0);
}

// One number of a family: the sum over its labels.
export const totalOf = (family: Family): number => family.samples.reduce((sum, one) => sum + one.value, 0);

// Of a histogram's buckets between two scrapes: at most so much, for a share of what was counted. Null: nothing was.
export function quantileOf(share: number, before: Family | undefined, after: Family): number | null {
  const buckets = after.samples
    .map((one) => ({ to: Number((/le="([^"]+)"/.exec(one.labels)?.[1] ?? '').replace('+Inf', 'Infinity')), count: one.value - (before?.samples.find((two) => two.labels === one.labels)?.value ?? 0) }))
    .filter((one) => !Number.isNaN(one.to))
    .sort((a, b) => a.to - b.to);
  const all = buckets.at(-1)?.count ?? 0;
  if (!(all > 0)) return null;
  const wanted = share * all;
  const i = buckets.findIndex((one) => one.count >= wanted);
  const [low, high] = [buckets[i - 1], buckets[i]!];
  if (high.to === Infinity) return low?.to ?? null;
  const from = low?.to ?? 0;
  const below = low?.count ?? 0;
  return high.count === below ? high.to : from + ((high.to - from) * (wanted - below)) / (high.count - below);
}

export interface Moment {
  at: number; // ms
  value: number;
}

// A counter a second, between its samples. One that fell began again with the node.
export function rateOf(moments: Moment[]): Moment[] {
  const rates: Moment[] = [];
  for (let i = 1; i < moments.length; ++i) {
    const [a, b] = [moments[i - 1]!, moments[i]!];
    const seconds = (b.at - a.at) / 1000;
    if (seconds > 0) rates.push({ at: b.at, value: Math.max(0, b.value < a.value ? b.value : b.value - a.value) / seconds });
  }
  return rates;
}

// The points of a polyline in a box; the lowest value drawn is at most 0.
export function lineIn(moments: Moment[], width: number, height: number): string {
  if (moments.length === 0) return '';
  const [first, last] = [moments[0]!.at, moments.at(-1)!.at];
  const low = Math.min(0, ...moments.map((one) => one.value));
  const high = Math.max(low + 1e-9, ...moments.map((one) => one.value));
  const x = (at: number) => (last === first ? width : ((at - first) / (last - first)) * width);
  const y = (value: number) => height - 1 - ((value - low) / (high - low)) * (height - 2);
  return moments.map((one) => `${x(one.at).toFixed(1)},${y(one.value).toFixed(1)}`).join(' ');
}

export function showNumber(value: number, unit: 'bytes' | 's' | 'rate' | ''): string {
  if (unit === 'bytes') {
    const words = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let i = 0;
    for (; value >= 1024 && i + 1 < words.length; ++i) value /= 1024;
    return `${value.toFixed(i === 0 || value >= 100 ? 0 : 1)} ${words[i]}`;
  }
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 3;
  return value.toLocaleString('en', { maximumFractionDigits: digits }) + (unit === 's' ? ' s' : unit === 'rate' ? ' /s' : '');
}
