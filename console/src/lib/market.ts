// Contracts of the market: as their escrow has them, from the state of an entity of the domain `escrow`, and as buyer and
// seller see them. Pure functions.
import type { Schemas } from '../api/client.ts';
import type { State } from './fields.ts';
import { isObject, type Json } from './json.ts';
import { plain } from './text.ts';

export type CallState = 'reserved' | 'declined' | 'delivered' | 'disputed' | 'ruled' | 'released' | 'refunded';
export interface Call {
  call: string;
  state: CallState;
  amount: bigint;
  held: bigint;
  charge: bigint | null; // as delivered
  seller: bigint | null; // as settled
  buyer: bigint | null;
  ruling: bigint | null;
  reservedAt: string;
  due: string; // when the next step is due; "": none is
  reason: string;
  asks: boolean; // a person is asked to rule
}
export interface Money {
  currency: string;
  deposited: bigint;
  held: bigint;
  buyerFree: bigint;
  sellerFree: bigint;
  paidOut: bigint;
}
export interface Contract extends Money {
  buyer: string;
  seller: string;
  phase: 'asked for' | 'open' | 'stopped' | 'closed';
  capability: string;
  total: bigint;
  calls: bigint; // as many as were agreed
  expiry: string;
  list: Call[];
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const number = (value: Json | undefined): bigint => (typeof value === 'bigint' ? value : typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : 0n);
const cell = (state: State, field: string, key: string): Json | undefined => {
  const row = state[field];
  return isObject(row) ? row[key] : undefined;
};
function factOf(state: State, log: string, call: string): { [name: string]: Json } | undefined {
  const rows = state[log];
  if (!isObject(rows)) return undefined;
  return Object.values(rows).filter(isObject).find((one) => one['call'] === call);
}

function callOf(state: State, call: string): Call {
  const at = (field: string) => cell(state, `call.${field}`, call);
  const [delivered, settled] = [factOf(state, 'delivery.log', call), factOf(state, 'settle.log', call)];
  const has = (field: string) => text(at(field)) !== '';
  const ruled = at('ruling') !== undefined && at('ruling') !== null;
  const made: Call = {
    call,
    state: settled ? (number(settled['seller']) !== 0n ? 'released' : 'refunded') : ruled ? 'ruled' : has('disputedAt') ? 'disputed' : delivered ? 'delivered' : has('declinedAt') ? 'declined' : 'reserved',
    amount: number(at('amount')),
    held: settled ? 0n : number(at('held')),
    charge: delivered ? number(delivered['charge']) : null,
    seller: settled ? number(settled['seller']) : null,
    buyer: settled ? number(settled['buyer']) : null,
    ruling: ruled ? number(at('ruling')) : null,
    reservedAt: text(at('reservedAt')),
    due: '',
    reason: text(at('reason')),
    asks: !ruled && has('requestedAt'),
  };
  if (made.state === 'reserved') made.due = text(at('deliverBy'));
  if (made.state === 'delivered') {
    const end = Date.parse(text(delivered?.['at'])) + Number(number(state['terms.disputeWindowSeconds'])) * 1000;
    if (!Number.isNaN(end)) made.due = new Date(end).toISOString();
  }
  return made;
}

export function contractOf(state: State): Contract {
  const amounts = state['call.amount'];
  const list = (isObject(amounts) ? Object.keys(amounts) : []).map((call) => callOf(state, call));
  const capability = state['terms.capability'];
  return {
    buyer: text(state['party.buyer']),
    seller: text(state['party.seller']),
    phase: text(state['contract.closedAt']) ? 'closed' : text(state['contract.stoppedAt']) ? 'stopped' : text(state['contract.openedAt']) ? 'open' : 'asked for',
    currency: text(state['terms.currency']),
    capability: isObject(capability) ? `${text(capability['graph'])} ${String(capability['version'] ?? '')}` : '',
    total: number(state['terms.total']),
    calls: number(state['terms.calls']),
    expiry: text(state['terms.expiry']),
    deposited: number(state['money.deposited']),
    held: list.reduce((sum, one) => sum + one.held, 0n),
    buyerFree: number(state['money.buyer']),
    sellerFree: number(state['money.seller']),
    paidOut: number(state['money.paidBuyer']) + number(state['money.paidSeller']),
    list,
  };
}

// What came in is somewhere: held for a call, free for a party, or paid out.
export const isConserved = (one: Money): boolean => one.deposited === one.held + one.buyerFree + one.sellerFree + one.paidOut;

// What the holder of the money answers to a party. Null: nothing of this contract.
export function moneyOf(answer: Json, currency: string): Money | null {
  if (!isObject(answer) || answer['deposited'] === undefined) return null;
  const at = (name: string) => number(answer[name]);
  return { currency, deposited: at('deposited'), held: at('held'), buyerFree: at('buyer'), sellerFree: at('seller'), paidOut: at('paidBuyer') + at('paidSeller') };
}

type CallRow = Schemas['CallRow'];
const kSteps: Record<string, string> = {
  reserve: 'the money is asked to be held', order: 'ordered, not yet taken', await: 'the seller works', review: 'delivered: you accept or dispute it', accept: 'accepted, to be entered', dispute: 'disputed, to be entered',
  reclaim: 'reclaimed, to be entered', check: 'the money is looked for', run: 'works', record: 'delivered, to be recorded', deliver: 'to be delivered', window: 'delivered, may be disputed', claim: 'claimed, to be entered', decline: 'declined, to be entered',
};
export const callWords = (call: CallRow): string => call.end || (kSteps[call.step] ?? call.step);

export interface Act {
  act: Schemas['ActRequest']['act'];
  word: string;
  effect: string;
}
// What a person may say of a call. `partner`: the other side; `state`: as the holder says it, who decides whether its
// time has come.
export function actsOn(call: CallRow, partner: string, state: string): Act[] {
  if (['RELEASED', 'REFUNDED'].includes(state)) return [];
  const who = plain(partner, 60);
  if (call.side === 'sold')
    return call.step === 'window' ? [{ act: 'claim', word: 'Claim', effect: `The holder pays you the charge, or what was ruled. Before the window for disputes ends it refuses, unless ${who} has accepted.` }] : [];
  if (call.step === 'review')
    return [
      { act: 'accept', word: 'Accept', effect: `The charge goes to ${who}, the rest comes back.` },
      { act: 'dispute', word: 'Dispute', effect: 'The money stays held until an arbiter of the holder has ruled, or it is reclaimed.' },
    ];
  return call.step === 'await' ? [{ act: 'reclaim', word: 'Reclaim', effect: `The money comes back, if ${who} has declined or is late: else it is refused.` }] : [];
}
