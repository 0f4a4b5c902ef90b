// What all pages share: who is signed in, which view is open, what the ledger's stream brings. One of each a window.
import { access, ApiError, follow, get, post, type Schemas } from './api/client.ts';
import { isParted, isRow, takenBack, type Parted, type Row } from './lib/live.ts';
import { parseJson } from './lib/json.ts';
import type { PersonKey } from './lib/person.ts';
import { linkTo, parseRoute, type Route } from './lib/route.ts';
import { plain } from './lib/text.ts';

export type Role = 'observer' | 'operator' | 'counselor' | 'admin';
export const kRoles: Role[] = ['observer', 'operator', 'counselor', 'admin'];

interface Held {
  token: string;
  role: Role;
  expires: string; // "": with the file of tokens
}

class Session {
  token = $state('');
  role = $state<Role>('observer');
  expires = $state('');
  ended = $state(false); // it was there, and counts no longer; what is open stays as it was
  problem = $state(''); // of the last try to sign in
  may(role: Role): boolean {
    return (this.token !== '' || this.ended) && (this.role === role || this.role === 'admin' || role === 'observer');
  }
}
export const session = new Session();

// The person whose key this tab has open, for as long as the session lasts. The key is in memory only.
class Signer {
  open = $state.raw<{ name: string; key: PersonKey } | null>(null);
}
export const signer = new Signer();

const kKept = 'witan.session';
// Tabs of one browser share a session; it goes with the last of them.
const tabs = new BroadcastChannel('witan.session');

function isHeld(value: unknown): value is Held {
  const held = value as Held | null;
  return typeof held?.token === 'string' && held.token.length < 256 && kRoles.includes(held.role) && typeof held.expires === 'string';
}

function take(held: Held): void {
  access.token = held.token;
  session.token = held.token;
  session.role = held.role;
  session.expires = held.expires;
  session.ended = false;
  session.problem = '';
  sessionStorage.setItem(kKept, JSON.stringify(held));
  void learn();
  live.start();
}

tabs.onmessage = ({ data }: MessageEvent<{ ask?: boolean; held?: unknown; out?: boolean }>) => {
  if (data.ask && session.token !== '')
    tabs.postMessage({ held: { token: session.token, role: session.role, expires: session.expires } });
  if (isHeld(data.held) && session.token === '') take(data.held);
  if (data.out) {
    session.ended = false;
    forget();
  }
};

// A role that a later node may have counts as the least.
const roleOf = (word: string): Role => kRoles.find((role) => role === word) ?? 'observer';

function forget(): void {
  sessionStorage.removeItem(kKept);
  access.token = '';
  session.token = '';
  signer.open = null;
  live.stop();
}

access.onSignedOut = () => {
  if (session.token === '') return;
  session.ended = true;
  forget();
};

// What goes wrong stands in session.problem.
async function trySignIn(work: () => Promise<Held>): Promise<void> {
  session.problem = '';
  try {
    const held = await work();
    take(held);
    tabs.postMessage({ held }); // those whose session has ended go on, too
  } catch (error) {
    session.problem = messageOf(error).message;
  }
}

export const signIn = (token: string): Promise<void> =>
  trySignIn(async () => {
    if (/[^\x21-\x7e]/.test(token)) throw new Error('this is no token: it has characters that no token has');
    const before = access.token;
    access.token = token;
    try {
      const who = await get('/v1/console/session');
      return { token, role: roleOf(who.role), expires: who.expires ?? '' };
    } catch (error) {
      access.token = before;
      throw error;
    }
  });

const signInByCode = (code: string): Promise<void> =>
  trySignIn(async () => {
    const made = await post('/v1/console/session', { code });
    return { token: made.token, role: roleOf(made.role), expires: made.expires };
  });

export async function signOut(): Promise<void> {
  try {
    await post('/v1/console/end', {});
  } finally {
    tabs.postMessage({ out: true });
    session.ended = false;
    forget();
  }
}

// The code of a one-time link leaves the address before anything else happens; the view that was open stays.
const kCode = /^#code=([\w-]{1,100})$/;
let address = kCode.test(location.hash) ? linkTo('inbox') : location.hash;
function takeCode(): string {
  const code = kCode.exec(location.hash)?.[1] ?? '';
  if (code !== '') history.replaceState(null, '', location.pathname + address);
  return code;
}

