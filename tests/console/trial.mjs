// What an outsider found in a trial of the console, each once more in a browser: addresses, links to items, a session that
// ends amid work, an answer that its owner refuses later, forged ends of values, claims. Two nodes: `desk` decides, `far`
// has a copy.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const freePort = () => new Promise((found) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => found(port));
  });
});

export async function playTrial(program, folder, { open, checked, fits, until, say }) {
  const dirs = { desk: `${folder}/trial/desk`, far: `${folder}/trial/far` };
  const witan = (dir, ...words) => execFileSync(program, [...words, '--dir', dir]).toString();
  const running = {};
  const up = (dir) => {
    running[dir] = spawn(program, ['up', '--dir', dir], { stdio: 'ignore' });
    witan(dir, 'status', '--wait', 'ready', '--timeout', '30');
  };
  const kill = async (dir) => {
    const gone = new Promise((end) => running[dir].once('exit', end));
    running[dir].kill('SIGKILL');
    await gone;
  };
  const propose = (entity, role, action) => witan(dirs.desk, 'propose', 'udt', entity, role, JSON.stringify(action));
  const day = (n) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);
  // A positive result of an order: a person is asked.
  const relapse = (entity, order) => {
    witan(dirs.desk, 'begin', 'udt', entity, '--init', JSON.stringify({ baselinePositiveOn: day(-115) }));
    propose(entity, 'LabOrder', { type: 'DocumentRationale', order, text: 'treatment plan: random monitoring' });
    propose(entity, 'LabOrder', { type: 'OrderTest', order, kind: 'PRESUMPTIVE', code: '80307', method: 'IMMUNOASSAY', dos: day(0) });
    propose(entity, 'Clinical', { type: 'RecordResult', order, outcome: 'POSITIVE', on: day(0) });
  };
  const signIn = (dir) => witan(dir, 'console', '--no-open').split('\n')[0];
  const item = (page, name) => page.getByRole('listbox').getByRole('option').filter({ hasText: name });
  const entries = (page) => page.getByRole('listbox').getByRole('option');
  const hash = (page) => page.evaluate(() => location.hash);
  try {
    witan(dirs.desk, 'init', '--name', 'desk', '--partitions', '1', '--listen', `127.0.0.1:${await freePort()}`);
    const [hidden, forged] = ['Da\u202Ediv\u202C\u200B\u2066x', 'S1 outcome=NEGATIVE'];
    up(dirs.desk);
    relapse('Maria', 'M1');
    witan(dirs.desk, 'begin', 'udt', 'Olga');
    relapse('Spoof', forged);
    assert.throws(() => witan(dirs.desk, 'begin', 'udt', hidden), 'an entity begins under a name that people cannot read');
    relapse('Dag', hidden);
    const link = signIn(dirs.desk);
    const at = link.slice(0, link.indexOf('/console/'));
    const page = await open({}, at);
    await page.goto(link);
    await page.getByText('3 things wait').waitFor();

    say('trial: an address is of the page that is shown, also when the inbox is left');
    await page.getByRole('heading', { name: /^Maria/ }).waitFor();
    await until(async () => (await hash(page)).startsWith('#/inbox?item='));
    await page.getByRole('navigation').getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('listbox', { name: /Entries/ }).waitFor();
    await page.getByText('of the').first().waitFor();
    assert.equal(await hash(page), '#/ledger');
    await page.goBack();
    await page.getByRole('heading', { name: /^Maria/ }).waitFor();

    say('trial: opening the inbox claims nothing; a link to another item shows that one');
    const claims = () => page.evaluate(async () => {
      const { token } = JSON.parse(sessionStorage.getItem('witan.session'));
      const inbox = await (await fetch('../v1/inbox', { headers: { authorization: `Bearer ${token}` } })).json();
      return Object.fromEntries(inbox.items.map((one) => [one.subject, one.claim?.by ?? '']));
    });
    assert.deepEqual(Object.values(await claims()), ['', '', '']);
    const links = await page.evaluate(async () => {
      const { token } = JSON.parse(sessionStorage.getItem('witan.session'));
      const inbox = await (await fetch('../v1/inbox', { headers: { authorization: `Bearer ${token}` } })).json();
      return Object.fromEntries(inbox.items.map((one) => [one.subject, `#/inbox?item=${encodeURIComponent(one.id)}`]));
    });
    await page.goto(`${at}/console/${links.Spoof}`);
    await page.getByRole('heading', { name: /^Spoof/ }).waitFor();
    assert.equal(await page.getByRole('heading', { name: /^Maria/ }).count(), 0);
    await page.goto(`${at}/console/#/inbox?item=proposal%3Audt%2F0%2F999`);
    await page.getByText('What the link names is not waiting any more.').waitFor();
    assert.equal(await page.getByRole('radio').count(), 0);

    say('trial: values have ends that are seen');
    await page.goto(`${at}/console/${links.Spoof}`);
    await page.getByText('order="S1 outcome=NEGATIVE" outcome=POSITIVE').first().waitFor();

    say('trial: hidden characters are shown as what they are');
    await page.goto(`${at}/console/${links.Dag}`);
    await page.getByRole('radio', { name: /^Reject/ }).check();
    await page.locator('main').getByText('U+202E').first().waitFor();
    await page.goto(`${at}/console/#/entities/udt/${encodeURIComponent('Dag')}`);
    await page.getByText('The state now').waitFor();
    await page.locator('main').getByText('U+202E').first().waitFor();
    const raw = await page.evaluate(() => document.title + document.body.innerText);
    assert(!/[\u202E\u200B\u2066]/.test(raw), 'a hidden character is raw');

    say('trial: who may answer is offered; two windows of one person see each other');
    await page.goto(`${at}/console/${links.Maria}`);
    await page.getByRole('heading', { name: /^Maria/ }).waitFor();
    await page.getByRole('button', { name: 'dr.supervising' }).click();
    assert.equal(await page.getByLabel('You are').inputValue(), 'dr.supervising');
    assert.equal(await page.getByLabel(/^counselor/).count(), 0, 'the kernel writes who and when');
    await page.getByLabel(/^plan/).fill('increase monitoring');
    await page.getByText('Preview: every rule passes.').waitFor();
    await until(async () => (await claims()).Maria === 'dr.supervising');
    const second = await open({}, at);
    await second.goto(signIn(dirs.desk));
    await second.goto(`${at}/console/${links.Maria}`);
    await second.getByRole('button', { name: 'dr.supervising' }).click();
    await second.getByText('dr.supervising, in another window, is at this').waitFor();
    await second.getByText('takes it over').waitFor();
    await checked(second, 'trial-claimed');
    await second.context().close();

    say('trial: the table of changes follows the answer that is chosen');
    await page.getByRole('radio', { name: /Something else/ }).check();
    await page.getByText('What changes: what you fill in above').waitFor();
    assert.equal(await page.getByText('What changes if it is accepted as proposed').count(), 0);
    await page.getByRole('radio', { name: /Accept, with your answer/ }).check();
    await page.getByLabel(/^plan/).fill('increase monitoring');

    say('trial: a session that ends amid work leaves what was typed, and the ledger has no gap');
    await page.getByLabel('Reason').fill('seen today');
    const ledger = await page.context().newPage();
    await ledger.goto(`${at}/console/#/ledger`);
    await ledger.getByText('● live').waitFor();
    const all = ledger.getByText('newest entries (all there are)'); // it comes after `live`, when the list is read
    await all.waitFor();
    const shown = async () => Number(/of the (\d+) newest/.exec(await all.innerText())?.[1]);
    const before = await shown();
    await kill(dirs.desk);
    running[dirs.desk] = spawn(program, ['up', '--dir', dirs.desk, '--control', at.slice(7)], { stdio: 'ignore' });
    witan(dirs.desk, 'status', '--wait', 'ready', '--timeout', '30');
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    for (const n of [1, 2, 3]) propose('Olga', 'LabOrder', { type: 'DocumentRationale', order: `N${n}`, text: 'what nobody saw' });
    const { admin } = JSON.parse(readFileSync(`${dirs.desk}/control.tokens`, 'utf8'));
    const box = page.getByRole('dialog', { name: 'Your session has ended' });
    await box.getByLabel('Token').fill('tök');
    await box.getByRole('button', { name: 'Sign in' }).click();
    await box.getByText('this is no token').waitFor();
    await box.getByRole('button', { name: 'Close' }).click();
    // The natural step: another link, in the same tab.
    await page.evaluate((code) => (location.hash = code), signIn(dirs.desk).split('/console/')[1]);
    await page.getByText('● live').waitFor();
    assert(!page.url().includes('code='));
    assert.equal(await page.getByLabel(/^plan/).inputValue(), 'increase monitoring');
    assert.equal(await page.getByLabel('Reason').inputValue(), 'seen today');
    await ledger.getByText('● live').waitFor();
    await until(async () => (await shown()) === before + 3);
    await ledger.close();

    say('trial: an answer that waits says so to everybody who looks; one that its owner refuses later comes back');
    const invitation = witan(dirs.desk, 'device', 'invite', '--role', 'ledger', '--role', '*').split('\n')[0];
    execFileSync(program, ['join', invitation, '--name', 'far', '--listen', `127.0.0.1:${await freePort()}`, '--dir', dirs.far], { stdio: 'ignore' });
    up(dirs.far);
    const farLink = signIn(dirs.far);
    const farAt = farLink.slice(0, farLink.indexOf('/console/'));
    const far = await open({}, farAt);
    await far.goto(farLink);
    await far.getByText('3 things wait').waitFor();
    witan(dirs.desk, 'peers', 'cut', 'far');
    await far.goto(`${farAt}/console/${links.Maria}`);
    await far.getByRole('button', { name: 'dr.supervising' }).click();
    await far.getByLabel(/^plan/).fill('increase monitoring');
    await far.getByLabel('Reason').fill('seen today');
    await far.route('**/v1/queue/decide', (route) => route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), waitMs: 100 }) }));
    await far.getByRole('button', { name: 'Accept with your answer' }).click();
    await far.getByText('Your answer waits in the outbox').waitFor();
    await far.reload();
    await far.getByText('dr.supervising has answered: commit, “seen today”.').waitFor();
    assert(await far.getByRole('button', { name: /^Accept/ }).isDisabled());
    await far.goto(`${farAt}/console/#/cluster`);
    await far.getByText('no owner that is connected').waitFor();
    assert.equal(await far.getByText(/✓ All .* are well/).count(), 0);
    await far.goto(`${farAt}/console/#/inbox`);
    witan(dirs.desk, 'queue', 'reject', 'Maria', '--counselor', 'dr.supervising', '--reason', 'at the desk', '--operation-id', 'desk');
    witan(dirs.desk, 'peers', 'heal', 'far');
    await item(far, 'Refused answer').click();
    await far.getByText(/the owner refused the answer of dr.supervising \(commit\)/).last().waitFor();
    await far.getByText('seen today').first().waitFor();
    await checked(far, 'trial-refused');
    await far.getByRole('button', { name: 'Seen' }).click();
    await far.getByText('2 things wait').waitFor();
    await far.context().close();

    say('trial: filters say why nothing is there');
    await page.goto(`${at}/console/#/ledger?entity=mari`);
    await page.getByText('No entry is of an entity that is named exactly so').waitFor();
    await page.getByRole('link', { name: 'Maria' }).waitFor();
    await page.goto(`${at}/console/#/ledger?partition=udt`);
    await page.getByRole('alert').waitFor();
    await page.goto(`${at}/console/#/ledger?domain=nope`);
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByText('Reading…').count(), 0);
    await page.goto(`${at}/console/#/ledger?invariant=relapse`);
    await entries(page).first().waitFor();
    await page.context().close();
  } finally {
    for (const one of Object.values(running)) one.kill('SIGKILL');
  }
}
