// story.mjs URL LINK OBSERVER_LINK TOKEN GRAPHS_LINK FOLDER PROGRAM: the console in Debian's Chromium against live nodes that
// tests/console/story.sh has begun: David's relapse is answered and signed, his second test refused, its proof checked; a
// device joins, is cut off, healed, given a partition, lost and revoked. At a second node a doctor answers a run of a
// graph. Three others are organisations that buy, sell and hold money.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { chromium } from 'playwright-core';
import { everyTextIs, rawTexts } from './hostile.mjs';
import { playMarket } from './market.mjs';
import { behindPrefix } from './prefix.mjs';
import { playTrial } from './trial.mjs';

const [url, link, observerLink, token, graphsLink, folder, program] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const today = new Date().toISOString().slice(0, 10);
let step = 'start';
const say = (words) => console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s: ${(step = words)}`);
const begun = Date.now();

async function api(path, body) {
  const answer = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const made = await answer.json();
  assert(answer.ok, `${path}: ${JSON.stringify(made)}`);
  return made;
}
async function until(so) {
  const end = Date.now() + 90_000;
  while (!(await so())) await new Promise((wake, fail) => setTimeout(Date.now() < end ? wake : fail, 50, `not within 90 s: ${so}`));
}
const propose = (role, action) => api('/v1/propose', { domain: 'udt', entity: 'David', role, action });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const problems = [];
async function open(options = {}, at = url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(90_000); // three tests may share two slow cores
  const page = await context.newPage();
  page.on('console', (message) => {
    const refused = step.startsWith('hostile') ? /status of 4\d\d/ : /status of (401|403|404|409)/; // what it asks is hostile then, too
    const died = step.startsWith('trial: a session') && /ERR_(INCOMPLETE|CONNECTION)/.test(message.text());
    if (message.type() === 'error' && !died && !refused.test(message.text())) problems.push(`${step}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${step}: ${error}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(at) && !request.url().startsWith('blob:')) problems.push(`${step}: a request to ${request.url()}`);
  });
  return page;
}
// Somebody else, with a browser of their own.
async function signedIn(name, at = url) {
  const page = await open({}, at);
  await page.addInitScript(([held, who]) => {
    sessionStorage.setItem('witan.session', held);
    localStorage.setItem('witan.counselor', who);
  }, [JSON.stringify({ token, role: 'admin', expires: '' }), name]);
  return page;
}
mkdirSync(`${folder}/docs`, { recursive: true });
// A picture for docs/console/: small, and of what a reader sees first.
async function pictured(page, name) {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 1100, height: 720 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: `${folder}/docs/${name}.png` });
  await page.setViewportSize(size);
}
async function checked(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  if ((await page.evaluate(() => document.getAnimations().length)) > 0) problems.push(`${step}: something moves, although the reader wants no motion`);
  for (const one of found.violations) problems.push(`${step}: axe ${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(' | ')}`);
  await page.screenshot({ path: `${folder}/${name}.png` });
}
const entries = (page) => page.getByRole('listbox', { name: /Entries/ }).getByRole('option');
async function fits(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) problems.push(`${step}: the page is ${wide} px wider than the window at ${page.viewportSize().width} px`);
}