// From the code in a one-time link, from this tab's last page, or from another tab.
export async function resume(): Promise<void> {
  const code = takeCode();
  if (code !== '') return signInByCode(code);
  try {
    const held: unknown = JSON.parse(sessionStorage.getItem(kKept) ?? 'null');
    if (isHeld(held)) return take(held);
  } catch {
    sessionStorage.removeItem(kKept);
  }
  tabs.postMessage({ ask: true });
}

class View {
  wanted = $state.raw<Route>(parseRoute(address)); // what the address names
  route = $state.raw<Route>(parseRoute(address)); // of the page that is open: it follows when the page has come
}
export const view = new View();
addEventListener('hashchange', () => {
  const code = takeCode();
  if (code !== '') return void signInByCode(code);
  address = location.hash;
  view.wanted = parseRoute(address);
});

// The address says what was chosen on a page, without a step back. A page that is being left changes nothing.
export function readdress(page: string, query: Record<string, string>): void {
  if (view.wanted.page !== page || view.route.page !== page) return;
  address = linkTo(page, view.route.parts, query);
  history.replaceState(null, '', address);
  view.wanted = view.route = parseRoute(address);
}

// What the node says of itself and its cluster: names for ids.
class Node {
  name = $state('');
  device = $state('');
  cluster = $state('');
  version = $state('');
  names = $state.raw<Record<string, string>>({});
  domains = $state.raw<Schemas['DomainSummary'][]>([]);
}
export const node = new Node();

export const nameOf = (device: string): string => plain(node.names[device.split('@')[0]!] ?? device.slice(0, 8), 60);

export async function learn(): Promise<void> {
  try {
    const [status, devices, domains] = await Promise.all([get('/v1/status'), get('/v1/devices'), get('/v1/domains')]);
    node.name = status.name;
    node.device = status.device;
    node.cluster = devices.cluster;
    node.version = status.version;
    node.names = Object.fromEntries(devices.devices.map((one) => [one.device, one.name]));
    node.domains = domains.domains;
  } catch {
    // The stream's state says that the node is away; the next opening of the stream asks again.
  }
}

const described = new Map<string, Promise<Schemas['DomainDescription']>>();
export function describe(domain: string): Promise<Schemas['DomainDescription']> {
  let known = described.get(domain);
  if (!known) {
    known = get('/v1/domains/{domain}', { domain });
    described.set(domain, known);
    known.catch(() => described.delete(domain));
  }
  return known;
}

type Listener = (rows: Row[]) => void;
type PartedListener = (parted: Parted) => void;

// The ledger's stream, begun again when it breaks. One tab has it and tells the others: a browser opens six connections
// to a node and no more, and a seventh tab would wait for ever. Rows are handed out once a frame. A listener that missed
// rows is told to read again.
interface Told {
  data?: string; // an entry
  parted?: string;
  state?: 'open' | 'lost';
  ask?: boolean; // what is the state?
}
class Live {
  state = $state<'off' | 'open' | 'lost'>('off');
  since = $state(0); // when it broke
  clockOff = $state(0); // seconds by which this machine's clock differs from the last entry's
  private stopper: AbortController | null = null;
  private listeners = new Set<Listener>();
  private again = new Set<() => void>();
  private partings = new Set<PartedListener>();
  private rows: Row[] = [];
  private framed = false;
  private leads = false;
  private channel = new BroadcastChannel('witan.stream');

  constructor() {
    this.channel.onmessage = ({ data }: MessageEvent<Told>) => {
      if (this.stopper === null) return;
      if (data.ask && this.leads && this.state !== 'off') this.channel.postMessage({ state: this.state } satisfies Told);
      if (this.leads) return;
      if (data.state === 'open' || data.state === 'lost') this.heard(data.state);
      if (typeof data.data === 'string') this.add(data.data);
      if (typeof data.parted === 'string') this.part(data.parted);
    };
  }

  // `parted`: drops what is not in the ledger any more; without it the listener reads again.
  listen(rows: Listener, again: () => void, parted: PartedListener = () => again()): () => void {
    this.listeners.add(rows);
    this.again.add(again);
    this.partings.add(parted);
    return () => {
      this.listeners.delete(rows);
      this.again.delete(again);
      this.partings.delete(parted);
    };
  }

