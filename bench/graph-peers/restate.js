// The same loop in Restate: a handler whose nodes are durable steps (ctx.run), on a server of its own.
//   node restate.js DIR [seconds] [in flight] [loops]
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import * as restate from "@restatedev/restate-sdk";

// Its log is a line a call.
const quiet = { logger: () => {} };
const [dir, seconds = "5", inFlight = "64", loops = "9"] = process.argv.slice(2);
const service = restate.service({
  name: "loop",
  handlers: {
    run: async (ctx, { k, n }) => {
      await ctx.run("in", () => k);
      let left = n;
      while (left >= 0) {
        const at = left;
        await ctx.run("a", () => at);
        left = await ctx.run("b", () => at - 1);
      }
      return left;
    },
  },
});
await restate.serve({ services: [service], port: 19080, ...quiet });
const require = createRequire(import.meta.url);
const binary = require.resolve(`@restatedev/restate-server-linux-${process.arch}/package.json`);
const server = spawn(binary.replace("package.json", "bin/restate-server"), ["--base-dir", dir], {
  env: {
    ...process.env,
    RESTATE_LOG_FILTER: "off",
    RESTATE_INGRESS__BIND_PORT: "18080",
    RESTATE_INGRESS__BIND_ADDRESS: "127.0.0.1:18080",
    RESTATE_ADMIN__BIND_ADDRESS: "127.0.0.1:19070",
    RESTATE_BIND_ADDRESS: "127.0.0.1:15122",
  },
  stdio: ["ignore", "inherit", "inherit"],
  detached: true,
});
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
let registered = false;
for (let tries = 0; tries < 120 && !registered; ++tries) {
  await wait(500);
  registered = await fetch("http://127.0.0.1:19070/deployments", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: "http://127.0.0.1:19080", force: true }),
  })
    .then((answer) => answer.ok)
    .catch(() => false);
}
if (!registered) throw new Error("the server takes no deployment");

const perRun = 1 + 2 * (Number(loops) + 1);
let runs = 0;
let done = 0;
const until = Date.now() + Number(seconds) * 1000;
async function worker() {
  while (Date.now() < until) {
    const id = `r${++runs}`;
    const answer = await fetch("http://127.0.0.1:18080/loop/run", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify({ k: id, n: Number(loops) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
    done += perRun;
  }
}
const begun = process.hrtime.bigint();
await Promise.all(Array.from({ length: Number(inFlight) }, worker));
const wall = Number(process.hrtime.bigint() - begun) / 1e9;
console.log(`restate ${(done / wall).toFixed(0)} deliveries/s`);
process.kill(-server.pid, "SIGKILL");
process.exit(0);
