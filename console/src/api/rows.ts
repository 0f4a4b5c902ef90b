// Entries of the ledger, as this node has them. Errors: ApiError; of entryAt also that there is none.
import { isRow, type Row } from '../lib/live.ts';
import { get } from './client.ts';

export const kMostHistory = 10_000;

// Oldest first: the newest of all, or with `after` the next ones of a partition.
export async function rowsOf(query: { domain?: string; partition?: string; entity?: string; after?: number; limit: number }): Promise<Row[]> {
  return ((await get('/v1/ledger', query as Record<string, string | number>)).entries as unknown[]).filter(isRow);
}

// From the entity's first entry on, at most kMostHistory.
export const historyOf = (partition: string, entity: string): Promise<Row[]> => rowsOf({ partition, entity, after: 0, limit: kMostHistory });

export async function entryAt(partition: string, seq: number): Promise<Row> {
  const row = (await rowsOf({ partition, after: seq - 1, limit: 1 }))[0];
  if (row?.seq !== seq) throw new Error(`there is no entry ${seq} in ${partition} on this device`);
  return row;
}
