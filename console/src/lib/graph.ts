// A graph of episodes as a drawing, and a run folded from its entries: where each message is. The document and the
// entries are of people and agents: everything is checked and bounded. Pure functions.
import type { Schemas } from '../api/client.ts';
import { isObject, type Json } from './json.ts';

export interface GraphNode {
  id: string;
  kind: string;
  words: string; // what stands behind the kind: an agent, a function, a domain
  x: number;
  y: number;
}
export interface GraphEdge {
  name: string;
  from: string;
  to: string;
  type: string;
  guard: string;
  path: string;
  labelX: number;
  labelY: number;
}
export interface Drawing {
  id: string;
  version: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
}

export const kNode = { width: 150, height: 54 };
const kGap = { x: 90, y: 28 };
const kMostNodes = 512;
const kMostEdges = 2048;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'bigint' ? String(value) : '');
const listOf = (value: Json | undefined): { [name: string]: Json }[] => (Array.isArray(value) ? value.filter(isObject) : []);

// Layers: each node right of those that lead to it, but for edges that close a cycle.
function layersOf(ids: string[], edges: { from: string; to: string }[]): Map<string, number> {
  const out = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const edge of edges) out.get(edge.from)?.push(edge.to);
  const state = new Map<string, 'open' | 'done'>();
  const order: string[] = [];
  const back = new Set<string>();
  for (const first of ids) {
    if (state.has(first)) continue;
    const stack: { id: string; next: number }[] = [{ id: first, next: 0 }];
    state.set(first, 'open');
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const to = out.get(top.id)![top.next++];
      if (to === undefined) {
        state.set(top.id, 'done');
        order.push(top.id);
        stack.pop();
      } else if (!out.has(to)) continue;
      else if (state.get(to) === 'open') back.add(`${top.id}\u0000${to}`);
      else if (!state.has(to)) {
        state.set(to, 'open');
        stack.push({ id: to, next: 0 });
      }
    }
  }
  const layer = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const id of order.reverse())
    for (const to of out.get(id)!)
      if (layer.has(to) && !back.has(`${id}\u0000${to}`)) layer.set(to, Math.max(layer.get(to)!, layer.get(id)! + 1));
  return layer;
}

// Throws if the document has no nodes.
export function draw(document: Json): Drawing {
  if (!isObject(document)) throw new Error('the document is no object');
  const head = isObject(document['graph']) ? document['graph'] : {};
  const nodes = listOf(document['node']).slice(0, kMostNodes);
  const edges = listOf(document['edge'])
    .slice(0, kMostEdges)
    .map((edge) => ({ from: textOf(edge['from']), to: textOf(edge['to']), type: textOf(edge['type']), guard: isObject(edge['guard']) ? Object.entries(edge['guard']).map(([name, value]) => `${name} ${textOf(value)}`).join(', ') : '' }));
  if (nodes.length === 0) throw new Error('the document has no nodes');
  const ids = nodes.map((node) => textOf(node['id']));
  const layer = layersOf(ids, edges);
  const columns: string[][] = [];
  for (const id of ids) (columns[layer.get(id)!] ??= []).push(id);
  const tallest = Math.max(...columns.map((column) => column?.length ?? 0));
  const place = new Map<string, { x: number; y: number }>();
  // Within a column by the mean height of those that lead to it, so that few lines cross.
  for (const [x, column] of columns.entries()) {
    if (!column) continue;
    const mean = (id: string): number => {
      const heights = edges.filter((edge) => edge.to === id && place.has(edge.from)).map((edge) => place.get(edge.from)!.y);
      return heights.length === 0 ? 0 : heights.reduce((a, b) => a + b, 0) / heights.length;
    };
    const means = new Map(column.map((id) => [id, mean(id)]));
    column.sort((a, b) => means.get(a)! - means.get(b)!);
    const above = ((tallest - column.length) * (kNode.height + kGap.y)) / 2;
    for (const [y, id] of column.entries())
      place.set(id, { x: 10 + x * (kNode.width + kGap.x), y: 30 + above + y * (kNode.height + kGap.y) });
  }
  const height = 60 + tallest * (kNode.height + kGap.y);
  return {
    id: textOf(head['id']),
    version: textOf(head['version']),
    width: 20 + columns.length * (kNode.width + kGap.x) - kGap.x,
    height,
    nodes: nodes.map((node, i) => ({
      id: ids[i]!,
      kind: textOf(node['kind']),
      words: ['agent', 'function', 'domain', 'graph', 'capability'].map((name) => textOf(node[name])).filter(Boolean).join(' ') || (isObject(node['sink']) ? textOf(node['sink']['tool']) : ''),
      ...place.get(ids[i]!)!,
    })),
    edges: edges
      .filter((edge) => place.has(edge.from) && place.has(edge.to))
      .map((edge) => {
        const [a, b] = [place.get(edge.from)!, place.get(edge.to)!];
        const [x1, y1, x2, y2] = [a.x + kNode.width, a.y + kNode.height / 2, b.x, b.y + kNode.height / 2];
        const name = `${edge.from}>${edge.to}:${edge.type}`;
        if (b.x <= a.x) {
          // Back, over the top.
          const top = Math.min(a.y, b.y) - 18;
          return { ...edge, name, path: `M${a.x + kNode.width / 2},${a.y} C${a.x + kNode.width / 2},${top} ${b.x + kNode.width / 2},${top} ${b.x + kNode.width / 2},${b.y}`, labelX: (a.x + b.x + kNode.width) / 2, labelY: top + 4 };
        }
        if (layer.get(edge.to)! - layer.get(edge.from)! > 1) {
          // Below what stands between.
          const low = (y1 + y2) / 2 + kNode.height + kGap.y;
          return { ...edge, name, path: `M${x1},${y1} C${x1 + kGap.x},${low} ${x2 - kGap.x},${low} ${x2},${y2}`, labelX: (x1 + x2) / 2, labelY: (y1 + y2) / 8 + low * 0.75 - 5 };
        }
        const bend = (x2 - x1) / 2;
        return { ...edge, name, path: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, labelX: (x1 + x2) / 2, labelY: (y1 + y2) / 2 - 5 };
      }),
  };
}

