// A node all of whose texts are hostile: each string of each answer is followed by `evil`, and each fortieth by 64 KiB.
// Only the kind of an item stays, so that its page is reached.
export async function everyTextIs(page, evil) {
  let n = 0;
  const spoilt = (value) =>
    typeof value === 'string' ? value + evil + (++n % 40 === 0 ? 'x'.repeat(65_536) : '')
    : Array.isArray(value) ? value.map(spoilt)
    : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === 'kind' ? one : spoilt(one)]))
    : value;
  await page.route('**/v1/**', async (route) => {
    if (route.request().url().includes('/stream')) return route.continue();
    const response = await route.fetch();
    const made = response.headers()['content-type']?.includes('json') ? await response.json() : null;
    return route.fulfill(made === null ? { response } : { response, json: spoilt(made) });
  });
}
