import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import calendar from "../resources_servers/calendar/app.ts";
import equivalenceRule from "../resources_servers/equivalence_rule/app.ts";
import formatVerification from "../resources_servers/format_verification/app.ts";
import gpqaDiamond from "../resources_servers/gpqa_diamond/app.ts";
import mcqa from "../resources_servers/mcqa/app.ts";
import simpleqa from "../resources_servers/simpleqa/app.ts";
import stringMatch from "../resources_servers/string_match/app.ts";
import structuredOutputs from "../resources_servers/structured_outputs/app.ts";
import type { ResourcesServerDefinition } from "../src/servers/definitions/define-resources.ts";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "../src/testing/index.ts";
import type { Report } from "./report.ts";

export const name = "environments-a";

/** Maximum time that a verifier may block the event loop; slower verifiers run in the worker pool. */
const loopBudgetMs = 5;
const runs = 300;
const root = new URL(import.meta.url.endsWith(".ts") ? "../" : "../../", import.meta.url);

/** About 4 kB of reasoning before the answer, as is typical for models. */
const reasoning =
  "Let us look at the options one by one. The first does not fit, because the answer must be larger.\n\n".repeat(
    40,
  );

interface Case {
  label: string;
  definition: ResourcesServerDefinition;
  row: Record<string, unknown>;
  output: Record<string, unknown>;
  config?: Record<string, unknown>;
}

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

const options = [{ A: "Red light" }, { B: "Blue light" }, { C: "Green light" }, { D: "Ultraviolet" }];
const choice = { options, expected_answer: "B" };
const properties = {
  sku: { type: "string", pattern: "^[A-Z]-[0-9]+$" },
  quantity: { type: "integer", minimum: 1 },
  price: { type: "number" },
};
const table = JSON.stringify({ type: "array", items: { type: "object", properties } });
const order = JSON.stringify({
  type: "object",
  properties: {
    order: { type: "object", properties: { line: { type: "array", items: { type: "object", properties } } } },
  },
});
const records = Array.from({ length: 30 }, (_, index) => ({
  sku: `L-${index}`,
  quantity: index + 1,
  price: 2.5,
}));
const structured = (label: string, schema_type: string, schema_str: string, text: string): Case => ({
  label: `structured_outputs, ${label}, 30 records`,
  definition: structuredOutputs,
  row: { schema_type, schema_str },
  output: messageItem(text),
});

const state = Object.fromEntries(
  [0, 1, 2, 3].map((id) => [
    id,
    { event_id: id, duration: 60, constraint: "after 9am", min_time: "9:00", max_time: "17:00" },
  ]),
);
const events = JSON.stringify(
  [0, 1, 2, 3].map((id) => ({
    event_id: id,
    event_name: "Meeting",
    start_time: `${10 + id}:00`,
    duration: 60,
  })),
);

