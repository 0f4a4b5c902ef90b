// Ajv on the official suite, as bench/schema_bench.cpp: node bench/schema_ajv.mjs MODULES FOLDER [ROUNDS]. MODULES has
// node_modules with ajv.
import { createRequire } from "node:module";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const [modules, folder, rounds = 20] = process.argv.slice(2);
const { default: Ajv } = createRequire(resolve(modules, "node_modules/"))("ajv/dist/2020.js");
const groups = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .flatMap((file) => JSON.parse(readFileSync(`${folder}/${file}`, "utf8")));
const ajv = new Ajv({ strict: false, logger: false, validateFormats: false });
let compiling = 0n, checking = 0n, schemas = 0, values = 0, right = 0;
for (let round = 0; round < rounds; ++round)
  for (const group of groups) {
    let check;
    const began = process.hrtime.bigint();
    try {
      check = ajv.compile(group.schema);
    } catch {
      continue;
    }
    compiling += process.hrtime.bigint() - began, ++schemas;
    const asked = process.hrtime.bigint();
    try {
      const verdicts = group.tests.map((one) => check(one.data) === one.valid);
      checking += process.hrtime.bigint() - asked, values += verdicts.length;
      right += verdicts.filter(Boolean).length;
    } catch {
      // one schema recurses until the stack ends
    }
    if (typeof group.schema === "object") ajv.removeSchema(group.schema);
  }
const us = (ns, n) => (Number(ns) / 1e3 / n).toFixed(3);
console.log(`ajv: right ${Math.round(right / rounds)}, ${us(compiling, schemas)} us a schema, ${us(checking, values)} us a value`);
