import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type EndpointRequest, faults } from "../src/testing/endpoint-server.ts";
import {
  type MockAnswer,
  MockModelEndpoint,
  type MockModelOptions,
} from "../src/testing/mock-model-endpoint.ts";
import { project, runGym } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";

const KEY = "sk-very-secret-0123456789abcdef";
const MODEL = "policy_model.responses_api_models.openai_model";
const STORM_SECONDS = Number(process.env["NEMO_GYM_STORM_SECONDS"] ?? 8);

/** Calls the tool of the row, then answers. */
function answer({ body }: EndpointRequest): MockAnswer {
  const called = JSON.stringify(body["input"]).includes("function_call_output");
  const [tool] = (body["tools"] ?? []) as { name: string }[];
  return tool && !called
    ? { toolCalls: [{ name: tool.name, arguments: { city: "Oban" } }] }
    : { text: "It is cold." };
}

async function endpoint(options: MockModelOptions = {}): Promise<MockModelEndpoint> {
  const started = await new MockModelEndpoint({ apiKey: KEY, answer, ...options }).start();
  onTestFinished(() => started.close());
  return started;
}

interface RunOptions {
  /** The arguments that pass the key; by default a key of the command line. */
  keyWords?: readonly string[];
  env?: Record<string, string>;
}

async function run(cwd: string, baseUrl: string, words: readonly string[], options: RunOptions = {}) {
  const started = Date.now();
  const finished = await runGym(
    [
      "eval",
      "run",
      "--resources-server",
      "example_single_tool_call",
      "--model-type",
      "openai_model",
      "--model-url",
      baseUrl,
      ...(options.keyWords ?? ["--model-api-key", KEY]),
      "--model",
      "m",
      "--output",
      "out/rollouts.jsonl",
      "+model_endpoint_readiness_timeout_seconds=0",
      ...words,
    ],
    { cwd, ...(options.env && { env: options.env }) },
  );
  return { ...finished, text: finished.stdout + finished.stderr, seconds: (Date.now() - started) / 1000 };
}

const rowsOf = (file: string) =>
  readFileSync(file, { encoding: "utf8", flag: "a+" })
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, never>);

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(directory, name))
    .filter((file) => statSync(file).isFile());
}

/** One process for all servers, or several workers of the model server. */
const PROCESSES: Readonly<Record<string, readonly string[]>> = {
  "with all servers in one process": [],
  "with four processes of the model server": [`++${MODEL}.num_workers=4`],
};

describe.each(Object.entries(PROCESSES))("a storm of 429s %s", (where, hosting) => {
  it("receives a bounded number of requests, and no rollout is lost", { timeout: 180_000 }, async () => {
    const cwd = await project({});
    let until = Number.POSITIVE_INFINITY;
    const stormy = await endpoint({
      faultFor: ({ at }) => {
        until = Math.min(until, at + STORM_SECONDS * 1000);
        return at < until ? faults.rateLimited() : undefined;
      },
    });
    const { exitCode, text, seconds } = await run(cwd, stormy.baseUrl, [
      "--num-repeats",
      "20",
      "--concurrency",
      "50",
      ...hosting,
    ]);
    expect(exitCode, text).toBe(0);
    const rollouts = rowsOf(path.join(cwd, "out/rollouts.jsonl"));
    const failures = rowsOf(path.join(cwd, "out/rollouts_failures.jsonl"));
    const inStorm = stormy.requests.filter(({ at }) => at < until).length;
    console.info(
      `${STORM_SECONDS} s of 429 with 50 rollouts at once, ${where}: ${inStorm} requests during the storm, ${stormy.count} in all for ${rollouts.length} rollouts, ${seconds.toFixed(1)} s`,
    );
    expect(rollouts).toHaveLength(100);
    expect(failures).toEqual([]);
    // One for each running call, then one at a time from each process.
    expect(inStorm).toBeLessThanOrEqual(50 + 12 * (hosting.length === 0 ? 1 : 4));
    expect(seconds).toBeLessThan(STORM_SECONDS + 45);
  });
});

