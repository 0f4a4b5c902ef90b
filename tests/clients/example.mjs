import { connect } from "witan-client";

const node = connect();
await node.begin("budget", "trip");
for (const [role, n] of /** @type {const} */ ([["A", 60000], ["B", 60000]])) {
  const action = { type: `Spend${role}`, n };
  const decision = await node.propose("budget", "trip", role, action, { operationId: `trip-${role}-1` });
  console.log([decision.outcome, decision.message].filter(Boolean).join(" "));
}
const slice = await node.slice("budget", "trip", "A");
console.log(/** @type {any} */ (slice.state).spentA);