const cases: Case[] = [
  { label: "mcqa, strict box", definition: mcqa, row: choice, output: messageItem(`${reasoning}\\boxed{B}`) },
  {
    label: "mcqa, pattern of the row",
    definition: mcqa,
    row: { ...choice, template_metadata: { output_regex: "final answer:\\s*\\(?([A-Z])\\)?" } },
    output: messageItem(`${reasoning}Final answer: (B)`),
  },
  {
    label: "mcqa, markdown answer line",
    definition: mcqa,
    config: { grading_mode: "lenient_answer_colon_md" },
    row: choice,
    output: messageItem(`${reasoning}**Answer**: B`),
  },
  {
    label: "gpqa_diamond",
    definition: gpqaDiamond,
    row: choice,
    output: messageItem(`${reasoning}Answer: B`),
  },
  {
    label: "string_match, final answer",
    definition: stringMatch,
    row: { expected_answer: "New York" },
    output: messageItem(`${reasoning}Final answer: NY`),
  },
  {
    label: "string_match, full response of 4 kB",
    definition: stringMatch,
    row: { expected_answer: "New York", extraction_mode: "full_response" },
    output: messageItem(reasoning),
  },
  {
    label: "equivalence_rule, similarity of 4 kB and 3 kB",
    definition: equivalenceRule,
    config: { grading_rule: "weighted_seq_match" },
    row: { expected_answer: reasoning.slice(1000) },
    output: messageItem(reasoning),
  },
  {
    label: "format_verification, 200 lines, 3 patterns",
    definition: formatVerification,
    row: {
      verifier: {
        type: "regex",
        verify_regex: ["^#{1,3} \\S", "^\\s*[-*•]\\s+\\S", "^\\d+\\.\\s"],
        verify_min_matches: 3,
      },
    },
    output: messageItem(
      lines(200, (index) =>
        index % 10 === 0 ? `- item ${index}` : "A line of plain prose that goes on for a while.",
      ),
    ),
  },
  {
    label: "calendar, four events",
    definition: calendar,
    row: { exp_cal_state: state },
    output: messageItem(`Done. ${events}`),
  },
  structured("JSON", "json", table, JSON.stringify(records)),
  structured(
    "YAML",
    "yaml",
    table,
    lines(30, (index) => `- sku: L-${index}\n  quantity: ${index + 1}\n  price: 2.5`),
  ),
  structured(
    "XML",
    "xml",
    order,
    `<order>${lines(30, (index) => `<line><sku>L-${index}</sku><quantity>${index + 1}</quantity><price>2.5</price></line>`)}</order>`,
  ),
  structured(
    "TOML",
    "toml",
    order,
    lines(30, (index) => `[[order.line]]\nsku = "L-${index}"\nquantity = ${index + 1}\nprice = 2.5`),
  ),
  structured(
    "CSV",
    "csv",
    table,
    `sku,quantity,price\n${lines(30, (index) => `L-${index},${index + 1},2.5`)}`,
  ),
  {
    label: "structured_outputs, tool call, 30 records",
    definition: structuredOutputs,
    row: { schema_str: table, response_mode: "tool_call", tool_payload_key: "rows" },
    output: functionCallItem("submit", { rows: records }),
  },
  {
    label: "simpleqa, one judge call",
    definition: simpleqa,
    config: { judge_model_server: { type: "responses_api_models", name: "judge" } },
    row: { question: "Capital of Peru?", expected_answer: "Lima" },
    output: messageItem("Lima"),
  },
];

/** Number of verifications per fixture; the fastest one counts. */
const passes = 5;

/** The slowest verification over the golden vectors of an environment. */
async function slowestFixture(environment: string, definition: ResourcesServerDefinition): Promise<number> {
  const text = await readFile(new URL(`tests/golden/fixtures/${environment}/parity.jsonl`, root), "utf8");
  const server = await createTestServer(definition);
  let slowest = 0;
  for (const line of text.split("\n").filter((row) => row !== "")) {
    const { request } = JSON.parse(line) as { request?: unknown };
    let fastest = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < passes; pass++) {
      const started = performance.now();
      await server.verify(request);
      fastest = Math.min(fastest, performance.now() - started);
    }
    slowest = Math.max(slowest, fastest);
  }
  await server.close();
  return slowest;
}

export async function run(report: Report): Promise<void> {
  for (const { label, definition, config = {}, row, output } of cases) {
    const server = await createTestServer(definition, {
      config,
      directory: fileURLToPath(new URL("resources_servers/simpleqa/", root)),
      servers: { judge: () => ({ output: [messageItem("A")] }) },
    });
    const body = verifyBody(row, output);
    for (let warmUp = 0; warmUp < runs / 3; warmUp++) await server.verify(body);
    const { cpuMs } = await report.measure(label, runs, () => server.verify(body));
    if (cpuMs >= loopBudgetMs)
      report.check(`${label} holds the loop for less than ${loopBudgetMs} ms`, false);
    await server.close();
  }
  for (const [environment, definition] of [
    ["mcqa", mcqa],
    ["gpqa_diamond", gpqaDiamond],
    ["string_match", stringMatch],
    ["equivalence_rule", equivalenceRule],
    ["format_verification", formatVerification],
    ["calendar", calendar],
    ["structured_outputs", structuredOutputs],
  ] as const) {
    const slowest = await slowestFixture(environment, definition);
    report.check(
      `${environment}: no fixture holds the loop for ${loopBudgetMs} ms (slowest ${slowest.toFixed(2)})`,
      slowest < loopBudgetMs,
    );
  }
}
