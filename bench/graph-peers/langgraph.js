// The loop of witan_graph_durable_bench in LangGraph.js with its SQLite checkpointer: a -> b -> a while n falls.
//   node langgraph.js FILE.db [seconds] [in flight] [loops]
// Prints deliveries a second; a delivery is one execution of a node, durable before the next (durability "sync").
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const [file, seconds = "5", inFlight = "64", loops = "9"] = process.argv.slice(2);
const State = Annotation.Root({ k: Annotation(), n: Annotation() });
const saver = SqliteSaver.fromConnString(file);
const graph = new StateGraph(State)
  .addNode("in", (s) => ({ k: s.k }))
  .addNode("a", (s) => ({ n: s.n }))
  .addNode("b", (s) => ({ n: s.n - 1 }))
  .addEdge(START, "in")
  .addEdge("in", "a")
  .addEdge("a", "b")
  .addConditionalEdges("b", (s) => (s.n >= 0 ? "a" : END))
  .compile({ checkpointer: saver });

// in, then a and b for each n from `loops` down to 0, as the other loop has it.
const perRun = 1 + 2 * (Number(loops) + 1);
const until = Date.now() + Number(seconds) * 1000;
let runs = 0;
async function worker() {
  while (Date.now() < until) {
    const id = `r${++runs}`;
    const config = { configurable: { thread_id: id }, recursionLimit: 1000, durability: "sync" };
    await graph.invoke({ k: id, n: Number(loops) }, config);
    done += perRun;
  }
}
let done = 0;
const begun = process.hrtime.bigint();
await Promise.all(Array.from({ length: Number(inFlight) }, worker));
const wall = Number(process.hrtime.bigint() - begun) / 1e9;
const { user, system } = process.cpuUsage();
console.log(`langgraph ${(done / wall).toFixed(0)} deliveries/s, ${(done / ((user + system) / 1e6)).toFixed(0)} a second of processor time`);
