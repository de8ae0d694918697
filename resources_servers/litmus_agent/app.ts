import path from "node:path";
import { allAssistantText, defineResourcesServer, HttpError } from "nemo-gym";
import {
  codeRunnerConfig,
  createCodeRunner,
  type InterpreterSession,
  pythonProgram,
} from "nemo-gym/code-runner";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { compilePyRegex, isObject, isTruthy, RegexSyntaxError, toPyFloat } from "nemo-gym/python";
import { z } from "zod";
import { captureFormat, capturePattern, isFormat } from "./capture.ts";
import { litmusMetrics } from "./metrics.ts";
import { type AnswerType, defaultRules, isCorrect, isRule, parseValue, type Value } from "./score.ts";

/** Code may block Python itself. The process is then killed and its variables are lost. */
const EXTRA_SECONDS = 5;

const Config = z.object({
  ...codeRunnerConfig,
  float_rel_tol: laxFloat().default(1e-6),
  float_abs_tol: laxFloat().default(1e-6),
  /** The name under which rows offer the Python session. */
  code_exec_tool_name: z.string().default("stateful_python_code_exec"),
  code_exec_timeout_s: laxFloat().default(120),
  code_exec_max_output_chars: laxInt().default(10_000),
});

/** Types of answers of older rows. All but `float` are compared as rounded numbers. */
const propertyTypes: Record<string, AnswerType> = {
  ...{ float: "float", count: "float", fragment: "float", bool: "bool", presence: "bool" },
};

const Row = z.looseObject({
  expected_answer: z.union([z.string(), z.number(), z.boolean().transform(Number)]),
  answer_type: z.string().nullable().default(null),
  output_regex: z.string().nullable().default(null),
  answer_format: z.string().nullable().default(null),
  use_box_format: laxBool().default(false),
  match: z.record(z.string(), z.unknown()).nullable().default(null),
});
type Row = z.infer<typeof Row>;

interface Session {
  python?: Promise<InterpreterSession>;
}

/** Answers of any subject: a number, a truth value or a text in one of many formats. */
export default defineResourcesServer({
  config: Config,
  seed: Row.superRefine((row, context) => {
    try {
      const { rule } = policyOf(row);
      if (!isRule(rule)) throw new HttpError(422, `There is no rule '${rule}'.`);
      if (rule === "string_eq" && typeof row.expected_answer === "number")
        throw new HttpError(422, "expected_answer must be a text here: 1 and 1.0 are different texts.");
      capture(row, "");
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  }),
  row: Row,
  start: (server) => ({
    runner: createCodeRunner(server),
    program: pythonProgram(path.join(server.directory, "session.py")),
  }),
  session: (): Session => ({}),
  unseeded: (): Session => ({}),
  closeSession: ({ session }) => end(session),
  stop: (_server, { runner }) => runner.close(),
  reverifyMode: "stateless",
  metrics: litmusMetrics,
  fallbackTool: {
    async run({ name, input, session, sessionId, config, state: { runner, program }, signal }) {
      if (name !== config.code_exec_tool_name) throw new HttpError(404, `There is no tool '${name}'.`);
      const code = isObject(input) && typeof input["code"] === "string" ? input["code"] : "";
      session.python ??= runner.openSession(program, { key: sessionId });
      const seconds = config.code_exec_timeout_s;
      const timeoutMs = (seconds + EXTRA_SECONDS) * 1000;
      const answer = await (await session.python).ask({ code, seconds }, { timeoutMs, signal });
      if (answer.status !== "answered") return "The Python process ended; its variables are lost.";
      const { stdout, stderr } = answer.value;
      return shorten([stdout, stderr].filter(Boolean).join("\n"), config.code_exec_max_output_chars);
    },
  },
  async verify({ config, row, response, session }) {
    await end(session);
    const { type, parseAs, rule, parameters } = policyOf(row);
    const text = capture(row, allAssistantText(response));
    const predicted = text === undefined ? undefined : parseValue(text, parseAs);
    const correct =
      predicted !== undefined &&
      !Number.isNaN(predicted) &&
      isCorrect(rule, predicted, row.expected_answer, {
        relative: toPyFloat(parameters["rel_tol"]) ?? config.float_rel_tol,
        absolute: toPyFloat(parameters["abs_tol"]) ?? config.float_abs_tol,
      });
    return {
      reward: correct,
      predicted_value: predicted ?? null,
      correct,
      resolved_answer_type: type,
      resolved_reward_rule: rule,
      abs_error: errorOf(row, type, predicted),
    };
  },
});

/** How a row is read and compared. */
function policyOf(row: Row) {
  const { answer_type, match } = row;
  const property = String(row["property_type"]);
  const type = answer_type ? answerType(answer_type) : propertyTypes[property];
  if (!type) throw new HttpError(422, "answer_type is required: float, bool or string.");
  const isCounted = answer_type === null && property !== "float";
  const { rule, ...parameters } =
    isTruthy(match) && match ? match : { rule: isCounted ? "exact" : defaultRules[type] };
  if (!isTruthy(rule)) throw new HttpError(422, "match.rule is required.");
  return { type, parseAs: isCounted ? ("float" as const) : type, rule: String(rule), parameters };
}

function answerType(name: string): AnswerType {
  if (name === "float" || name === "bool" || name === "string") return name;
  throw new HttpError(422, `answer_type must be float, bool or string, not '${name}'.`);
}

/** The answer in a text: by the pattern of the row, else by its format. */
function capture({ output_regex, answer_format, use_box_format }: Row, text: string): string | undefined {
  if (output_regex !== null) {
    requireOneGroup(output_regex);
    return capturePattern(text, output_regex);
  }
  const format = answer_format || (use_box_format ? "fmt_07" : "fmt_00");
  if (!isFormat(format)) throw new HttpError(422, `There is no answer_format '${format}'.`);
  return captureFormat(text, format);
}

function requireOneGroup(pattern: string): void {
  try {
    if (compilePyRegex(pattern, { dotAll: true }).groups === 1) return;
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error;
  }
  throw new HttpError(422, "output_regex must be a valid pattern with one group.");
}

/** The distance of numbers; null for other answers. */
function errorOf(row: Row, type: AnswerType, predicted: Value | undefined): number | null {
  const property = row["property_type"] ?? null;
  const isMeasured = property === null ? type === "float" : property === "float" || property === "count";
  const [given, expected] = [toPyFloat(predicted), toPyFloat(row.expected_answer)];
  if (!isMeasured || given === undefined || expected === undefined) return null;
  const error = Math.abs(given - expected);
  return Number.isFinite(error) ? error : null;
}

async function end(session: Session): Promise<void> {
  const { python } = session;
  delete session.python;
  await (await python)?.close();
}

function shorten(text: string, limit: number): string {
  if (limit === 0 || text.length <= limit) return text;
  return `${text.slice(0, limit)}\n... [output truncated to ${limit} chars]`;
}
