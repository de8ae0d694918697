import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import { callServer } from "../../../servers/calls/server-client.ts";
import { defineResourcesServer } from "../../../servers/definitions/define-resources.ts";
import type { ServerDefinition } from "../../../servers/definitions/definitions.ts";
import { outputText } from "../../../wire/read-output.ts";
import { readAuditSettings } from "../audit/settings.ts";
import { type Certified, certifyServer } from "./certify.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-zoo-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const prompt = (text: string, more: object = {}) => ({ input: [{ role: "user", content: text }], ...more });
const words = ["heron", "linden", "copper", "violin", "harbour"];
const texts: JsonObject[] = words.map((answer, at) => ({
  responses_create_params: prompt(`Which word has the number ${at} in the list of the museum?`),
  expected_answer: answer,
}));
const numbers: JsonObject[] = [12, 7, 31, 400, 58].map((answer, at) => ({
  responses_create_params: prompt(`How many chairs are in room ${at}?`),
  expected_answer: String(answer),
}));
const choices: JsonObject[] = ["A", "B", "C", "B", "A"].map((answer, at) => ({
  responses_create_params: prompt(`Pick one for question ${at}. A: red, B: green, C: blue`),
  options: [{ A: "red" }, { B: "green" }, { C: "blue" }],
  expected_answer: answer,
}));
const calls: JsonObject[] = words.map((city, at) => ({
  responses_create_params: prompt(`Book trip ${at}.`),
  expected_calls: [{ name: "book", arguments: { city, seats: at + 1 } }],
}));
const objects: JsonObject[] = words.map((name, at) => ({
  responses_create_params: prompt(`Describe thing ${at} as JSON.`),
  expected_answer: JSON.stringify({ name, parts: [at, at + 1] }),
}));

const scoring = (reward: (text: string, expected: string) => number | boolean) =>
  defineResourcesServer({
    row: z.object({ expected_answer: z.string() }),
    verify: ({ row, response }) => ({
      reward: Number(reward(outputText(response).trim(), row.expected_answer)),
    }),
  });

interface Call {
  name: string;
  arguments: string;
}
const calling = (right: (given: Call[], wanted: { name: string; arguments: JsonObject }[]) => boolean) =>
  defineResourcesServer({
    row: z.object({
      expected_calls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.any()) })),
    }),
    verify({ row, response }) {
      const given = response.output.filter(({ type }) => type === "function_call") as unknown as Call[];
      return { reward: right(given, row.expected_calls) ? 1 : 0 };
    },
  });
const argumentsOf = ({ arguments: text }: Call): JsonObject => {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
};

const judged = (read: (said: string, failed: boolean) => boolean) =>
  defineResourcesServer({
    row: z.object({ expected_answer: z.string() }),
    async verify({ server, response, signal }) {
      const body = { input: `Grade this: ${outputText(response)}` };
      const call = { server: "judge", path: "/v1/responses", body, stage: "verify", signal } as const;
      try {
        const reply = await callServer(server.client, call);
        return { reward: Number(read(outputText(reply.json() as never), false)) };
      } catch {
        return { reward: Number(read("", true)) };
      }
    },
  });

let clock = 0;

const plain = (text: string, expected: string) => text === expected;

interface Animal {
  readonly name: string;
  readonly check: string;
  readonly server: ServerDefinition;
  readonly rows?: JsonObject[];
  readonly settings?: string;
}

