// Writes the OpenAPI document of the node at WITAN_URL to openapi.json.
import { writeFileSync } from "node:fs";

const answer = await fetch(`${process.env.WITAN_URL}/v1/openapi.json`, {
  headers: { authorization: `Bearer ${process.env.WITAN_TOKEN}` },
});
if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
writeFileSync("openapi.json", await answer.text());
