// measure.mjs URL TOKEN PID: figures of the console of a running node (docs/console.md, "Measured"), one line each. URL is
// http://HOST:PORT of the console, PID the node's process. Not a test: it asserts nothing. It proposes 200 spends of 0
// for the entity B of the domain budget, which must be there. Run it in a folder with playwright-core.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const { chromium } = createRequire(`${process.cwd()}/package.json`)('playwright-core');

const [url, token, pid] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const say = (what, ...figures) => console.log(`${what}: ${figures.join(', ')}`);
const sorted = (list) => [...list].sort((a, b) => a - b);
const at = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * share))];
const spread = (list, unit) => `p50 ${at(list, 0.5).toFixed(0)} ${unit}, p95 ${at(list, 0.95).toFixed(0)} ${unit}, most ${Math.max(...list).toFixed(0)} ${unit} (${list.length})`;
const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function open(hash, script) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  await page.addInitScript((held) => sessionStorage.setItem('witan.session', JSON.stringify({ token: held, role: 'admin', expires: '' })), token);
  if (script) await page.addInitScript(script);
  page.from = performance.now(); // an empty window is there
  await page.goto(`${url}/console/${hash}`, { waitUntil: 'commit' });
  return page;
}
const close = (page) => page.context().close();
// What a page did between frames, for a time.
const frames = (page, ms) =>
  page.evaluate((length) => new Promise((done) => {
    const times = [];
    let last = performance.now();
    const end = last + length;
    const step = (now) => {
      times.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(step);
      else done(times.slice(1));
    };
    requestAnimationFrame(step);
  }), ms);

// First page: bytes, and time until it is of use. The first opening warms the disk's cache.
const useful = (page) => page.getByText(/things? waits? for a person/).first().waitFor();
const bytes = [];
{
  const page = await (await browser.newContext()).newPage();
  page.on('requestfinished', async (request) => request.url().includes('/console/') && bytes.push((await request.sizes()).responseBodySize));
  await page.goto(`${url}/console/`);
  await page.waitForTimeout(1000);
  await close(page);
}
say('first page', `${bytes.reduce((a, b) => a + b, 0)} bytes compressed, ${bytes.length} files`);
const views = [];
for (let i = 0; i < 11; ++i) {
  const page = await open('#/inbox');
  await useful(page);
  views.push(performance.now() - page.from);
  await close(page);
}
say('first useful view', spread(views.slice(1), 'ms'));

// The ledger as it is: the newest entries of many.
const ledger = [];
for (let i = 0; i < 5; ++i) {
  const page = await open('#/ledger?domain=budget');
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  ledger.push(performance.now() - page.from);
  if (i === 4) {
    say('the ledger shows', (await page.getByText(/newest entries/).innerText()).trim());
    await page.getByRole('listbox').evaluate((box) => {
      const timer = setInterval(() => (box.scrollTop += 400), 16);
      setTimeout(() => clearInterval(timer), 4000);
    });
    say('frames while it scrolls', spread(await frames(page, 4000), 'ms'));
  }
  await close(page);
}
say('the newest entries', spread(ledger, 'ms'));

// From asking to the row on the screen, in one clock.
{
  const page = await open('#/ledger?domain=budget');
  await page.getByText('● live').waitFor();
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  const times = await page.evaluate(async (held) => {
    const list = document.querySelector('[role=listbox]');
    const times = [];
    for (let i = 0; i < 200; ++i) {
      const operationId = `measure-${Date.now()}-${i}`;
      const first = () => list.querySelector('[role=option] .entity .dim')?.textContent ?? '';
      const before = first();
      const began = performance.now();
      const answered = fetch('../v1/propose', { method: 'POST', headers: { authorization: `Bearer ${held}` }, body: JSON.stringify({ domain: 'budget', entity: 'B', role: 'A', operationId, action: { type: 'SpendA', n: 0 } }) });
      while (first() === before && performance.now() - began < 5000) await new Promise((wake) => requestAnimationFrame(wake));
      times.push(performance.now() - began);
      await answered;
    }
    return times;
  }, token);
  say('from asking to the row on the screen', spread(times, 'ms'));
  await close(page);
}

