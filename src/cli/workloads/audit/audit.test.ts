import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import { callServer } from "../../../servers/calls/server-client.ts";
import {
  defineGymnasiumServer,
  defineResourcesServer,
} from "../../../servers/definitions/define-resources.ts";
import type { ServerDefinition } from "../../../servers/definitions/definitions.ts";
import { outputText } from "../../../wire/read-output.ts";
import type { AuditReport } from "./audit.ts";
import { auditServer } from "./run-audit.ts";
import { readAuditSettings } from "./settings.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-audit-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const rows: JsonObject[] = ["one", "two", "three", "four", "five"].map((answer) => ({
  responses_create_params: { input: [{ role: "user", content: `Say ${answer.length}.` }] },
  expected_answer: answer,
}));

interface Setup {
  rows?: JsonObject[];
  settings?: string;
  only: string | string[];
  config?: JsonObject;
}

async function audit(definition: ServerDefinition, setup: Setup): Promise<AuditReport> {
  const used = setup.rows ?? rows;
  const file = path.join(base, "example.jsonl");
  writeFileSync(file, used.map((row) => `${JSON.stringify(row)}\n`).join(""));
  if (setup.settings !== undefined) writeFileSync(path.join(base, "audit.yaml"), setup.settings);
  const settings = readAuditSettings(base, "test");
  return auditServer({
    server: {
      name: "test",
      implementation: "test",
      directory: base,
      definition,
      config: setup.config ?? {},
      globalConfig: {},
      others: ["judge"],
      roots: [base],
      verdicts: settings.judge,
    },
    configFile: path.join(base, "test.yaml"),
    rows: used,
    settings,
    dataset: {
      file,
      entry: { name: "example", type: "example", jsonl_fpath: "example.jsonl" },
      lineCount: used.length,
      splits: [],
    },
    only: [setup.only].flat(),
  });
}

const messages = ({ checks }: AuditReport) =>
  checks.flatMap(({ findings }) => findings.map(({ message }) => message));
const policies = ({ checks }: AuditReport) => [
  ...new Set(checks.flatMap(({ findings }) => findings.map(({ policy }) => policy))),
];

/** A verifier as it should be. */
const fair = defineResourcesServer({
  row: z.object({ expected_answer: z.string() }),
  verify: ({ row, response }) => ({ reward: outputText(response).trim() === row.expected_answer ? 1 : 0 }),
});

const rewarding = (reward: (text: string, expected: string) => number) =>
  defineResourcesServer({
    row: z.object({ expected_answer: z.string() }),
    verify: ({ row, response }) => ({ reward: reward(outputText(response), row.expected_answer) }),
  });

describe("a fair verifier", () => {
  it("passes all checks, without those for a judge and a file that is not there", async () => {
    const report = await audit(fair, { only: [] });
    expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
    expect(report.checks.filter(({ status }) => status === "skipped").map(({ check }) => check)).toEqual([
      "example-metrics-current",
      "judge-failure-is-no-reward",
      "judge-not-talked-over",
    ]);
    expect(report.passed).toBe(true);
  });

  it("gets the list of checks for an unknown name", async () => {
    await expect(audit(fair, { only: "gold" })).rejects.toThrow("Unknown check: gold. Checks: example-rows");
  });
});