  start(): void {
    this.stop();
    this.stopper = new AbortController();
    const stop = this.stopper.signal;
    const lead = async () => {
      this.leads = !stop.aborted;
      try {
        if (this.leads) await this.run(stop);
      } finally {
        this.leads = false;
      }
    };
    this.channel.postMessage({ ask: true } satisfies Told);
    navigator.locks.request('witan.stream', { signal: stop }, lead).catch(() => {}); // stopped while another tab led
  }
  stop(): void {
    this.stopper?.abort();
    this.stopper = null;
    this.state = 'off';
  }

  // The stream opened or broke, here or in the tab that has it. Before it opened, rows went by: also those between a
  // page's first reading and the first opening, and those of a session that ended.
  private heard(state: 'open' | 'lost'): void {
    if (state === 'lost' && this.state !== 'lost') this.since = Date.now();
    const before = this.state;
    this.state = state;
    if (this.leads) this.channel.postMessage({ state } satisfies Told);
    if (state !== 'open' || before === 'open') return;
    if (before === 'lost') void learn();
    for (const one of this.again) one();
  }

  private async run(stop: AbortSignal): Promise<void> {
    let pause = 250;
    if (this.state === 'open') this.heard('lost'); // the tab that had it went away: all tabs may miss rows
    while (!stop.aborted) {
      try {
        await follow('/v1/ledger/stream', stop, () => {
          pause = 250;
          this.heard('open');
        }, (event) => {
          if (event.event === 'parted') {
            this.channel.postMessage({ parted: event.data } satisfies Told);
            this.part(event.data);
          }
          if (event.event !== 'entry') return;
          this.channel.postMessage({ data: event.data } satisfies Told);
          this.add(event.data);
        });
      } catch (error) {
        if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return;
        // A device without ledgers has no stream.
        if (error instanceof ApiError && error.status === 503 && error.message.includes('keeps no ledgers')) return;
      }
      if (stop.aborted) return;
      this.heard('lost');
      await new Promise((wake) => setTimeout(wake, pause));
      pause = Math.min(pause * 2, 8000);
    }
  }

  // What waits for the next frame came before it.
  private part(data: string): void {
    let parted: unknown;
    try {
      parted = parseJson(data);
    } catch {
      return;
    }
    if (!isParted(parted)) return;
    const at = parted;
    this.rows = this.rows.filter((row) => !takenBack(at, row));
    for (const one of this.partings) one(at);
  }

  private add(data: string): void {
    let row: unknown;
    try {
      row = parseJson(data);
    } catch {
      return;
    }
    if (!isRow(row)) return;
    this.rows.push(row);
    if (this.framed) return;
    this.framed = true;
    const work = () => {
      this.framed = false;
      const rows = this.rows;
      this.rows = [];
      const at = Date.parse(String(rows.at(-1)?.entry?.['time'] ?? ''));
      if (!Number.isNaN(at)) this.clockOff = Math.round((Date.now() - at) / 1000);
      for (const one of this.listeners) one(rows);
    };
    // A hidden tab gets no frames.
    if (document.hidden) setTimeout(work, 250);
    else requestAnimationFrame(work);
  }
}
export const live = new Live();

// Now, once a second: for ages.
class Clock {
  now = $state(Date.now());
}
export const clock = new Clock();
setInterval(() => (clock.now = Date.now()), 1000);

// "auto": as the system is.
class Theme {
  choice = $state(localStorage.getItem('witan.theme') ?? 'auto');
  set(choice: string): void {
    this.choice = choice;
    localStorage.setItem('witan.theme', choice);
    this.show();
  }
  show(): void {
    const root = document.documentElement;
    if (this.choice === 'auto') root.removeAttribute('data-theme');
    else root.setAttribute('data-theme', this.choice);
  }
}
export const theme = new Theme();
theme.show();

export function messageOf(error: unknown): { message: string; hint: string } {
  if (error instanceof ApiError && error.status === 401)
    return { message: 'the node knows no such session or token', hint: 'sign in, by a link of witan console or a token of the node' };
  if (error instanceof ApiError) return { message: error.message, hint: error.hint };
  return { message: error instanceof Error ? error.message : String(error), hint: '' };
}

// Saves a value as a JSON file on the reader's machine.
export function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
