// A tool of the Vercel AI SDK that asks a running node for a decision (docs/clients.md). WITAN_URL and WITAN_TOKEN name
// the node, MODEL_URL a model with an API like OpenAI's. The client asks under one operation id until there is a decision.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { connect } from "witan-client";
import { z } from "zod";

const node = connect();
const spend = tool({
  description: "Spends money of the team, as far as its rules allow. Says what was decided, and why.",
  inputSchema: z.object({ amount: z.number().int().min(0) }),
  execute: async ({ amount }) => {
    const decision = await node.propose("budget", "team", "B", { type: "SpendB", n: amount });
    return { outcome: decision.outcome, why: decision.message ?? "" };
  },
});

const model = createOpenAICompatible({ name: "model", baseURL: `${process.env.MODEL_URL}/v1` })("any");
const { text, steps } = await generateText({ model, tools: { spend }, stopWhen: stepCountIs(5), prompt: process.argv[2] });
for (const { toolResults } of steps) for (const { output } of toolResults) console.log(`${output.outcome}: ${output.why}`);
console.log(text);