// A stream of 1,000 entries a second, made in the browser: what the page does with them.
const flood = () => {
  const real = globalThis.fetch;
  globalThis.fetch = (what, init) => {
    if (!String(what).endsWith('/v1/ledger/stream')) return real(what, init);
    let seq = 2_000_000;
    const text = new TextEncoder();
    const body = new ReadableStream({
      start(stream) {
        const began = performance.now();
        let sent = 0;
        const timer = setInterval(() => {
          let events = '';
          for (const due = performance.now() - began; sent < due; ++sent) {
            const row = { partition: 'budget/0', seq: ++seq, leafHash: String(seq), story: '', entry: { entity: 'B', tag: seq % 10 ? 'approved' : 'rejected', time: new Date().toISOString(), role: 'A', device: '', agent: '', action: { type: 'SpendA', n: seq }, invariant: '', message: '', operationId: String(seq) } };
            events += `event: entry\ndata: ${JSON.stringify(row)}\n\n`;
          }
          try {
            stream.enqueue(text.encode(events));
          } catch {
            clearInterval(timer);
          }
        }, 10);
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  };
};
for (const hash of ['#/ledger', '#/inbox', '#/playback']) {
  const page = await open(hash, flood);
  await page.getByText('● live').waitFor();
  if (hash === '#/playback') await page.getByRole('button', { name: 'Watch this node live' }).click();
  await page.waitForTimeout(3000);
  say(`frames at 1,000 entries a second, ${hash}`, spread(await frames(page, 10_000), 'ms'));
  await close(page);
}

// Fifty devices, told by a stand-in for the node.
{
  const page = await open('#/figures');
  const ids = Array.from({ length: 50 }, (_, i) => `device-${String(i).padStart(2, '0')}`);
  const real = async (path) => (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
  const [status, devices, partitions] = await Promise.all(['/v1/status', '/v1/devices', '/v1/partitions'].map(real));
  const [self] = devices.devices;
  const rows = ids.map((device, i) => (i === 0 ? { ...self, this: true } : { ...self, device, name: device, this: false }));
  const peers = ids.slice(1).map((device, i) => ({ ...{ address: '', bytesIn: 0, bytesOut: 0, queuedBytes: 0, inSync: true, cut: i % 11 === 3, connected: i % 11 !== 3 }, device, name: device, seconds: 100 }));
  const many = Array.from({ length: 400 }, (_, i) => ({ ...partitions.partitions[0], partition: `budget/${i}`, owner: ids[i % 50], ownerName: ids[i % 50], entries: 1000, here: false, ownerConnected: true }));
  await page.route('**/v1/status', (route) => route.fulfill({ json: status }));
  await page.route('**/v1/devices', (route) => route.fulfill({ json: { ...devices, devices: rows } }));
  await page.route('**/v1/peers', (route) => route.fulfill({ json: { peers } }));
  await page.route('**/v1/partitions', (route) => route.fulfill({ json: { partitions: many } }));
  const from = performance.now();
  await page.goto(`${url}/console/#/cluster`);
  await page.getByRole('row', { name: /^device-49/ }).waitFor();
  const took = performance.now() - from;
  say('fifty devices, 400 partitions', `shown after ${took.toFixed(0)} ms`, `frames ${spread(await frames(page, 7000), 'ms')}`);
  if (process.env.PICTURE) await page.screenshot({ path: process.env.PICTURE });
  await close(page);
}

// The node's memory with ten consoles.
await new Promise((wake) => setTimeout(wake, 3000));
const before = rss();
const pages = [];
for (let i = 0; i < 10; ++i) pages.push(await open(['#/ledger', '#/inbox', '#/cluster', '#/figures', '#/agents'][i % 5]));
await new Promise((wake) => setTimeout(wake, 15_000));
say('memory of the node', `${before.toFixed(1)} MiB`, `with ten consoles ${rss().toFixed(1)} MiB`);
await browser.close();
