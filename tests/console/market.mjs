// Three organisations that scripts/market.sh left with a delivery to be accepted: the buyer disputes it, the holder's
// arbiter rules, the holder settles; each at the console of its own node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export async function playMarket(program, folder, { open, checked, pictured, fits }) {
  const seat = async (org) => {
    const [its] = execFileSync(program, ['console', '--no-open', '--dir', `${folder}/market/${org}`]).toString().split('\n');
    const at = its.slice(0, its.indexOf('/console/'));
    const page = await open({}, at);
    await page.goto(its);
    await page.getByText(/^[01] things? waits?/).waitFor();
    await page.goto(`${at}/console/#/market`);
    return { page, call: page.getByRole('row', { name: /^C2/ }), go: (hash) => page.goto(`${at}/console/${hash}`) };
  };
  const [clinic, notary, reader] = [await seat('clinic'), await seat('notary'), await seat('lab')];
  await clinic.page.getByRole('row', { name: /K1 bought reading lab notary/ }).getByText('? to be accepted').waitFor();
  await checked(clinic.page, 'market-bought');
  await reader.page.getByRole('row', { name: /K1 sold reading clinic notary/ }).waitFor();
  await notary.page.getByRole('row', { name: /clinic lab open/ }).getByText('100 EUR.cent').waitFor();
  for (const { page } of [clinic, reader]) await page.getByRole('link', { name: 'K1' }).click();
  await clinic.page.getByText('✓ All of it is accounted for.').waitFor();
  await clinic.page.getByText('held for calls: 100 EUR.cent').waitFor();
  const bundle = clinic.page.waitForEvent('download');
  await clinic.page.getByRole('button', { name: 'Save the evidence of C2' }).click();
  assert.match(readFileSync(await (await bundle).path(), 'utf8'), /witan.evidence-bundle/);
  await fits(clinic.page);
  await checked(clinic.page, 'market-contract');
  await clinic.page.getByRole('button', { name: 'Dispute…' }).click();
  const dispute = clinic.page.getByRole('dialog', { name: 'Dispute call C2?' });
  await dispute.getByLabel('Reason').fill('of another patient');
  await dispute.getByRole('button', { name: 'Dispute' }).click();
  await clinic.call.getByText('of another patient').waitFor();
  await notary.go('#/inbox');
  await notary.page.getByText('1 thing waits for a person').waitFor();
  await notary.page.getByLabel('You are').selectOption('human.arbiter');
  await notary.page.getByLabel('Value').fill('40');
  await notary.page.getByLabel('Reason').fill('half of it is usable');
  await notary.page.getByText('Preview: every rule passes.').waitFor();
  await notary.page.getByRole('button', { name: 'Accept with your answer' }).click();
  await notary.page.getByText(/^Committed, entry \d+ of escrow/).waitFor();
  for (const { page } of [clinic, reader]) {
    await page.getByText('held for calls: 0 EUR.cent').waitFor();
    await page.getByText('due to lab: 140 EUR.cent').waitFor();
  }
  await notary.go('#/market');
  await notary.page.getByRole('row', { name: /clinic lab open/ }).getByRole('link').click();
  await notary.call.getByText('✓ paid to the seller').waitFor();
  await notary.page.getByText('✓ All of it is accounted for.').waitFor();
  await notary.page.setViewportSize({ width: 360, height: 740 });
  await fits(notary.page);
  await checked(notary.page, 'market-360');
  await pictured(notary.page, 'market');
  for (const { page } of [clinic, notary, reader]) await page.context().close();
}