describe("an endpoint that is down", () => {
  it("ends the run at its budget, with the cause on the terminal and in the rows", {
    timeout: 120_000,
  }, async () => {
    const cwd = await project({});
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const { exitCode, text, seconds } = await run(cwd, url, [
      `++${MODEL}.retry_seconds=3`,
      "--num-repeats",
      "4",
    ]);
    expect(exitCode).not.toBe(0);
    expect(text).toMatch(/no connection to 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    expect(seconds).toBeLessThan(60);
    const failures = rowsOf(path.join(cwd, "out/rollouts_failures.jsonl"));
    expect(failures.length).toBeGreaterThanOrEqual(20);
    expect(failures[0]?.["_ng_failure"]).toMatchObject({
      class: "connection",
      stage: "model",
      retryable: true,
    });
    expect(rowsOf(path.join(cwd, "out/rollouts.jsonl"))).toEqual([]);
  });

  it("fails soon if the endpoint answers with HTML, and names the setting to check", {
    timeout: 120_000,
  }, async () => {
    const cwd = await project({});
    const odd = await endpoint({ faultFor: () => faults.garbage() });
    const { exitCode, text } = await run(cwd, odd.baseUrl, ["--limit", "2"]);
    expect(exitCode).toBe(1);
    expect(text).toMatch(/\(policy_model\) warning: 200 from 127\.0\.0\.1:\d+, but the body is not JSON/);
    expect(text).toContain("(--model-url)");
    // Two rollouts, three attempts each, three requests per attempt; one more may list the models.
    expect(odd.count).toBeLessThanOrEqual(20);
    const progress = readFileSync(path.join(cwd, "out/rollouts_progress.json"), "utf8");
    expect(JSON.parse(progress)).toMatchObject({
      failures_by_class: { invalid_response: 6 },
      done: 2,
      // Throughput counts completed rollouts, like the rate.
      history: expect.arrayContaining([[expect.any(Number), 0, 0]]),
      trouble: { server: "policy_model", message: expect.stringContaining("the body is not JSON") },
    });
  });

  it("reports a rejected key at once", { timeout: 120_000 }, async () => {
    const cwd = await project({});
    const other = await endpoint({ apiKey: "another-key-altogether" });
    const { exitCode, text } = await run(cwd, other.baseUrl, ["--num-repeats", "10"]);
    expect(exitCode).not.toBe(0);
    expect(text).toMatch(/401 from 127\.0\.0\.1:\d+: Incorrect API key provided: Bearer \*\*\*\*/);
    expect(other.count).toBeLessThan(80);
  });
});

describe.each(Object.entries(PROCESSES))("max_cost %s", (_, hosting) => {
  it("stops the run cleanly when it is reached, and the run can be resumed", {
    timeout: 120_000,
  }, async () => {
    const cwd = await project({});
    const paid = await endpoint();
    const words = [
      `++${MODEL}.prices.input=1000`,
      `++${MODEL}.prices.output=0`,
      "--num-repeats",
      "10",
      "--concurrency",
      "2",
      ...hosting,
    ];
    const first = await run(cwd, paid.baseUrl, [...words, "++max_cost=0.2"]);
    expect(first.text).toContain("the budget of the run (max_cost) is spent");
    const done = rowsOf(path.join(cwd, "out/rollouts.jsonl"));
    expect(done.length).toBeGreaterThanOrEqual(5);
    expect(done.length).toBeLessThan(15);
    expect(
      (done[0] as unknown as { response: { usage: { ng_cost: number } } }).response.usage.ng_cost,
    ).toBeCloseTo(0.02);
    // Resuming does not increase the budget, and the rollouts keep their attempts.
    for (let session = 0; session < 3; session++) {
      const broke = await run(cwd, paid.baseUrl, [...words, "++max_cost=0.2", "--resume"]);
      expect(broke.text).toContain("Earlier sessions of this run have spent $0.2");
    }
    expect(rowsOf(path.join(cwd, "out/rollouts.jsonl")).length).toBeLessThan(done.length + 8);
    const second = await run(cwd, paid.baseUrl, [...words, "++max_cost=5", "--resume", "--force"]);
    expect(second.exitCode, second.text).toBe(0);
    expect(rowsOf(path.join(cwd, "out/rollouts.jsonl"))).toHaveLength(50);
  });
});

const HOSTING: Readonly<Record<string, readonly string[]>> = {
  ...PROCESSES,
  "with a process for each server": ["++hosting=process"],
};

const HEADER_SECRET = "tok-0123456789-of-a-header";

/** Sources of a key: the arguments, and the required content of the folder or the environment. */
const SOURCES: Readonly<Record<string, { files?: Record<string, string>; options?: RunOptions }>> = {
  "the command line": {},
  "env.yaml and the environment": {
    files: { "env.yaml": "policy_api_key: ${oc.env:KEY_OF_TEST}\n" },
    options: { keyWords: [], env: { KEY_OF_TEST: KEY } },
  },
  "a file": {
    files: { "secret/key": `${KEY}\n` },
    options: { keyWords: ["++policy_api_key=null", `++${MODEL}.api_key_file=secret/key`] },
  },
};

const CASES = Object.entries(HOSTING).flatMap(([where, hosting]) =>
  Object.entries(SOURCES).map(([source, given]) => [source, where, hosting, given] as const),
);

describe.each(CASES)("keys from %s %s", (_source, _where, hosting, { files: given = {}, options = {} }) => {
  it("are in none of the files of a run and not on the terminal", { timeout: 120_000 }, async () => {
    const cwd = await project(given);
    let served = 0;
    const leaky = await endpoint({
      // Some endpoints repeat the key in their errors; a few rollouts fail permanently with such an error.
      faultFor: ({ headers }) =>
        ++served % 7 === 0
          ? {
              kind: "status",
              status: 400,
              message: `bad request of ${headers.authorization} ${headers["x-token"]}`,
            }
          : undefined,
    });
    const words = [
      "-v",
      "--num-repeats",
      "4",
      "+observability_enabled=true",
      `+model_call_capture_dir=${path.join(cwd, "captures")}`,
      `+nemo_gym_log_dir=${path.join(cwd, "logs")}`,
      `++${MODEL}.response_cache_dir=${path.join(cwd, "cache")}`,
      `++${MODEL}.openai_default_headers.x-token=${HEADER_SECRET}`,
      ...hosting,
    ];
    const { text } = await run(cwd, leaky.baseUrl, words, options);
    expect(leaky.requests.some(({ headers }) => headers["x-token"] === HEADER_SECRET)).toBe(true);
    const files = filesBelow(cwd).filter((file) => !(path.relative(cwd, file) in given));
    const leaks = files.filter((file) => {
      const content = readFileSync(file);
      return content.includes(KEY) || content.includes(HEADER_SECRET);
    });
    expect(leaks).toEqual([]);
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(HEADER_SECRET);
    expect(text).toContain("400 from 127.0.0.1");
    const kinds = ["rollouts.jsonl", "failures.jsonl", "captures", "cache"];
    for (const kind of kinds)
      expect(
        files.some((file) => file.includes(kind)),
        kind,
      ).toBe(true);
  });
});
