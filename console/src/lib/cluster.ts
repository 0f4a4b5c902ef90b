// The cluster as one device sees it: links, lag, owners, and what a step would lead to. Pure functions.
import type { Schemas } from '../api/client.ts';
import { plural } from './text.ts';

type Peer = Schemas['PeerRow'];
type Partition = Schemas['PartitionRow'];

export interface LinkState {
  word: 'connected' | 'relayed' | 'cut' | 'away';
  sign: string;
  kind: 'good' | 'warn' | 'bad';
}

export function linkState(peer: Peer): LinkState {
  if (peer.cut) return { word: 'cut', sign: '✂', kind: 'bad' };
  if (!peer.connected) return { word: 'away', sign: '○', kind: 'bad' };
  return peer.via ? { word: 'relayed', sign: '↝', kind: 'warn' } : { word: 'connected', sign: '●', kind: 'good' };
}

// Commits of replicated data that each device lacks, as far as this one knows.
export function lagOf(status: Schemas['SyncStatus']): Map<string, number> {
  const lag = new Map<string, number>();
  for (const space of status.spaces)
    for (const peer of space.peers) lag.set(peer.device, (lag.get(peer.device) ?? 0) + Number(peer.lacks));
  return lag;
}

// How far others vouch for a copy.
export function witnessOf(partition: Partition, names: (device: string) => string): { kind: string; words: string } {
  const entries = Number(partition.entries ?? 0);
  if (partition.entries === undefined || entries === 0) return { kind: 'dim', words: '' };
  if (partition.witnessed === undefined) return { kind: 'warn', words: '! unwitnessed' };
  const by = (partition.witnesses ?? []).map(names).join(', ');
  const open = entries - Number(partition.witnessed);
  return open > 0 ? { kind: '', words: `${partition.witnessed} of ${entries}, by ${by}` } : { kind: 'good', words: `✓ all, by ${by}` };
}
export function witnessedOnlyBy(partitions: Partition[], device: string): string[] {
  return partitions.filter((one) => one.here === true && one.witnesses?.length === 1 && one.witnesses[0] === device).map((one) => one.partition);
}

export function ownedBy(partitions: Partition[], device: string): string[] {
  return partitions.filter((one) => one.owner === device).map((one) => one.partition);
}

// "udt/0 to udt/7, budget/3": runs of numbers in one word.
export function inRuns(ids: string[]): string {
  const byDomain = new Map<string, number[]>();
  for (const id of ids) {
    const slash = id.lastIndexOf('/');
    const list = byDomain.get(id.slice(0, slash)) ?? [];
    list.push(Number(id.slice(slash + 1)));
    byDomain.set(id.slice(0, slash), list);
  }
  const words: string[] = [];
  for (const [domain, numbers] of byDomain) {
    numbers.sort((a, b) => a - b);
    for (let i = 0; i < numbers.length; ) {
      let end = i;
      while (end + 1 < numbers.length && numbers[end + 1] === numbers[end]! + 1) ++end;
      words.push(end > i + 1 ? `${domain}/${numbers[i]} to ${domain}/${numbers[end]}` : numbers.slice(i, end + 1).map((n) => `${domain}/${n}`).join(', '));
      i = end + 1;
    }
  }
  return words.join(', ');
}

// What follows from a step, in words, from what this device knows.
export function whenRevoked(name: string, owned: string[], alone: string[]): string[] {
  return [
    `${name} loses its links as soon as the others hear of it. It cannot join again with this key.`,
    owned.length > 0
      ? `No member decides for ${inRuns(owned)} any more, until one of the others seizes them.`
      : `${name} owns no partition: all others keep deciding.`,
    ...(alone.length > 0 ? [`${name} is the only device that has cosigned ${inRuns(alone)}. Until another one does, nobody outside of this device's disk vouches for them.`] : []),
    `What ${name} has received stays with it.`,
  ];
}

export function whenMoved(partition: Partition, to: string): string[] {
  return [
    `${to} decides for ${partition.partition} from then on. This device follows.`,
    'Nothing is lost: the log ends here with the handover and goes on there.',
    `If ${to} goes away, proposals for ${partition.partition} wait for it.`,
  ];
}

export function whenSeized(partition: Partition): string[] {
  const owner = partition.ownerName ?? partition.owner ?? '';
  const lacks = Number(partition.witnessed ?? 0) - Number(partition.entries ?? 0);
  return [
    `This device decides for ${partition.partition} from then on, in epoch ${Number(partition.epoch ?? 0) + 1}.`,
    `Its copy stands: ${partition.entries ?? 0} entries. Entries that only ${owner || 'the owner'} has are taken out of the ledger when it returns, kept aside and reported as an incident.`,
    ...(lacks > 0 ? [`Others have signed ${plural(lacks, 'entry', 'entries')} more than this copy has: those would be lost. Seize on a device that has them.`] : []),
    partition.ownerConnected
      ? `${owner} is connected: this node will refuse, and ${owner} should hand the partition over.`
      : `${owner || 'The owner'} is not connected. This node refuses if a connected device has more of the log.`,
  ];
}

// Points of a ring, the first one on top.
export function ring(count: number, radius: number, middle: number): { x: number; y: number }[] {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return { x: middle + radius * Math.cos(angle), y: middle + radius * Math.sin(angle) };
  });
}
