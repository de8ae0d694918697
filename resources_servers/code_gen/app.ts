import { inflateSync } from "node:zlib";
import { defineResourcesServer, HttpError } from "nemo-gym";
import { codeRunnerConfig, createCodeRunner, runPythonTests } from "nemo-gym/code-runner";
import { outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { extractCode } from "./extract-code.ts";
import { breaksReasoningFormat } from "./reasoning-format.ts";

const Config = z.object({
  ...codeRunnerConfig,
  unit_test_timeout_secs: z.number().positive().default(10),
  /** The reward of an answer that violates the reasoning format, regardless of its tests. */
  reasoning_format_penalty: z.number().default(0),
  /** Keys of the original without effect: `max_parallel` limits the programs, and the log has their errors. */
  num_processes: z.unknown().optional(),
  debug: z.unknown().optional(),
});

const Row = z.object({
  verifier_metadata: z
    .object({ unit_tests: z.unknown().optional(), difficulty: z.string().nullish() })
    .nullish(),
});

const UnitTests = z.object({
  inputs: z.array(z.string()),
  outputs: z.array(z.string()),
  fn_name: z.string().nullish(),
});

/** Tests as base64 of zlib of JSON, which keeps files with large inputs small. */
const PackedTests = z.object({ packed: z.string(), fn_name: z.string().nullish() });

const LARGEST_TESTS = 256 << 20;

function readTests(value: unknown): z.output<typeof UnitTests> {
  const packed = PackedTests.safeParse(value);
  const parsed = UnitTests.safeParse(packed.success ? unpack(packed.data) : value);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "(all)"}: ${message}`);
  throw new HttpError(422, `verifier_metadata.unit_tests does not fit: ${where.join("; ")}`);
}

function unpack({ packed, fn_name }: z.output<typeof PackedTests>): unknown {
  try {
    const text = inflateSync(Buffer.from(packed, "base64"), { maxOutputLength: LARGEST_TESTS });
    return { ...JSON.parse(text.toString("utf8")), fn_name };
  } catch (cause) {
    throw new HttpError(
      422,
      "verifier_metadata.unit_tests.packed is not JSON of at most 256 MiB, compressed with zlib, in base64.",
      { cause },
    );
  }
}

/** Programming tasks in Python: the last code block of the answer must pass all unit tests. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: z.looseObject({
    verifier_metadata: z.looseObject({ unit_tests: z.union([PackedTests, UnitTests]) }),
  }),
  echo: [],
  reverifyMode: "stateless",
  start: (server) => createCodeRunner(server),
  stop: (_server, runner) => runner.close(),
  async verify({ config, row, response, state: runner, sessionId, signal }) {
    const text = outputText(response);
    const nothing = {
      reward: 0,
      extracted_model_output: null,
      extracted_model_code: null,
      result: null,
      metadata: null,
      unit_tests_time_taken: null,
      reasoning_format_violation_rate: 0,
      difficulty: row.verifier_metadata?.difficulty ?? null,
    };
    if (strip(text) === "") return nothing;
    // Checked here instead of in the row schema: a row without an answer needs no tests.
    const tests = readTests(row.verifier_metadata?.unit_tests);
    const code = extractCode(text);
    if (code === "") return { ...nothing, extracted_model_output: text };
    const started = performance.now();
    const { results, metadata } = await runPythonTests(
      runner,
      { code, tests, timeoutSeconds: config.unit_test_timeout_secs },
      { key: sessionId, signal },
    );
    const breaksFormat = breaksReasoningFormat(response, text);
    const passed = results.every((result) => result === true);
    return {
      ...nothing,
      reward: breaksFormat ? config.reasoning_format_penalty : passed ? 1 : 0,
      extracted_model_output: text,
      extracted_model_code: code,
      result: results,
      metadata,
      unit_tests_time_taken: (performance.now() - started) / 1000,
      reasoning_format_violation_rate: breaksFormat ? 1 : 0,
    };
  },
});
