// Converts task files of lm-evaluation-harness and compares the prompts with those that it made (make-cases.py).
// usage: npm run build && node scripts/compare-lm-eval/compare.mjs CASES.jsonl
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { openConversion } from "../../dist/src/data/door.js";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: compare.mjs CASES.jsonl");
const directory = await mkdtemp(path.join(os.tmpdir(), "compare-lm-eval-"));
const documents = path.join(directory, "documents.jsonl");
const access = { hub: {}, directory, roots: ["/"], signal: new AbortController().signal, log: () => {} };
const counts = { tasks: 0, equal: 0, prompts: 0, refused: 0, byType: {} };
const differences = [];

for (const line of (await readFile(file, "utf8")).split("\n").filter(Boolean)) {
  const given = JSON.parse(line);
  await writeFile(documents, given.documents.map((row) => `${JSON.stringify(row)}\n`).join(""));
  counts.tasks++;
  let problem;
  try {
    const { rows, report } = await openConversion({
      input: given.file,
      documents,
      examples: documents,
      processed: true,
      access,
    });
    let index = 0;
    for await (const { row } of rows) {
      const expected = given.prompts[index++];
      const own = { arguments: argumentsOf(row), gold: goldOf(row) };
      const wanted = { arguments: expected.arguments, gold: wantedGold(row, expected.gold) };
      counts.prompts++;
      if (JSON.stringify(own) !== JSON.stringify(wanted)) problem ??= { own, wanted };
    }
    if (index !== given.prompts.length) problem ??= { rows: index, problems: report.problems };
  } catch (error) {
    problem = { error: error.message };
  }
  counts.byType[given.type] = (counts.byType[given.type] ?? 0) + (problem === undefined ? 1 : 0);
  if (problem === undefined) counts.equal++;
  else differences.push({ file: given.file, ...problem });
}
await rm(directory, { recursive: true });
for (const difference of differences.slice(0, 20)) console.log(JSON.stringify(difference).slice(0, 1500));
console.log(JSON.stringify(counts));
process.exitCode = differences.length === 0 ? 0 : 1;

function argumentsOf(row) {
  const { output_type: type, context, contexts, continuations, continuation, text } = row;
  if (type === "multiple_choice") return continuations.map((end, at) => [contexts?.[at] ?? context, end]);
  if (type === "loglikelihood") return [[context, continuation]];
  if (type === "loglikelihood_rolling") return [[text]];
  return [[row.responses_create_params.input[0].content]];
}

function goldOf(row) {
  if (row.output_type === "multiple_choice") return row.gold;
  return row.output_type === undefined ? (row.expected_answers ?? row.expected_answer) : null;
}

function wantedGold(row, gold) {
  if (row.output_type !== undefined) return typeof gold === "boolean" ? Number(gold) : gold;
  return Array.isArray(gold) ? gold.map(String) : pythonText(gold);
}

function pythonText(value) {
  if (value === true) return "True";
  return value === false ? "False" : String(value);
}