describe("what an audit finds", () => {
  it("right answers that earn too little", async () => {
    const report = await audit(
      rewarding(() => 0.5),
      { only: "gold-earns-maximum" },
    );
    expect(messages(report)[0]).toBe("The right answer earns 0.5 instead of 1.");
    expect(report.passed).toBe(false);
  });

  it("no wrong gold answers if the row may describe a state", async () => {
    const stateful = (reward: number) =>
      defineResourcesServer({ session: () => ({ sum: 0 }), verify: () => ({ reward }) });
    const targets = rows.map(({ responses_create_params }, target) => ({ responses_create_params, target }));
    const setup = { rows: targets, only: "gold-earns-maximum" };
    const unknown = await audit(stateful(0), setup);
    expect(messages(unknown)).toEqual([]);
    expect(unknown.checks[0]?.status).toBe("skipped");
    expect(messages(await audit(stateful(0.5), setup))).toHaveLength(5);
    const stateless = rewarding(() => 0);
    expect(messages(await audit(stateless, setup))).toHaveLength(5);
  });

  it("rewards for nothing", async () => {
    const report = await audit(
      rewarding((text) => (text.length < 40 ? 1 : 0)),
      { only: "nonsense-earns-minimum" },
    );
    expect(policies(report)).toEqual(["no output", "empty answer", "nonsense", "prompt echo"]);
    const options = await audit(
      rewarding((text) => (text.includes("B") ? 1 : 0)),
      {
        rows: [{ ...rows[0], options: [{ A: "x" }, { B: "y" }] }],
        only: "nonsense-earns-minimum",
      },
    );
    expect(policies(options)).toEqual(["every option"]);
  });

  it("near misses that earn as much as the right answer", async () => {
    const numbers = rows.map(({ responses_create_params }, at) => ({
      responses_create_params,
      expected_answer: String(at + 1),
    }));
    const loose = rewarding((text, expected) => (Math.abs(Number(text)) === Number(expected) ? 1 : 0));
    const setup = { rows: numbers, only: "near-miss-loses" };
    expect(policies(await audit(loose, setup))).toEqual(["sign"]);
    const settings =
      "near_misses: {except: [{edit: sign, reason: Only the distance is asked for here.}], texts: ['{expected_answer}e0']}";
    expect(policies(await audit(loose, { ...setup, settings }))).toEqual(["answer of audit.yaml"]);
    expect(messages(await audit(fair, { rows: numbers, only: "near-miss-loses" }))).toEqual([]);
  });

  it("a verifier that compares one of several arguments", async () => {
    const expected_calls = [{ name: "book", arguments: { from: "Oslo", to: "Rome", seats: 2 } }];
    const compare = (all: "every" | "some") =>
      defineResourcesServer({
        row: z.object({ expected_calls: z.any() }),
        verify({ response }) {
          const calls = response.output.filter(({ type }) => type === "function_call");
          const [call] = calls as unknown as { name: string; arguments: string }[];
          const given = JSON.parse(call?.arguments ?? "{}") as Record<string, unknown>;
          const pairs = Object.entries(expected_calls[0]?.arguments ?? {});
          const right = pairs[all](([key, value]) => given[key] === value);
          const sameShape = Object.keys(given).length === pairs.length && call?.name === "book";
          return { reward: calls.length === 1 && sameShape && right ? 1 : 0 };
        },
      });
    const setup = {
      rows: [{ responses_create_params: rows[0]?.["responses_create_params"], expected_calls }],
      only: "near-miss-loses",
    };
    expect(policies(await audit(compare("some"), setup))).toEqual(["argument changed"]);
    expect((await audit(compare("every"), setup)).passed).toBe(true);
  });

  it("right answers in another form that earn less", async () => {
    const strict = rewarding((text, expected) => (text === `\\boxed{${expected}}` ? 1 : 0));
    const report = await audit(strict, { only: "rewriting-keeps" });
    expect(policies(report)).toEqual(["surrounding space", "text before", "space in the mark"]);
    const first = defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      verify({ row, response }) {
        const [item] = response.output as unknown as { content?: { text: string }[] }[];
        return { reward: item?.content?.[0]?.text.trim() === row.expected_answer ? 1 : 0 };
      },
    });
    expect(policies(await audit(first, { only: "rewriting-keeps" }))).toEqual(["reasoning first"]);
  });

  it("forms of a number and a fraction in a box that earn less", async () => {
    const rowsOf = (...answers: string[]) =>
      answers.map((expected_answer) => ({
        responses_create_params: rows[0]?.["responses_create_params"],
        expected_answer,
      }));
    const boxed = (read: (box: string) => string) =>
      rewarding((text, expected) => (read(/\\boxed\{(.*)\}/s.exec(text)?.[1] ?? "") === expected ? 1 : 0));
    const setup = { rows: rowsOf("1200", "\\frac{1}{2}"), only: "rewriting-keeps" };
    const plain = (box: string) => box.trim().replaceAll("$", "");
    expect(policies(await audit(boxed(plain), setup))).toEqual(["number form", "digit groups", "LaTeX form"]);
    const whole = (box: string) =>
      plain(box)
        .replace(/[dt]frac/, "frac")
        .replace(/\.0$/, "")
        .replace("{,}", "");
    expect(policies(await audit(boxed(whole), setup))).toEqual([]);
  });

  it("a formula and a text of which only a part is compared", async () => {
    const shape = (text: string) => text.replaceAll(/\d/g, "0");
    const loose = rewarding((text, expected) => (shape(text) === shape(expected) ? 1 : 0));
    for (const expected_answer of ["x^{2}+3", "12 km"]) {
      const responses_create_params = rows[0]?.["responses_create_params"];
      const setup = { rows: [{ responses_create_params, expected_answer }], only: "near-miss-loses" };
      expect(policies(await audit(loose, setup))).toEqual(["value changed"]);
    }
  });

  it("rewards that are missing or not in range", async () => {
    const report = await audit(
      rewarding(() => 7),
      { only: "reward-in-range" },
    );
    expect(messages(report)[0]).toBe("The reward 7 is not in 0 to 1.");
    const nan = await audit(
      rewarding(() => Number.NaN),
      { only: "reward-in-range" },
    );
    expect(nan.passed).toBe(false);
  });

  it("results that change", async () => {
    let count = 0;
    const moody = rewarding(() => (count++ % 2 === 0 ? 1 : 0));
    expect(messages(await audit(moody, { only: "verification-deterministic" }))[0]).toMatch(
      /^Two runs differ: reward/,
    );
    let calls = 0;
    const noting = defineResourcesServer({ verify: () => ({ reward: 0, number: calls++ }) });
    expect(messages(await audit(noting, { only: "verification-deterministic" }))[0]).toBe(
      "Two runs differ: the field 'number'.",
    );
  });

  it("memory of earlier rollouts", async () => {
    const shared = defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      start: (server) => void Object.assign(server, { seen: new Set<string>() }),
      verify({ row, server }) {
        const { seen } = server as unknown as { seen: Set<string> };
        const first = seen.size === 0;
        seen.add(row.expected_answer);
        return { reward: first ? 1 : 0 };
      },
    });
    const report = await audit(shared, {
      only: ["verification-deterministic", "verification-order-independent"],
    });
    expect(report.checks.map(({ status }) => status)).toEqual(["passed", "failed"]);
  });

  it("sessions that share state", async () => {
    const tool = {
      type: "function",
      name: "add",
      parameters: { type: "object", properties: { n: { type: "integer" } } },
    };
    const mixing = (own: boolean) =>
      defineResourcesServer({
        session: () => ({ total: 0 }),
        start: (server) => void Object.assign(server, { total: 0 }),
        tools: {
          add: {
            input: z.object({ n: z.number().optional() }),
            async run({ input, session, server }) {
              const place = (own ? session : server) as { total: number };
              if (!own && session.total === 0) place.total = 0;
              session.total = 1;
              place.total += input.n ?? 1;
              await new Promise((resolve) => setTimeout(resolve, 1));
              return { total: place.total };
            },
          },
        },
        verify: () => ({ reward: 0 }),
      });
    const withTool = rows.map((row) => ({
      responses_create_params: { ...(row["responses_create_params"] as object), tools: [tool] },
    }));
    const report = await audit(mixing(false), { rows: withTool, only: "sessions-isolated" });
    expect(messages(report)[0]).toContain("the result differs: the reply of the tool 'add'");
    expect((await audit(mixing(true), { rows: withTool, only: "sessions-isolated" })).passed).toBe(true);
  });

  it("crashes on malformed output", async () => {
    const fragile = defineResourcesServer({
      verify({ response }) {
        const [first] = response.output;
        const { content } = first as { content: { text: string }[] };
        return { reward: content[0]?.text.length === 0 ? 0 : 0 };
      },
    });
    const report = await audit(fragile, { only: "malformed-output-is-no-failure" });
    expect(messages(report)).toContain("/verify answers with 500.");
    expect(policies(report)).toContain("thoughts without an answer");
  });

  it("verifiers that block the event loop", async () => {
    const busy = rewarding(() => {
      const until = performance.now() + 30;
      while (performance.now() < until);
      return 0;
    });
    const report = await audit(busy, {
      rows: rows.slice(0, 1),
      settings: "limits: {loop_ms: 10}\n",
      only: "verification-fast",
    });
    expect(messages(report)[0]).toMatch(/^It blocks the event loop for \d+ ms \(at most 10\)/);
  });

  it("rows that the server rejects", async () => {
    const report = await audit(fair, {
      rows: [{ responses_create_params: { input: "x" } }],
      only: "example-rows-usable",
    });
    expect(messages(report)).toEqual([
      "example.jsonl has 1 rows instead of 5.",
      "/verify rejects the row with 422.",
    ]);
  });

  it("metrics that do not match the rows", async () => {
    writeFileSync(path.join(base, "example_metrics.json"), '{"Number of examples": 4}');
    const report = await audit(fair, { only: "example-metrics-current" });
    expect(report.checks[0]?.findings[0]?.evidence["differences"]).toEqual([
      "Number of examples: was 4, is 5",
    ]);
    const [message = ""] = messages(report);
    expect(message).toContain(`--config ${path.relative("", path.join(base, "test.yaml"))} `);
  });
});