/** Bad environments, each with the check that should name it. */
const zoo: Animal[] = [
  {
    name: "empty answer wins",
    check: "nonsense-earns-minimum",
    server: scoring((text, expected) => text === "" || text === expected),
  },
  {
    name: "refusal wins",
    check: "nonsense-earns-minimum",
    server: scoring((text, expected) => text.includes("sorry") || text === expected),
  },
  { name: "anything wins", check: "nonsense-earns-minimum", server: scoring(() => 1) },
  {
    name: "echo of the prompt wins",
    check: "nonsense-earns-minimum",
    server: scoring((text, expected) => text.includes("museum") || text === expected),
  },
  {
    name: "partial credit for noise",
    check: "nonsense-earns-minimum",
    server: scoring((text, expected) => (text === expected ? 1 : 0.2)),
  },
  {
    name: "all options at once win",
    check: "nonsense-earns-minimum",
    server: scoring((text, expected) => text.includes(expected)),
    rows: choices,
  },
  {
    name: "first option wins",
    check: "near-miss-loses",
    server: scoring((text, expected) => text === expected || text === "A"),
    rows: choices,
  },
  {
    name: "only the kind of option counts",
    check: "near-miss-loses",
    server: scoring((text) => /^[ABC]$/.test(text)),
    rows: choices,
  },
  {
    name: "sign does not count",
    check: "near-miss-loses",
    server: scoring((text, expected) => text !== "" && Math.abs(Number(text)) === Number(expected)),
    rows: numbers,
  },
  {
    name: "loose compare of floats",
    check: "near-miss-loses",
    server: scoring((text, expected) => text !== "" && Math.abs(Number(text) - Number(expected)) < 2),
    rows: numbers,
  },
  {
    name: "first digit decides",
    check: "near-miss-loses",
    server: scoring((text, expected) => text.startsWith(expected)),
    rows: numbers,
  },
  {
    name: "prefix of a word wins",
    check: "near-miss-loses",
    server: scoring((text, expected) => text !== "" && text.slice(0, 3) === expected.slice(0, 3)),
  },
  {
    name: "a word more wins",
    check: "near-miss-loses",
    server: scoring((text, expected) => text.split(" ")[0] === expected),
  },
  {
    name: "one right argument is enough",
    check: "near-miss-loses",
    server: calling(
      (given, wanted) =>
        given.length === 1 &&
        given[0]?.name === wanted[0]?.name &&
        Object.keys(argumentsOf(given[0] as Call)).length === 2 &&
        Object.entries(wanted[0]?.arguments ?? {}).some(
          ([key, value]) => argumentsOf(given[0] as Call)[key] === value,
        ),
    ),
    rows: calls,
  },
  {
    name: "only the name of the tool counts",
    check: "near-miss-loses",
    server: calling((given, wanted) => given.length > 0 && given[0]?.name === wanted[0]?.name),
    rows: calls,
  },
  {
    name: "further calls are free",
    check: "near-miss-loses",
    server: calling((given, wanted) =>
      given.some(
        (call) =>
          call.name === wanted[0]?.name &&
          JSON.stringify(argumentsOf(call)) === JSON.stringify(wanted[0]?.arguments),
      ),
    ),
    rows: calls,
  },
  {
    name: "items of a list are not compared",
    check: "near-miss-loses",
    server: scoring((text, expected) => {
      try {
        return JSON.parse(text).name === JSON.parse(expected).name;
      } catch {
        return false;
      }
    }),
    rows: objects,
  },
  {
    name: "order of keys matters",
    check: "rewriting-keeps",
    server: scoring((text, expected) => text.replaceAll(/\s/g, "") === expected),
    rows: objects,
  },
  { name: "spaces in JSON matter", check: "rewriting-keeps", server: scoring(plain), rows: objects },
  {
    name: "reasoning hides the answer",
    check: "rewriting-keeps",
    server: defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      verify: ({ row, response }) => {
        const [item] = response.output as unknown as { content?: { text?: string }[] }[];
        return { reward: item?.content?.[0]?.text?.trim() === row.expected_answer ? 1 : 0 };
      },
    }),
  },
  {
    name: "right answer earns half",
    check: "gold-earns-maximum",
    server: scoring((text, expected) => (text === expected ? 0.5 : 0)),
  },
  { name: "right answer earns nothing", check: "gold-earns-maximum", server: scoring(() => 0) },
  {
    name: "reward out of range",
    check: "reward-in-range",
    server: scoring((text, expected) => (text === expected ? 1 : -3)),
  },
  {
    name: "depends on the clock",
    check: "verification-deterministic",
    server: scoring((text, expected) => (text === expected ? 1 : clock++ % 2 === 0 ? 0 : -0.5)),
    settings: "reward: {minimum: -1, maximum: 1}",
  },
  {
    name: "remembers earlier answers",
    check: "verification-order-independent",
    server: defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      start: (server) => void Object.assign(server, { first: undefined }),
      verify: ({ row, server }) => {
        const state = server as unknown as { first?: string };
        state.first ??= row.expected_answer;
        return { reward: state.first === row.expected_answer ? 1 : 0 };
      },
    }),
  },
  {
    name: "crashes on a refusal",
    check: "malformed-output-is-no-failure",
    server: defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      verify: ({ row, response }) => {
        const items = response.output as unknown as { type: string; content?: { text: string }[] }[];
        const last = items.findLast(({ type }) => type === "message");
        return {
          reward:
            last !== undefined &&
            last.content?.map((part) => part.text.trim()).join("") === row.expected_answer
              ? 1
              : 0,
        };
      },
    }),
  },
  {
    name: "answer in the prompt",
    check: "answer-not-announced",
    server: scoring(plain),
    rows: texts.map((row) => ({
      ...row,
      responses_create_params: prompt(`Which word? (expected_answer: ${row["expected_answer"]})`),
    })),
  },
  {
    name: "answer in the name of a file",
    check: "answer-not-announced",
    server: scoring(plain),
    rows: texts.map((row) => ({
      ...row,
      responses_create_params: {
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "What is shown?" },
              { type: "input_image", detail: "auto", image_url: `images/${row["expected_answer"]}.png` },
            ],
          },
        ],
      },
    })),
  },
  {
    name: "answer in a tool",
    check: "answer-not-announced",
    server: scoring(plain),
    rows: texts.map((row, at) => ({
      ...row,
      responses_create_params: prompt(`Which word has number ${at}?`, {
        tools: [
          {
            type: "function",
            name: "hint",
            description: `Use it rarely. Answer: ${row["expected_answer"]}`,
            parameters: { type: "object", properties: {} },
            strict: true,
          },
        ],
      }),
    })),
    settings: "call_tools: false",
  },
  {
    name: "a task occurs twice",
    check: "rows-unique",
    server: scoring(plain),
    rows: texts.with(4, texts[0] as JsonObject),
  },
  {
    name: "a task has two answers",
    check: "rows-unique",
    server: scoring(plain),
    rows: texts.with(4, { ...texts[0], expected_answer: "anchor" }),
  },
  {
    name: "a broken judge pays",
    check: "judge-failure-is-no-reward",
    server: judged((said, broken) => broken || said.includes("ACCEPT")),
    settings: "judge: {accept: ACCEPT, reject: REJECT}",
  },
  {
    name: "a verdict in the answer counts",
    check: "judge-not-talked-over",
    server: judged((said) => said.includes("ACCEPT")),
    settings: "judge: {accept: ACCEPT, reject: REJECT}",
  },
];