export type MessageState = 'waits' | 'runs' | 'asks' | 'retries' | 'done' | 'dead';
export interface RunMessage {
  id: string;
  node: string;
  edge: string;
  key: string;
  digest: string;
  span: string;
  state: MessageState;
  attempts: number;
  why: string; // of a failure, or a question
}
export interface Folded {
  messages: RunMessage[];
  edges: Map<string, number>; // how many went over each
  verdicts: Map<string, string[]>; // by node: denied, redacted
  answers: { node: string; by: string; approve: boolean; seq: number }[];
}

// From the entries of a run, in their order.
export function fold(steps: Schemas['StepRow'][]): Folded {
  const messages = new Map<string, RunMessage>();
  const spans = new Map<string, string>();
  const folded: Folded = { messages: [], edges: new Map(), verdicts: new Map(), answers: [] };
  const message = (id: string, node: string): RunMessage => {
    let known = messages.get(id);
    if (!known) messages.set(id, (known = { id, node, edge: '', key: '', digest: '', span: '', state: 'waits', attempts: 0, why: '' }));
    return known;
  };
  const bySpan = (span: string): RunMessage | undefined => messages.get(spans.get(span) ?? '');
  for (const step of steps) {
    const action = step.action as Json;
    if (!isObject(action)) continue;
    const [type, node, span] = [textOf(action['type']), textOf(action['node']), textOf(action['span'])];
    for (const lost of listOf(action['dead'])) {
      const one = message(textOf(lost['message']), textOf(lost['node']));
      one.state = 'dead';
      one.why = textOf(lost['reason']);
    }
    if (type === 'Begin') {
      const one = message(textOf(action['message']), node);
      [one.key, one.digest] = [textOf(action['key']), textOf(action['digest'])];
    } else if (type === 'Deliver') {
      const one = message(textOf(action['message']), node);
      one.span = span;
      one.state = 'runs';
      one.attempts = Number(action['attempt'] ?? 1);
      spans.set(span, one.id);
    } else if (type === 'Resume') {
      const one = bySpan(span);
      if (one) [one.state, one.attempts] = ['runs', Number(action['attempt'] ?? one.attempts)];
    } else if (type === 'Ask') {
      const one = bySpan(span);
      if (one) [one.state, one.why] = ['asks', textOf(action['why'])];
    } else if (type === 'Answer') {
      const one = bySpan(span);
      if (one) one.state = 'runs';
      folded.answers.push({ node, by: textOf(action['by']), approve: action['approve'] === true, seq: Number(step.seq) });
    } else if (type === 'Verdict' && textOf(action['verdict']) !== 'allow') {
      folded.verdicts.set(node, [...(folded.verdicts.get(node) ?? []), textOf(action['verdict'])]);
    } else if (type === 'Finish') {
      const one = bySpan(span);
      if (one) one.state = 'done';
      for (const send of listOf(action['sends'])) {
        const edge = textOf(send['edge']);
        folded.edges.set(edge, (folded.edges.get(edge) ?? 0) + 1);
        if (send['duplicate'] === true) continue;
        const made = message(textOf(send['message']), textOf(send['node']));
        [made.edge, made.key, made.digest] = [edge, textOf(send['key']), textOf(send['digest'])];
      }
    } else if (type === 'Fail') {
      const one = bySpan(span);
      if (one) {
        one.why = textOf(action['why']);
        one.state = action['retryAtMs'] === null || action['retryAtMs'] === undefined ? 'dead' : 'retries';
      }
    }
  }
  folded.messages = [...messages.values()];
  return folded;
}

const kOrder: MessageState[] = ['asks', 'dead', 'retries', 'runs', 'waits', 'done'];
export const kSigns: Record<MessageState, { sign: string; word: string; kind: string }> = {
  asks: { sign: '?', word: 'asks a person', kind: 'warn' },
  dead: { sign: '✕', word: 'dead', kind: 'bad' },
  retries: { sign: '↻', word: 'tries again', kind: 'warn' },
  runs: { sign: '▸', word: 'runs', kind: 'run' },
  waits: { sign: '…', word: 'waits', kind: 'dim' },
  done: { sign: '✓', word: 'done', kind: 'good' },
};

export interface NodeState {
  state: MessageState | '';
  words: string;
}
// What a node shows: the most pressing of its messages.
export function nodeState(folded: Folded, node: string): NodeState {
  const here = folded.messages.filter((one) => one.node === node);
  const counts = kOrder.map((state) => [state, here.filter((one) => one.state === state).length] as const).filter(([, count]) => count > 0);
  return { state: counts[0]?.[0] ?? '', words: counts.map(([state, count]) => `${count} ${kSigns[state].word}`).join(', ') };
}
