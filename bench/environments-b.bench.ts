import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import googleSearch from "../resources_servers/google_search/app.ts";
import { extractText } from "../resources_servers/google_search/html/extract-text.ts";
import mathAdvancedCalculations from "../resources_servers/math_advanced_calculations/app.ts";
import reasoningGym from "../resources_servers/reasoning_gym/app.ts";
import singleStep from "../resources_servers/single_step_tool_use_with_argument_comparison/app.ts";
import workplaceAssistant from "../resources_servers/workplace_assistant/app.ts";
import xlamFc from "../resources_servers/xlam_fc/app.ts";
import type { ResourcesServerDefinition } from "../src/servers/definitions/define-resources.ts";
import {
  createTestServer,
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  type TestServer,
  verifyBody,
} from "../src/testing/index.ts";
import type { Report } from "./report.ts";

export const name = "environments-b";

/** Maximum time that an ordinary row may block the event loop. */
const MAX_CPU_MS = 5;
const RUNS = 200;
/** Characters of a page that are read at once. */
const PAGE_SLICE = 16 * 1024;

type JsonObject = Record<string, unknown>;

interface Subject {
  environment: string;
  definition: ResourcesServerDefinition;
  config?: JsonObject;
  /** The output of the model in the rollout of an example row. */
  output(row: JsonObject): unknown[];
  tools?: [name: string, input: JsonObject][];
}

const expectedCalls = (calls: unknown): unknown[] =>
  (calls as { name: string; arguments: unknown }[]).map((call) =>
    functionCallItem(call.name, call.arguments),
  );

const subjects: Subject[] = [
  {
    environment: "workplace_assistant",
    definition: workplaceAssistant,
    output: (row) => expectedCalls(row["ground_truth"]),
    tools: [
      ["email_search_emails", { query: "trade fair banner" }],
      ["calendar_search_events", { query: "lab tour" }],
      ["customer_relationship_manager_search_customers", { status: "Lead", product_interest: "Hardware" }],
    ],
  },
  {
    environment: "math_advanced_calculations",
    definition: mathAdvancedCalculations,
    output: (row) =>
      (JSON.parse(String(row["ground_truth"])) as number[]).map((solution) =>
        functionCallOutputItem({ solution }),
      ),
    tools: [
      ["add", { a: 1.5, b: 2.25 }],
      ["sin", { radians: 2.75 }],
      ["log", { a: 7, base: 9 }],
      ["power", { a: 3.5, b: -2.25 }],
    ],
  },
  {
    environment: "google_search",
    definition: googleSearch,
    config: { google_api_key: "unused", google_cx: "unused" },
    output: (row) => [messageItem(`Thinking it over. \\boxed{${String(row["expected_answer"])}}`)],
  },
  {
    environment: "xlam_fc",
    definition: xlamFc,
    output: (row) => expectedCalls(row["expected_answers"]),
  },
  {
    environment: "single_step_tool_use_with_argument_comparison",
    definition: singleStep,
    config: { tool_call_comparator_config: { word_count_similarity_threshold: 0.1 } },
    output: (row) => {
      const action = row["expected_action"] as JsonObject;
      return action["type"] === "message" ? [messageItem("Hello")] : expectedCalls([action]);
    },
  },
  {
    environment: "reasoning_gym",
    definition: reasoningGym,
    output: (row) => [messageItem(`<answer>${String(row["answer"])}</answer>`)],
  },
];

/** CPU of a verify and of tool calls, through routes, schemas and error mapping but without a port. */
export async function run(report: Report): Promise<void> {
  const root = repositoryRoot();
  for (const { environment, definition, config = {}, output, tools = [] } of subjects) {
    const directory = join(root, "resources_servers", environment);
    const lines = (await readFile(join(directory, "data", "example.jsonl"), "utf8")).trim().split("\n");
    const bodies = lines
      .map((line) => JSON.parse(line) as JsonObject)
      .map((row) => verifyBody(row, ...output(row)));
    const server = await createTestServer(definition, { config, directory });
    let next = 0;
    await measured(report, `${environment}: verify`, () => server.verify(bodies[next++ % bodies.length]));
    if (tools.length > 0) await measureTools(report, environment, server, tools);
    await server.close();
  }
  const page = samplePage();
  const label = `google_search: text of a page of ${Math.round(page.length / 1000)} kB`;
  const { cpuMs } = await report.measure(label, 20, () => extractText(page));
  const slice = (cpuMs * PAGE_SLICE) / page.length;
  report.check(
    `a slice of a page takes ${slice.toFixed(1)} ms of CPU (at most ${MAX_CPU_MS})`,
    slice <= MAX_CPU_MS,
  );
}

async function measureTools(
  report: Report,
  environment: string,
  server: TestServer,
  tools: NonNullable<Subject["tools"]>,
): Promise<void> {
  await server.seed({});
  for (const [tool, input] of tools)
    await measured(report, `${environment}: ${tool}`, () => server.tool(tool, input));
}

async function measured(
  report: Report,
  label: string,
  operation: () => Promise<{ status: number }>,
): Promise<void> {
  const { status } = await operation();
  if (status !== 200) throw new Error(`${label} answered ${status}`);
  // The compiler needs some runs before the figure is that of a long-running server.
  for (let warmUp = 0; warmUp < RUNS; warmUp++) await operation();
  const { cpuMs } = await report.measure(label, RUNS, operation);
  report.check(
    `${label} takes ${Math.round(cpuMs * 1000)} µs of CPU (at most ${MAX_CPU_MS} ms)`,
    cpuMs <= MAX_CPU_MS,
  );
}

/** A typical page: navigation, an article, a list of links, a footer. */
function samplePage(): string {
  const paragraph = `<p class="text">${"Lighthouses guide <a href='/ships'>ships</a> past rocks &amp; shoals by night. ".repeat(8)}</p>`;
  const links = `<ul class="menu">${"<li><a href='/somewhere'>Somewhere</a></li>".repeat(200)}</ul>`;
  return `<html><body><nav>${links}</nav><article><h1>Lights</h1>${paragraph.repeat(300)}</article><footer>${links}</footer></body></html>`;
}

/** Example data is next to the sources, even if this file has been compiled into another folder. */
function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