describe("judges", () => {
  const judged = (read: (said: string) => boolean) =>
    defineResourcesServer({
      row: z.object({ expected_answer: z.string() }),
      async verify({ response, server, signal }) {
        const asked = `Is this right?\n${outputText(response)}`;
        const reply = await callServer(server.client, {
          server: "judge",
          path: "/v1/responses",
          body: { input: asked },
          stage: "verify",
          signal,
        });
        return { reward: read(outputText(reply.json() as never)) ? 1 : 0 };
      },
    });
  const settings = "judge: {accept: RIGHT, reject: WRONG}\n";
  const only = ["judge-failure-is-no-reward", "judge-not-talked-over"];

  it("pass if the last verdict counts", async () => {
    const report = await audit(
      judged((said) => said.trimEnd().endsWith("RIGHT")),
      { settings, only },
    );
    expect(report.checks.map(({ status }) => status)).toEqual(["passed", "passed"]);
  });

  it("answer each question with its own verdict", async () => {
    const report = await audit(
      judged((said) => said.trimEnd().endsWith("RIGHT")),
      {
        settings: "judge: {accept: {other: WRONG, Is this: RIGHT}, reject: {Is this: WRONG}}\n",
        only: "gold-earns-maximum",
      },
    );
    expect(report.checks.map(({ status }) => status)).toEqual(["passed"]);
  });

  it("can be manipulated if any verdict counts", async () => {
    const report = await audit(
      judged((said) => said.includes("RIGHT")),
      { settings, only },
    );
    expect(report.checks.map(({ status }) => status)).toEqual(["passed", "failed"]);
    expect(policies(report)).toEqual(["instructions to the judge"]);
  });

  it("must not give a reward if they return no verdict or fail", async () => {
    const report = await audit(
      judged((said) => !said.includes("WRONG")),
      { settings, only },
    );
    expect(messages(report)).toContain("A judge that gives no verdict earns the maximum.");
    const hiding = defineResourcesServer({
      async verify({ server, signal }) {
        const reply = await server.client.post("judge", "/v1/responses", {}, { signal });
        return { reward: reply.status === 200 ? 1 : 0 };
      },
    });
    expect(messages(await audit(hiding, { settings, only }))).toContain(
      "With a judge that answers 500 the reward 0 counts.",
    );
  });

  it("need verdicts in audit.yaml", async () => {
    const report = await audit(
      judged(() => false),
      { only: "judge-not-talked-over" },
    );
    expect(messages(report)[0]).toContain("describe them under `judge` in audit.yaml");
  });
});