try {
  say('a one-time link signs in, once');
  const graphsUrl = graphsLink.slice(0, graphsLink.indexOf('/console/'));
  const ward = await open({}, graphsUrl); // now: links end after two minutes
  await ward.goto(graphsLink);
  const observer = await open({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
  await observer.goto(observerLink);
  const page = await open();
  const from = Date.now();
  await page.goto(link);
  await page.getByText('1 thing waits for a person').waitFor();
  console.log(`   the first useful view came after ${Date.now() - from} ms`);
  assert(!page.url().includes('code='), 'the code is still in the address');
  const other = await open();
  await other.goto(link);
  await other.getByText('used already').waitFor();
  await checked(other, 'sign-in');
  await other.context().close();

  say('the inbox shows what waits');
  await page.getByRole('listbox', { name: /What waits/ }).press('ArrowDown');
  await page.getByRole('listbox', { name: /What waits/ }).press('Enter');
  await page.getByText('the positive result of order O2 has no human response yet').last().waitFor();
  const rule = page.getByRole('row', { name: /UDT_RELAPSE_RESPONSE/ }).last();
  await page.getByText('Open your key, above: answers for udt are signed.').waitFor();
  await checked(page, 'inbox');
  assert.equal(await rule.getByText('✓ passes').count(), 1, 'only a rejection keeps the rule');

  say('a key comes from its file and says whose it is; another passphrase opens nothing');
  const openKey = async (words) => {
    const box = page.getByRole('dialog', { name: 'Open your key' });
    if (!(await box.isVisible())) await page.getByRole('button', { name: 'Open your key…' }).click();
    await box.getByLabel(/File with your key/).setInputFiles(`${folder}/dr.person.pem`);
    await box.getByLabel('Passphrase').fill(words);
    await box.getByRole('button', { name: 'Open', exact: true }).click();
    return box;
  };
  await (await openKey('wrong horse battery')).getByText('the passphrase does not open the key').waitFor();
  await checked(page, 'key');
  await openKey('right horse battery');
  await page.getByText('dr.supervising signs').waitFor();
  assert.equal(await page.getByLabel('You are').inputValue(), 'dr.supervising');

  say('two people at once see each other');
  const nurse = await signedIn('nurse');
  await nurse.goto(`${url}/console/#/inbox`);
  await nurse.getByText('dr.supervising is at this').or(nurse.getByText('dr.supervising is at it')).first().waitFor();
  assert.equal(await nurse.getByRole('button', { name: 'Answer it all the same' }).count(), 0, 'a nurse may not answer it');
  await nurse.getByLabel('You are').selectOption('dr.supervising');
  await nurse.getByRole('button', { name: 'Answer it all the same' }).click();
  await page.getByText('dr.supervising, in another window, is at this').waitFor();
  await checked(page, 'inbox-claimed');
  await nurse.context().close();
  await page.getByRole('button', { name: 'Answer it all the same' }).click();
  await page.getByText('in another window, is at this').waitFor({ state: 'detached' });

  say('an unsafe commit wants a reason and the name typed');
  await page.getByRole('radio', { name: /Accept as proposed/ }).check();
  await page.getByText('this commit breaks a rule').waitFor();
  const unsafe = page.getByRole('button', { name: 'Sign and commit, although unsafe' });
  assert(await unsafe.isDisabled());
  await page.getByLabel('Reason').fill('seen today');
  assert(await unsafe.isDisabled());
  await page.getByLabel(/type the name of the entity/).fill('David');
  await until(async () => !(await unsafe.isDisabled()));

  say('the form begins with what counselors alone write; the plan makes it safe');
  await page.getByRole('radio', { name: /Accept, with your answer/ }).check();
  assert.equal(await page.getByLabel('Field', { exact: true }).inputValue(), 'relapse.response');
  assert.equal(await page.getByRole('combobox', { name: 'Record' }).inputValue(), 'O2');
  assert.equal(await page.getByLabel(/^counselor/).count(), 0); // the kernel writes who and when
  await page.getByLabel(/^plan/).fill('increase monitoring');
  await page.getByText('Preview: every rule passes.').waitFor();
  await checked(page, 'inbox-edit');
  await pictured(page, 'inbox');

  say('nothing is signed but what waits, and no answer counts that was not signed so');
  const sign = page.getByRole('button', { name: 'Sign and accept with your answer' });
  await page.route('**/v1/ledger/proof?*', async (route) => route.fulfill({ response: await route.fetch({ url: route.request().url().replace(/seq=\d+/, 'seq=1') }) }));
  await sign.click();
  await page.getByText('nothing was signed: the entry that waits has another digest').waitFor();
  await page.unroute('**/v1/ledger/proof?*');
  const notYours = /is not of this answer to what is pending/;
  const nibble = (hex, at) => hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1);
  for (const [change, words] of [
    [({ signature, ...body }) => body, /bears no signature of dr.supervising/],
    [(body) => ({ ...body, edit: { 'relapse.response': { O2: ['dr.supervising', `${today}T00:00:00Z`, 'nothing'] } } }), notYours],
    [(body) => ({ ...body, base: 'current' }), notYours],
    [(body) => ({ ...body, reason: 'because' }), notYours],
    [(body) => ({ ...body, signature: nibble(body.signature, 150) }), notYours],
    [(body) => ({ ...body, signature: nibble(body.signature, 10) }), /is not one by which dr.supervising may answer/],
  ]) {
    await page.route('**/v1/queue/decide', (route) => route.continue({ postData: JSON.stringify(change(route.request().postDataJSON())) }));
    const answer = page.waitForResponse('**/v1/queue/decide');
    await sign.click();
    assert.match(await (await answer).text(), words);
    await page.getByText(words).waitFor();
    await page.unroute('**/v1/queue/decide');
  }
  const leaving = page.waitForRequest('**/v1/queue/decide');
  await sign.click();
  const answer = (await leaving).postDataJSON();
  await page.getByText(/^Committed, entry \d+ of udt\/0\.$/).waitFor();
  await page.getByText('0 things wait').waitFor();
  await page.getByRole('link', { name: 'To the entry' }).click();
  await page.getByText('✓ The counselor signed this answer').waitFor();
  await page.getByText('✓ Verified in this browser').waitFor();
  await checked(page, 'entry-signed');

  say('a decision appears in the ledger as it is made');
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await entries(page).first().waitFor();
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O3', text: 'confirm the positive screening' });
  const sent = Date.now();
  const refused = await propose('LabOrder', { type: 'OrderTest', order: 'O3', kind: 'DEFINITIVE', code: 'G0480', method: 'LCMS', dos: today, confirms: 'O2' });
  assert.equal(refused.outcome, 'rejected');
  await entries(page).filter({ hasText: /rejected.*UDT_DEFINITIVE_LIMIT/s }).waitFor();
  console.log(`   the rejection was seen ${Date.now() - sent} ms after it was asked for`);
  await checked(page, 'ledger');
  await pictured(page, 'ledger');

  say('a row that comes while the button is down opens nothing else');
  const at = await entries(page).filter({ hasText: /rejected.*UDT_DEFINITIVE_LIMIT/s }).boundingBox();
  await page.mouse.move(at.x + 40, at.y + 10);
  await page.mouse.down();
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O4', text: 'while the button is down' });
  await entries(page).filter({ hasText: 'while the button is down' }).waitFor();
  await page.mouse.up();
  await page.getByText('2 covered DEFINITIVE tests in 7 days').first().waitFor();
  await page.goBack();
  await entries(page).first().waitFor();

  say('hostile texts do nothing and hide nothing');
  const evil = '<img src=x onerror=alert(1)>\u202Egnp.exe\u0007</script>{{x}}';
  const long = '<b>' + 'x'.repeat(60_000);
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O8', text: long });
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O9', text: evil });
  await page.getByText('U+202E').first().waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
  await page.getByText('U+202E').first().click();
  await page.getByText('✓ Verified in this browser').waitFor();
  await page.getByText('U+0007').first().waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
  await checked(page, 'hostile');

  say('filters are links');
  await page.goto(`${url}/console/#/ledger?tag=rejected`);
  await entries(page).first().waitFor();
  assert.equal(await entries(page).count(), 1);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export JSON' }).click();
  const saved = JSON.parse(readFileSync(await (await saving).path(), 'utf8'));
  assert.equal(saved.entries.length, 1);

  say("why David's second test was refused, and the proof, checked here");
  await entries(page).first().click();
  await page.getByText('✓ Verified in this browser').waitFor();
  await page.getByText('2 covered DEFINITIVE tests in 7 days').first().waitFor();
  await checked(page, 'entry');
  const place = new URL(page.url()).hash;

  say('what the verdict rested on, as a diagram and in words');
  await page.getByRole('main').getByRole('link', { name: 'Why' }).click();
  await page.getByText('Because: 2 covered DEFINITIVE tests in 7 days, tier D0_30 allows 1.').waitFor();
  await page.getByText('The rule UDT_DEFINITIVE_LIMIT says: covered DEFINITIVE tests').waitFor();
  await page.getByText('The same in words').waitFor();
  assert(await page.getByRole('listitem').filter({ hasText: 'What it rested on' }).count() >= 3);
  await page.getByRole('button', { name: 'RecordResult' }).first().click();
  await page.getByRole('heading', { name: 'RecordResult' }).waitFor();
  await fits(page);
  await checked(page, 'why');
  await pictured(page, 'why');
  await page.goBack();
  await page.getByText('✓ Verified in this browser').waitFor();

  say('what a role does not see is absent');
  await page.goto(`${url}/console/#/entities`);
  await page.getByRole('link', { name: 'David' }).click();
  await page.getByRole('row', { name: /^result.outcome/ }).getByText('POSITIVE').waitFor();
  await page.getByLabel('Seen by').selectOption('Billing');
  await page.getByText(/An agent with the role Billing sees \d+ of \d+ fields/).waitFor();
  await page.getByRole('row', { name: /^result.outcome absent/ }).waitFor();
  assert.equal(await page.getByRole('table').first().getByText('POSITIVE', { exact: true }).count(), 0);
  await pictured(page, 'entity');
  await page.getByLabel('Seen by').selectOption('Clinical');
  await page.getByText('The state now, as Clinical sees it').waitFor();
  await page.getByLabel(/^After/).fill('3');
  await page.getByText('The state then, as Clinical sees it').waitFor();
  const outcomes = page.getByRole('row', { name: /^result.outcome/ });
  assert.equal(await outcomes.getByText('NEGATIVE').count(), 1);
  assert.equal(await outcomes.getByText('POSITIVE').count(), 0, 'it came later');
  await fits(page);
  await checked(page, 'entity');

  say('an agent, its run, its budgets, and the run again');
  await until(async () => (await api('/v1/agent/list')).agents.some((one) => one.agentId === 'udt-lab'));
  await page.goto(`${url}/console/#/agents`);
  await page.getByRole('row', { name: /^udt-lab/ }).getByText('completed').waitFor();
  await checked(page, 'agents');
  await pictured(page, 'agents');
  await page.getByRole('link', { name: 'udt-lab' }).click();
  await page.getByText('One version: every writer saw the one before.').waitFor();
  await checked(page, 'agent');
  await page.getByRole('row', { name: /completed/ }).getByRole('link').first().click();
  await page.getByRole('meter', { name: 'steps used' }).waitFor();
  await page.getByRole('button', { name: 'Run it again and compare' }).click();
  await page.getByText('✓ Run again on its recorded input').waitFor();
  await fits(page);
  await checked(page, 'run');

  say('a signature is of one answer: for another question it counts for nothing');
  const eve = { domain: 'udt', entity: 'Eve', role: 'Clinical' };
  assert.equal((await api('/v1/propose', { ...eve, action: { type: 'RecordResult', order: 'E1', outcome: 'POSITIVE', on: today } })).outcome, 'escalated');
  const [waiting] = (await api('/v1/queue')).queue;
  const used = await api('/v1/queue/decide', { ...answer, entity: 'Eve', digest: waiting.digest, operationId: 'used-again' });
  assert.match(JSON.stringify(used), notYours);
  await page.goto(`${url}/console/#/inbox`);
  await page.getByRole('radio', { name: /^Reject/ }).check();
  await page.getByLabel('Reason').fill('the sample was not hers');
  await page.getByRole('button', { name: 'Sign and reject' }).click();
  await page.getByText(/^Rejected, entry \d+ of udt\/0\.$/).waitFor();

  say('the rules as people read them');
  await page.goto(`${url}/console/#/domains/udt`);
  await page.getByRole('row', { name: /^UDT_DEFINITIVE_LIMIT/ }).getByText('✕ rejected').waitFor();
  await page.getByRole('row', { name: /^UDT_RELAPSE_RESPONSE/ }).getByText('? a person decides').waitFor();
  await fits(page);
  await checked(page, 'domain');
  await pictured(page, 'domain');
  await page.getByRole('button', { name: 'Run its scenarios' }).click();
  await page.getByText(/✓ \d+ expectations came out as written; 5 properties held/).waitFor();
  await checked(page, 'domain-tried');

  say('a rule file, checked as one types');
  await page.getByRole('link', { name: 'try a rule file' }).click();
  await page.getByText('✓ The file reads: 2 rules').waitFor();
  const file = page.getByLabel('Rule file');
  const good = await file.inputValue();
  await file.fill(good.replace('o.order.amount > 0', 'o.order.amount + 0'));
  await page.getByText(/✕ the file: line 24, column \d+ .*expected bool, found int/).waitFor();
  await page.getByRole('button', { name: 'To line 24' }).click();
  assert.equal(await file.evaluate((box) => box.value.slice(0, box.selectionStart).split('\n').length), 24);
  await fits(page);
  await checked(page, 'rule-file');
  await pictured(page, 'rule-file');
  await file.fill(good);
  await page.getByText('✓ The file reads').waitFor();
  await page.getByRole('button', { name: /Run scenarios and 20 random histories/ }).click();
  await page.getByText(/✓ 0 expectations came out as written; 5 properties held/).waitFor();

  say('the figures');
  await page.goto(`${url}/console/#/figures`);
  await page.getByRole('heading', { name: 'Decisions made here' }).waitFor();
  await page.getByRole('row', { name: /^witan_ledger_entries/ }).waitFor();
  await page.waitForFunction(() => (document.querySelector('polyline')?.getAttribute('points') ?? '').split(' ').length >= 2);
  await fits(page);
  await checked(page, 'figures');
  await pictured(page, 'figures');

  say('a device that asks to join is approved for its fingerprint');
  await page.goto(`${url}/console/#/cluster`);
  const ask = async (button, question, go) => {
    await page.getByRole('button', { name: button }).click();
    const dialog = page.getByRole('dialog', { name: question });
    await dialog.waitFor();
    return { dialog, go: async () => { await dialog.getByRole('button', { name: go, exact: true }).click(); await dialog.waitFor({ state: 'detached' }); } };
  };
  const invite = await ask('Invite a device…', 'Invite a device?', 'Make an invitation');
  assert.match(await invite.dialog.innerText(), /becomes a member with the roles: ledger, \*, without another question/);
  await invite.go();
  await page.getByText('witan join').first().waitFor();
  await page.getByRole('button', { name: 'Hide' }).click();
  const pendingRow = page.getByRole('row', { name: /^lab/ });
  await pendingRow.getByRole('button', { name: 'Approve…' }).waitFor();
  const [asking] = (await api('/v1/devices/pending')).pending;
  const approve = await ask('Approve…', 'Approve lab?', 'Approve');
  assert.match(await approve.dialog.innerText(), new RegExp(`Fingerprint: ${asking.fingerprint}`));
  await checked(page, 'cluster-approve');
  await approve.go();
  const lab = page.getByRole('row', { name: /^lab/ });
  await lab.getByText('● connected').waitFor();

  say('a link is cut and healed');
  await (await ask('Cut the link to lab', 'Cut the link to lab?', 'Cut')).go();
  await lab.getByText('✂ cut').waitFor();
  await api('/v1/journal/put', { id: 'plot-4', type: 'plot', payload: { text: 'beans' } });
  execFileSync(program, ['journal', 'put', 'plot-4', '--type', 'plot', '--text', 'peas', '--dir', `${folder}/lab`]);
  await page.getByRole('button', { name: 'Heal the link to lab' }).click();
  await lab.getByText('● connected').waitFor();

  say('edits that did not see each other: a person chooses');
  await page.goto(`${url}/console/#/inbox?kind=conflict`);
  await page.getByText('2 versions were written apart').first().waitFor();
  await page.getByRole('button', { name: /^Keep / }).nth(1).waitFor();
  await checked(page, 'inbox-conflict');
  await page.goto(`${url}/console/#/agents`);
  await page.getByText('2 versions, none of which knew of the others').waitFor();
  await checked(page, 'conflict');
  await (await ask('Keep this one, of lab', 'Keep this version of plot-4?', 'Keep it')).go();
  await page.getByText('None: every journal entry has one version.').waitFor();
  assert.deepEqual((await api('/v1/journal/get?id=plot-4')).siblings.map((one) => one.payload), [{ text: 'peas' }]);
  await page.goto(`${url}/console/#/cluster`);

  say('heads of the ledgers are witnessed, and can be taken away');
  await page.getByRole('row', { name: /^udt\/0/ }).getByText('✓ all, by lab').waitFor();
  const taking = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the signed head of udt/0' }).click();
  assert.match(readFileSync(await (await taking).path(), 'utf8'), /^witan\/.*\/udt\/0\//);

  await page.goto(`${url}/console/${place}`);
  await page.getByText('lab has signed that it holds the same').waitFor();
  await pictured(page, 'entry');
  await page.goto(`${url}/console/#/cluster`);

  say('a partition is moved, and the page says what follows');
  const udt = page.getByRole('row', { name: /^udt\/0/ });
  const length = (await api('/v1/ledger?domain=udt&limit=1')).entries.at(-1).seq;
  await until(async () => (await api('/v1/sync/status')).spaces.every((space) => space.peers.every((peer) => peer.lacks === 0)));
  const move = await ask('Move udt/0', 'Move udt/0 to lab?', 'Move');
  assert.match(await move.dialog.innerText(), /lab decides for udt\/0 from then on/);
  await move.dialog.getByLabel('Reason').fill('the lab has better power');
  await move.go();
  await udt.getByRole('cell', { name: 'lab', exact: true }).waitFor();
  await fits(page);
  await checked(page, 'cluster');
  await pictured(page, 'cluster');

  say('incidents, and the proof of a lie to take away, as a node would tell them');
  await page.route('**/v1/incidents', (route) => route.fulfill({ json: { incidents: [{ kind: 'forkProven', peer: asking.device, what: 'two heads of udt/0 in one epoch' }] } }));
  await page.route('**/v1/evidence', (route) => route.fulfill({ json: { evidence: [{ device: asking.device, log: 'udt/0', what: 'it signed two heads of one size', file: 'witan-evidence\n' }] } }));
  await page.getByText('Anybody can check that without trusting this node').waitFor();
  await page.getByText('two heads of udt/0 in one epoch').waitFor();
  const proving = page.waitForEvent('download');
  await page.getByRole('row', { name: /it signed two heads of one size/ }).getByRole('button', { name: 'Save' }).click();
  assert.equal(readFileSync(await (await proving).path(), 'utf8'), 'witan-evidence\n');
  await checked(page, 'cluster-evidence');
  await page.unroute('**/v1/incidents');
  await page.unroute('**/v1/evidence');

  say('its owner is lost: seized and revoked, each with its consequence');
  process.kill(Number(readFileSync(`${folder}/lab.pid`, 'utf8')), 'SIGKILL');
  await udt.getByText('lab, not connected').waitFor();
  const seize = await ask('Seize udt/0', 'Seize udt/0?', 'Seize');
  assert.match(await seize.dialog.innerText(), new RegExp(`Its copy stands: ${length} entries`));
  await seize.dialog.getByLabel('Reason').fill('the lab is gone');
  assert(await seize.dialog.getByRole('button', { name: 'Seize' }).isDisabled());
  await seize.dialog.getByLabel(/To go on, type/).fill('udt/0');
  await seize.go();
  await udt.getByRole('cell', { name: 'front-desk', exact: true }).waitFor();
  const revoke = await ask('Revoke lab', 'Revoke lab?', 'Revoke');
  assert.match(await revoke.dialog.innerText(), /lab owns no partition/);
  await revoke.dialog.getByLabel('Reason').fill('stolen');
  await revoke.dialog.getByLabel(/To go on, type/).fill('lab');
  await revoke.go();
  await page.getByText('✕ revoked: stolen').waitFor();
  const leaver = await ask('Revoke dr.supervising', 'Revoke dr.supervising?', 'Revoke');
  await leaver.dialog.getByLabel('Reason').fill('left');
  await leaver.dialog.getByLabel(/To go on, type/).fill('dr.supervising');
  await leaver.go();
  await page.getByText('✕ revoked: left').waitFor();
  await page.goto(`${url}/console/${place}`);
  await page.getByText('✓ Verified in this browser').waitFor();
  await page.getByText('lab has signed that it holds the same').waitFor(); // it did, as the owner, before it was lost

  say('a node that lies about an entry is found out');
  await page.route('**/v1/ledger?*after=*limit=1', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('OrderTest', 'OrderBeer') });
  });
  await page.reload(); // the key went with the page
  await page.getByText('✕ The proof does not hold.').waitFor();
  await page.getByText('the bytes have another action').waitFor();
  await page.unroute('**/v1/ledger?*after=*limit=1');

  say('a second tab shares the session; an observer may not decide');
  const tab = await page.context().newPage();
  await tab.goto(`${url}/console/${place}`);
  await tab.getByText('✓ Verified in this browser').waitFor();
  await tab.close();

  say('eight tabs are live, on the six connections of a browser; when one goes, the others go on');
  const tabs = [];
  for (let i = 0; i < 8; ++i) {
    const one = await page.context().newPage();
    await one.goto(`${url}/console/#/ledger?tag=approved`);
    await one.getByText('● live').waitFor();
    tabs.push(one);
  }
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O5', text: 'seen in eight tabs' });
  for (const one of tabs) await entries(one).filter({ hasText: 'seen in eight tabs' }).waitFor();
  await page.goto('about:blank'); // it had the stream
  await tabs[0].close();
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O6', text: 'and in seven' });
  for (const one of tabs.slice(1)) await entries(one).filter({ hasText: 'and in seven' }).waitFor();
  await page.goto(`${url}/console/${place}`);
  await page.getByText('✓ Verified in this browser').waitFor();
  for (const one of tabs.slice(1)) await one.close();

  await observer.getByText('0 things wait').waitFor();
  const asked = await observer.evaluate(async () => {
    const held = JSON.parse(sessionStorage.getItem('witan.session'));
    const code = await fetch('../v1/console/code', { method: 'POST', headers: { authorization: `Bearer ${held.token}` }, body: '{}' });
    const cut = await fetch('../v1/peers/cut', { method: 'POST', headers: { authorization: `Bearer ${held.token}` }, body: '{"device":"x"}' });
    return [code.status, cut.status];
  });
  assert.deepEqual(asked, [403, 403]);

  say('from 360 px to 4k, light and dark');
  for (const [name, hash] of [['inbox', '#/inbox'], ['ledger', '#/ledger'], ['cluster', '#/cluster'], ['entity', '#/entities/udt/David'], ['agents', '#/agents'], ['domain', '#/domains/udt'], ['figures', '#/figures'], ['entities', '#/entities'], ['agent', '#/agents/udt-lab'], ['graphs', '#/graphs'], ['market', '#/market'], ['why', '#/why' + place.slice(7)], ['entry', place]]) {
    await observer.goto(`${url}/console/${hash}`);
    await observer.getByRole('button', { name: 'Export JSON' }).waitFor();
    if (name === 'entry') await observer.getByText('Verified').waitFor();
    if (name === 'why') await observer.getByText('Asked again now').waitFor();
    step = `${name} at 360 px, dark`;
    await fits(observer);
    await checked(observer, `${name}-360-dark`);
  }
  await page.setViewportSize({ width: 3840, height: 2160 });
  for (const name of ['ledger', 'inbox', 'cluster', 'agents', 'figures', 'domains']) {
    await page.goto(`${url}/console/#/${name}`);
    await page.getByRole('button', { name: 'Export JSON' }).waitFor();
    await fits(page);
    await checked(page, `${name}-4k`);
  }

  say('behind a path prefix');
  const front = await behindPrefix(url, '/some/desk');
  const behind = await signedIn('nurse', front.url);
  await behind.goto(`${front.url}/console/${place}`);
  await behind.getByText('✓ Verified in this browser').waitFor();
  await behind.getByText('● live').waitFor();
  await behind.getByText('front-desk · admin').click();
  await behind.getByRole('button', { name: 'Sign out' }).click();
  await behind.getByRole('button', { name: 'Sign in' }).first().waitFor();
  await behind.context().close();
  front.close();

  say('hostile texts in every field of every answer');
  await api('/v1/propose', { ...eve, action: { type: 'RecordResult', order: 'E1', outcome: 'POSITIVE', on: today } }); // for the inbox
  const spoilt = await signedIn('nurse');
  await everyTextIs(spoilt, evil);
  for (const hash of ['inbox', 'ledger', place.slice(2), 'why' + place.slice(7), 'entities', 'entities/udt/David', 'agents', 'agents/udt-lab', 'market', 'domains/udt', 'cluster']) {
    await spoilt.goto(`${url}/console/#/${hash}`);
    step = `hostile texts on ${hash}`;
    await spoilt.locator('main').getByText('U+202E').first().waitFor({ state: 'attached' });
    await fits(spoilt);
    assert.equal(await spoilt.locator('img[src=x]').count(), 0);
    assert.deepEqual(await rawTexts(spoilt), [], step);
  }
  await spoilt.context().close();

  say('live traffic in the same viewer');
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${url}/console/#/playback`);
  await page.getByRole('button', { name: 'Watch this node live' }).click();
  await page.getByText('as front-desk sees it').waitFor();
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O10', text: 'seen live' });
  await page.getByRole('row', { name: /ledger approved .*seen live/ }).first().waitFor();
  await checked(page, 'playback-live');
  await page.getByRole('button', { name: 'Stop watching' }).click();

  say('a graph: a doctor answers where the run waits, another run is cancelled');
  await ward.getByText('2 things wait for a person').waitFor();
  await ward.getByRole('option', { name: /examples.intake.*chest pain/s }).click();
  await ward.getByText('the run goes on with the message').waitFor();
  await checked(ward, 'inbox-question');
  await ward.goto(`${graphsUrl}/console/#/graphs`);
  await ward.getByRole('link', { name: 'r-3' }).click();
  await ward.getByRole('link', { name: /^doctor counselor \?/ }).waitFor();
  await ward.getByLabel('You are').fill('dr.supervising');
  await checked(ward, 'graph');
  await pictured(ward, 'graph');
  await ward.getByRole('button', { name: 'Approve', exact: true }).click();
  await ward.locator('.badge').getByText('completed').waitFor();
  await ward.getByRole('link', { name: /^chart egress: journal.put ✓/ }).click();
  await ward.getByRole('heading', { name: 'Messages at chart' }).waitFor();
  await ward.getByRole('button', { name: /body of the message at chart/ }).click();
  await ward.getByText('chest pain since yesterday').first().waitFor();
  await fits(ward);
  await ward.goto(`${graphsUrl}/console/#/graphs`);
  await ward.getByRole('link', { name: 'r-4' }).click();
  await ward.getByRole('button', { name: 'Cancel the run…' }).click();
  await ward.getByRole('dialog').getByLabel('Reason').fill('entered twice');
  await ward.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
  await ward.locator('.badge').getByText('cancelled').waitFor();
  await ward.setViewportSize({ width: 360, height: 740 });
  await fits(ward);
  await checked(ward, 'graph-360');

  say('a node without a market says so');
  await ward.setViewportSize({ width: 1280, height: 900 });
  await ward.goto(`${graphsUrl}/console/#/market`);
  await ward.getByText('This cluster holds no money for a contract.').waitFor();
  await checked(ward, 'market-empty');
  await everyTextIs(ward, evil);
  await ward.goto(`${graphsUrl}/console/#/graphs`);
  await ward.locator('main').getByText('U+202E').first().waitFor({ state: 'attached' });
  await ward.context().close();

  say('the market live: a buyer disputes, an arbiter rules, the holder settles, each party sees it at its own node');
  await until(() => existsSync(`${folder}/market.ready`));
  await playMarket(program, folder, { open, checked, pictured, fits });

  await playTrial(program, folder, { open, checked, fits, until, say });

  say('a trace of the simulator is played back, without signing in');
  const stranger = await open();
  await stranger.goto(`${url}/console/#/playback`);
  const choose = (name, content) => stranger.getByLabel(/Trace of the simulator/).setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
  await choose('not-a-trace.json', '{"traceEvents":[{"ph":"i","tid":1,"ts":1}]}');
  await stranger.getByText('the trace names no device').waitFor();
  const named = (tid, name) => ({ name: 'thread_name', ph: 'M', pid: 1, tid, args: { name } });
  const events = [named(1, 'cluster'), named(16, 'device-0'), named(32, `device-1${evil}`)];
  for (let i = 0; i < 3000; ++i) {
    events.push({ name: 'sends', cat: 'net', ph: 'X', ts: i * 1000, dur: 1, pid: 1, tid: 16, args: { detail: `to device-1: ${evil}` } });
    events.push({ name: 'frames', cat: 'net', ph: 's', ts: i * 1000, pid: 1, tid: 16, id: i });
    if (i % 5) events.push({ name: 'frames', cat: 'net', ph: 'f', ts: i * 1000 + 300, pid: 1, tid: 32, id: i });
    events.push({ name: 'decides', cat: 'ledger', ph: 'i', ts: i * 1000 + 10, pid: 1, tid: i % 2 ? 16 : 32, args: { detail: `entry ${i} ${evil}` } });
  }
  events.push({ name: 'fences', cat: 'check', ph: 'i', ts: 2_000_500, pid: 1, tid: 1, args: { detail: 'device-1 goes on deciding' } });
  await choose('trace.json', JSON.stringify({ traceEvents: events }));
  await stranger.getByText('✕ fences').waitFor();
  await stranger.getByText('00:00:02.000500').first().waitFor();
  await stranger.getByRole('button', { name: 'The event before' }).click();
  await stranger.locator('tr[aria-current]').getByText('entry 2000').waitFor();
  await stranger.getByRole('button', { name: 'To the violation' }).click();
  assert.equal(await stranger.locator('img[src=x]').count(), 0);
  await checked(stranger, 'playback');
  try {
    execFileSync(`${dirname(program)}/witan-sim`, ['replay', 'canary', '--seed', '3', '--trace', `${folder}/canary.json`]);
    await stranger.getByLabel(/Trace of the simulator/).setInputFiles(`${folder}/canary.json`);
    await stranger.getByRole('heading', { name: 'Playback: canary, seed 3' }).waitFor();
    await stranger.getByLabel('Window').selectOption('10 s');
    await stranger.getByLabel(/^Time/).fill('60000000');
    await fits(stranger);
    await pictured(stranger, 'playback');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.log('   witan-sim is not built: its own trace was not tried');
  }
  await stranger.setViewportSize({ width: 360, height: 740 });
  await fits(stranger);
  await stranger.context().close();

  say('our own policy stops an inline script');
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.head.append(script);
    return globalThis.ran === true;
  });
  assert(!ran);
  const blocked = problems.findIndex((one) => one.includes('Content Security Policy') && one.startsWith(step));
  assert(blocked >= 0, 'the browser did not say that it stopped the script');
  problems.splice(blocked, 1);

  say('a clock that is off by a day is told');
  const early = await open();
  await early.clock.setFixedTime(Date.now() + 86_400_000);
  await early.goto(`${url}/console/#/ledger`);
  const bearer = await page.evaluate(() => sessionStorage.getItem('witan.session'));
  await early.evaluate((held) => sessionStorage.setItem('witan.session', held), bearer);
  await early.reload();
  await early.getByText('● live').waitFor();
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O7', text: 'look at the clock' });
  await early.getByText(/clock and the node's differ by about 2[34] h/).waitFor();
  await early.context().close();

  say('a session that has ended is told, and what was read stays in view');
  await observer.goto(`${url}/console/#/ledger`);
  await entries(observer).first().waitFor();
  const spent = await observer.evaluate(() => JSON.parse(sessionStorage.getItem('witan.session')).token);
  await fetch(`${url}/v1/console/end`, { method: 'POST', headers: { authorization: `Bearer ${spent}` }, body: '{}' });
  await observer.getByLabel('Entity').fill('David');
  await observer.getByLabel('Entity').press('Enter');
  await observer.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  assert((await entries(observer).count()) > 0);

  say('after signing out the session counts no longer');
  const held = await page.evaluate(() => JSON.parse(sessionStorage.getItem('witan.session')).token);
  await page.getByText('front-desk · admin').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
  assert.equal((await fetch(`${url}/v1/status`, { headers: { authorization: `Bearer ${held}` } })).status, 401);
  assert.deepEqual(problems, []);

  say('a node that dies is told; when it is back, what was missed is there');
  const last = await open();
  await last.goto(`${url}/console/#/ledger`);
  await last.getByLabel(/[Tt]oken/).fill(token);
  await last.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await last.getByText('● live').waitFor();
  process.kill(Number(readFileSync(`${folder}/node.pid`, 'utf8')), 'SIGKILL');
  await last.getByText('○ connection lost').waitFor();
  await last.getByText('The node has not answered for').waitFor();
  const again = spawn(program, ['up', '--control', process.env.CONTROL], { stdio: 'ignore' });
  again.unref();
  writeFileSync(`${folder}/node.pid`, `${again.pid}\n`);
  execFileSync(program, ['status', '--wait', 'ready', '--timeout', '60']);
  await propose('LabOrder', { type: 'DocumentRationale', order: 'O11', text: 'after the restart' });
  await last.getByText('● live').waitFor();
  await entries(last).filter({ hasText: 'after the restart' }).waitFor();
  assert.equal(await last.getByText('The node has not answered for').count(), 0);
  say('done');
} catch (error) {
  console.log(`while: ${step}\n`, error, problems);
  let n = 0;
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    console.log(`${page.url()}:`, (await page.locator('main').innerText({ timeout: 2000 }).catch(String)).slice(0, 2000));
    await page.screenshot({ path: `${folder}/failed-${++n}.png`, timeout: 2000 }).catch(() => {});
  }
  process.exitCode = 1;
} finally {
  await browser.close();
}
