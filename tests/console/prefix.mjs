// A proxy that serves a node's console and API below a path, as an administrator would put them there.
import { createServer, request } from 'node:http';

export async function behindPrefix(url, prefix) {
  const { host } = new URL(url);
  const server = createServer((from, to) => {
    const asked = request(url + from.url.slice(prefix.length), { method: from.method, headers: { ...from.headers, host } }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers).flushHeaders();
      answer.pipe(to);
    });
    asked.on('error', () => to.destroy());
    to.on('close', () => asked.destroy());
    from.pipe(asked);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => (server.closeAllConnections(), server.close());
  return { url: `http://127.0.0.1:${server.address().port}${prefix}`, close };
}
