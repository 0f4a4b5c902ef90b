// Thinks for the agent `clerk` of a running node (docs/tools.md): ships what is paid. WITAN_URL and WITAN_TOKEN name the node.
import { connect } from "witan-client";

await connect().serve("clerk", ({ entries }) => {
  const paid = entries.filter(({ payload }) => payload.paid).map(({ id }) => id);
  if (paid.length === 0) return { answer: "nothing is paid yet" };
  return { actions: paid.map((order) => ({ tool: "shipping.ship", arguments: { order } })) };
});
