// The official SDKs of the three wire formats against `witan model-stub`: whole and streamed, texts and tool calls.
// node sdk.mjs URL FOLDER-OF-NODE-MODULES; the stub's script has two lines: a text, then a call.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const [url, folder] = process.argv.slice(2);
const require = createRequire(folder + '/');
const OpenAI = require('openai').default;
const Anthropic = require('@anthropic-ai/sdk').default;
const { Ollama } = require('ollama');
const messages = [{ role: 'user', content: 'hello' }];
const model = 'm-1', text = 'so be it: é🐉', args = { text: 'from a model' };

async function openai(stream) {
  const client = new OpenAI({ baseURL: url + '/v1', apiKey: 'none', maxRetries: 0 });
  if (!stream) return (await client.chat.completions.create({ model, messages })).choices[0].message;
  const pieces = client.chat.completions.stream({ model, messages });
  return (await pieces.finalChatCompletion()).choices[0].message;
}

async function anthropic(stream) {
  const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });
  const asked = { model, messages, max_tokens: 100 };
  return stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
}

async function ollama(stream) {
  const client = new Ollama({ host: url });
  if (!stream) return (await client.chat({ model, messages })).message;
  const whole = { content: '', tool_calls: [] };
  for await (const piece of await client.chat({ model, messages, stream: true })) {
    whole.content += piece.message.content;
    whole.tool_calls.push(...(piece.message.tool_calls ?? []));
  }
  return whole;
}

for (const stream of [false, true]) {
  assert.equal((await openai(stream)).content, text);
  const call = (await openai(stream)).tool_calls[0].function;
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ['box__put', args]);
  assert.equal((await anthropic(stream)).content[0].text, text);
  const use = await anthropic(stream);
  assert.equal(use.stop_reason, 'tool_use');
  assert.deepEqual([use.content[0].name, use.content[0].input], ['box__put', args]);
  assert.equal((await ollama(stream)).content, text);
  const made = (await ollama(stream)).tool_calls[0].function;
  assert.deepEqual([made.name, made.arguments], ['box__put', args]);
}
console.log('ok');
