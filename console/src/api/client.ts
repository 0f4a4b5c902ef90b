// Requests to the node that served this page, with the types of its OpenAPI document. Answers are bounded in time and
// size. Errors are ApiError; a token that no longer counts also calls `onSignedOut`.
import { parseJson, type Json } from '../lib/json.ts';
import { EventParser, type ServerEvent } from '../lib/sse.ts';
import type { components, paths } from './openapi.js';

export type Schemas = components['schemas'];
type Answer<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Body } } } }
  ? Body
  : never;
type Asked<Operation> = Operation extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body : never;
type Gets = { [P in keyof paths]: paths[P] extends { get: object } ? P : never }[keyof paths];
type Posts = { [P in keyof paths]: paths[P] extends { post: object } ? P : never }[keyof paths];
export type GetAnswer<P extends Gets> = paths[P] extends { get: infer Operation } ? Answer<Operation> : never;
export type PostAnswer<P extends Posts> = paths[P] extends { post: infer Operation } ? Answer<Operation> : never;
export type PostBody<P extends Posts> = paths[P] extends { post: infer Operation } ? Asked<Operation> : never;

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer came
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

const kMostBytes = 64 << 20;
const kPatienceMs = 30_000;
const kDecisionPatienceMs = 125_000;
const kQuietMs = 45_000; // a stream says something every 15 s

// "/some/prefix/console/" -> "/some/prefix".
const base = new URL('..', document.baseURI).pathname.replace(/\/$/, '');

export const access = {
  token: '',
  onSignedOut: (): void => {},
};

async function textOf(response: Response): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > kMostBytes)
    throw new ApiError(response.status, 'tooLarge', 'the answer is larger than 64 MiB', 'ask for less');
  return response.text();
}

async function call(path: string, init: RequestInit, patienceMs: number): Promise<Response> {
  try {
    return await fetch(base + path, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
      headers: { ...init.headers, ...(access.token ? { authorization: `Bearer ${access.token}` } : {}) },
    });
  } catch (error) {
    const slow = error instanceof DOMException && error.name === 'TimeoutError';
    throw new ApiError(0, 'unreachable', slow ? 'the node did not answer in time' : 'the node cannot be reached', 'is it up?');
  }
}

async function refusal(response: Response): Promise<ApiError> {
  let code = 'failed';
  let message = `the node answered ${response.status}`;
  let hint = '';
  try {
    const body = JSON.parse(await textOf(response)) as { error?: { code?: unknown; message?: unknown; hint?: unknown } };
    if (typeof body.error?.code === 'string') code = body.error.code;
    if (typeof body.error?.message === 'string') message = body.error.message;
    if (typeof body.error?.hint === 'string') hint = body.error.hint;
  } catch {
    // A proxy's page is no answer of the node; its status is told.
  }
  if (response.status === 401) access.onSignedOut();
  return new ApiError(response.status, code, message, hint);
}

export async function getText(path: string): Promise<string> {
  const response = await call(path, {}, kPatienceMs);
  if (!response.ok) throw await refusal(response);
  return textOf(response);
}

export async function get<P extends Gets>(path: P, query: Record<string, string | number | bigint | boolean | undefined> = {}): Promise<GetAnswer<P>> {
  const search = new URLSearchParams();
  let full: string = path;
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    if (full.includes(`{${name}}`)) full = full.replace(`{${name}}`, encodeURIComponent(String(value)));
    else search.set(name, String(value));
  }
  const text = await getText(full + (search.size > 0 ? `?${search}` : ''));
  return parseJson(text) as unknown as GetAnswer<P>;
}

export async function post<P extends Posts>(path: P, body: PostBody<P>): Promise<PostAnswer<P>> {
  return (await send(path, body)) as unknown as PostAnswer<P>;
}

// To a path that the node itself named.
export async function send(path: string, body: unknown): Promise<Json> {
  if (!/^\/v1\/[a-z/]+$/.test(path)) throw new ApiError(0, 'invalid', 'the node named a path that is none of its API', '');
  const response = await call(
    path,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: stringify(body) },
    kDecisionPatienceMs,
  );
  if (!response.ok) throw await refusal(response);
  return parseJson(await textOf(response));
}

function stringify(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([name, one]) => `${JSON.stringify(name)}:${stringify(one)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}

// Events until the stream ends; returns then. Throws ApiError.
export async function follow(path: string, stop: AbortSignal, onOpen: () => void, onEvent: (event: ServerEvent) => void): Promise<void> {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), kQuietMs);
  const signal = AbortSignal.any([stop, quiet.signal]);
  try {
    const response = await fetch(base + path, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal,
      headers: { authorization: `Bearer ${access.token}` },
    });
    if (!response.ok) throw await refusal(response);
    if (!response.body) return;
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), kQuietMs);
      for (const event of parser.push(value)) onEvent(event);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (stop.aborted) return;
    throw new ApiError(0, 'unreachable', 'the stream broke', '');
  } finally {
    clearTimeout(timer);
  }
}

export type { Json };