describe("environments of several turns", () => {
  it("are audited too", async () => {
    const guess = defineGymnasiumServer({
      row: z.object({ expected_answer: z.string() }),
      reset: () => ({ session: { turns: 0 }, observation: "Guess." }),
      step({ row, session, response }) {
        session.turns++;
        const right = outputText(response) === row.expected_answer;
        return { reward: right ? 1 : 0, terminated: right || session.turns === 3, observation: "No." };
      },
    });
    const report = await audit(guess, {
      only: ["gold-earns-maximum", "nonsense-earns-minimum", "sessions-isolated"],
    });
    expect(report.checks.map(({ status }) => status)).toEqual(["passed", "passed", "passed"]);
  });
});

describe("audit.yaml", () => {
  it("waives findings, and the report lists unused waivers", async () => {
    const settings = `waivers:
- {check: nonsense-earns-minimum, reason: "Every answer is worth one in this example."}
- {check: gold-earns-maximum, reason: "Nobody knows what is right in this example."}
`;
    const report = await audit(
      rewarding(() => 1),
      { settings, only: ["gold-earns-maximum", "nonsense-earns-minimum"] },
    );
    expect(report.passed).toBe(true);
    expect(report.checks[1]).toMatchObject({
      status: "waived",
      waiver: "Every answer is worth one in this example.",
    });
    expect(report.unusedWaivers).toEqual(["gold-earns-maximum"]);
  });

  it("defines the right answer if the row does not have it", async () => {
    const settings = "gold: {text: '<<{expected_answer}>>'}\n";
    const report = await audit(
      rewarding((text, expected) => (text === `<<${expected}>>` ? 1 : 0)),
      { settings, only: "gold-earns-maximum" },
    );
    expect(report.passed).toBe(true);
  });

  it("excludes measured times", async () => {
    let calls = 0;
    const timing = defineResourcesServer({
      verify: () => ({ reward: 0, about: { seconds: calls++, passed: 1 } }),
    });
    const only = ["verification-deterministic", "verification-order-independent"];
    const settings = "measured_fields: [about.seconds]\n";
    expect((await audit(timing, { settings, only })).passed).toBe(true);
    expect((await audit(timing, { settings: "measured_fields: [about.passed]\n", only })).passed).toBe(false);
  });

  it("excludes rows in which doing nothing is right, for one config", async () => {
    const settings = `configs:
  test:
    free_rows: [{row: 1, reason: "Nothing is to be done in this row."}]
`;
    const free = rewarding((_, expected) => (expected === "one" ? 1 : 0));
    expect((await audit(free, { settings, only: "nonsense-earns-minimum" })).passed).toBe(true);
  });

  it("rejects unknown keys", () => {
    writeFileSync(path.join(base, "audit.yaml"), "waivers: [{check: x, reason: short}]\nother: 1\n");
    expect(() => readAuditSettings(base, "test")).toThrow(/audit\.yaml cannot be used: .*waivers\.0\.reason/);
  });
});
