// A LangGraph whose node `spend` asks a running node for a decision (docs/clients.md). WITAN_URL and WITAN_TOKEN name the
// node. The operation id is that of the trip: a graph that runs again spends nothing twice.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { connect } from "witan-client";

const node = connect();
const State = Annotation.Root({ trip: Annotation(), amount: Annotation(), decision: Annotation(), words: Annotation() });

const spend = async ({ trip, amount }) => ({
  decision: await node.propose("budget", "team", "A", { type: "SpendA", n: amount }, { operationId: `trip:${trip}` }),
});
const book = ({ trip }) => ({ words: `${trip} is booked` });
const explain = ({ decision }) => ({ words: `${decision.outcome}: ${decision.message}` });

const graph = new StateGraph(State)
  .addNode("spend", spend).addNode("book", book).addNode("explain", explain)
  .addEdge(START, "spend")
  .addConditionalEdges("spend", ({ decision }) => (decision.outcome === "approved" ? "book" : "explain"))
  .addEdge("book", END).addEdge("explain", END)
  .compile();

for (const asked of JSON.parse(process.argv[2])) console.log((await graph.invoke(asked)).words);
