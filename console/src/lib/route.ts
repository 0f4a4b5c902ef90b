// Views as links: "#/ledger/udt%2F2/10?tag=rejected". The part behind '#' never reaches a server. Pure functions.

export interface Route {
  page: string;
  parts: string[];
  query: Record<string, string>;
}

const kLongest = 8192;

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export function parseRoute(hash: string): Route {
  const [path, search] = hash.slice(0, kLongest).replace(/^#\/?/, '').split('?', 2) as [string, string?];
  const [page, ...parts] = path.split('/').map(decode) as [string, ...string[]];
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search ?? '')) if (value !== '') query[name] = value;
  return { page: page || 'inbox', parts: parts.filter((part) => part !== ''), query };
}

export function linkTo(page: string, parts: (string | number | bigint)[] = [], query: Record<string, string> = {}): string {
  const path = [page, ...parts.map((part) => encodeURIComponent(String(part)))].join('/');
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${path}${search === '' ? '' : '?' + search}`;
}
