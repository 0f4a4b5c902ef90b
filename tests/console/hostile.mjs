// A node all of whose texts are hostile: each string of each answer is followed by `evil` and a word of 2,000 letters,
// each fortieth by one of 64 KiB. Only the kind of an item stays, so that its page is reached.
export async function everyTextIs(page, evil) {
  let n = 0;
  const spoilt = (value) =>
    typeof value === 'string' ? value + evil + 'x'.repeat(++n % 40 === 0 ? 65_536 : 2_000)
    : Array.isArray(value) ? value.map(spoilt)
    : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === 'kind' ? one : spoilt(one)]))
    : value;
  await page.route('**/v1/**', async (route) => {
    if (route.request().url().includes('/stream')) return route.continue();
    try {
      const response = await route.fetch();
      const made = response.headers()['content-type']?.includes('json') ? await response.json() : null;
      await route.fulfill(made === null ? { response } : { response, json: spoilt(made) });
    } catch (error) {
      if (!/disposed|closed/.test(error.message)) throw error; // the page that asked has gone
    }
  });
}

// Texts in the page that would hide or reorder what stands beside them: none may be there.
export const rawTexts = (page) =>
  page.evaluate(() => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (/[\u202E\u0007]/.test(walk.currentNode.data)) found.push(walk.currentNode.data.slice(0, 60));
    if (/[\u202E\u0007]/.test(document.title)) found.push(document.title);
    return found;
  });