async function certify({
  server: definition,
  rows = texts,
  settings,
}: Pick<Animal, "server" | "rows" | "settings">): Promise<Certified> {
  const file = path.join(base, "example.jsonl");
  const configFile = path.join(base, "zoo.yaml");
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  writeFileSync(configFile, "{}\n");
  if (settings !== undefined) writeFileSync(path.join(base, "audit.yaml"), settings);
  const read = readAuditSettings(base, "zoo");
  const server = {
    name: "zoo",
    implementation: "zoo",
    directory: base,
    definition,
    config: {},
    globalConfig: {},
    others: ["judge"],
    roots: [base],
    verdicts: read.judge,
  };
  const dataset = {
    file,
    entry: { name: "example", type: "example", jsonl_fpath: "example.jsonl" },
    lineCount: rows.length,
    splits: [],
  };
  return certifyServer({
    target: { server, configFile, rows, settings: read, dataset },
    level: "semantic",
    against: [],
    runs: [],
    mutants: 0,
    hanging: [],
    installRoot: base,
  });
}

const failed = ({ certificate }: Certified) =>
  certificate.checks.filter(({ status }) => status === "failed").map(({ check }) => check);

it("has more than thirty animals", () => {
  expect(zoo.length).toBeGreaterThanOrEqual(30);
});

it.each(zoo)("names: $name", async (animal) => {
  const certified = await certify(animal);
  expect(failed(certified)).toContain(animal.check);
  const entry = certified.certificate.checks.find(({ check }) => check === animal.check);
  expect(entry?.remedy).toBeTruthy();
  expect(entry?.evidence?.length).toBeGreaterThan(0);
});

it.each([
  ["words", texts, scoring(plain)],
  ["numbers", numbers, scoring(plain)],
  ["options", choices, scoring(plain)],
] as const)("finds nothing in a fair verifier of %s", async (_name, rows, server) => {
  expect(failed(await certify({ server, rows: [...rows] }))).toEqual([]);
});
