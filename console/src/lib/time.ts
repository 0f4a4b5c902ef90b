// Moments: the API has RFC 3339 in UTC with microseconds; people see the zone of their browser. Pure functions.

import { plain } from './text.ts';

// Microseconds since 1970; null: it is no time.
export function parseTime(text: string): bigint | null {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text);
  if (!parts) return null;
  const ms = Date.parse(parts[1] + 'Z');
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000n + BigInt((parts[2] ?? '').padEnd(6, '0'));
}

export const kZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }); // with the zone
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

export function showTime(time: string | number, brief = false): string {
  const ms = typeof time === 'number' ? time : Date.parse(time);
  if (Number.isNaN(ms)) return plain(String(time), 40);
  return (brief ? short : full).format(ms);
}

export function showAge(seconds: number): string {
  const size = Math.abs(seconds);
  const [number, unit] =
    size < 60 ? [size, 's'] : size < 3600 ? [size / 60, 'min'] : size < 172800 ? [size / 3600, 'h'] : [size / 86400, 'days'];
  return `${Math.floor(number)} ${unit}`;
}

export function ageOf(time: string | number, nowMs: number): string {
  const ms = typeof time === 'number' ? time : Date.parse(time);
  return Number.isNaN(ms) ? '' : showAge((nowMs - ms) / 1000);
}

// "00:01:02.345678" of simulated microseconds, as `witan sim replay --text` prints it.
export function simTime(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(Math.floor(micros % 1e6)).padStart(6, '0')}`;
}
