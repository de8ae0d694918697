import path from "node:path";
import { HttpError, type JsonObject, type Judge, type PromptTemplate } from "nemo-gym";
import { type CodeRunner, pythonProgram } from "nemo-gym/code-runner";
import { PyRandom } from "nemo-gym/python";
import { type Difficulty, lawOf, type SubjectName, type Version } from "./laws.ts";

/** Number of points at which a law is compared. */
const POINTS = 1000;
/** The points are the same each time, so that a law always gets the same reward. */
const SEED = 42;
/** Code may block Python itself. The process is then killed. */
const EXTRA_SECONDS = 5;
/** Modules that a law may use, and how its code shows it. */
const MODULES: Readonly<Record<string, RegExp>> = { numpy: /\b(np|numpy)\b/, scipy: /\bscipy\b/ };
/** Laws whose values differ by no more than this are the same; no judge is needed. */
const TOLERANCE = 1e-9;

export interface Task {
  module_name: SubjectName;
  difficulty: Difficulty;
  law_version: Version;
}

/** How good a law is, with the names of the original. */
export interface Evaluation {
  /** Root of the mean squared difference of the logarithms; infinite for a law with an infinite value, null without values. */
  rmsle?: number | null;
  exact_accuracy?: number | null;
  /** Whether the formula is the same but for the values of its constants; null if nobody has judged. */
  symbolic_equivalent?: boolean | null;
  error?: string | null;
}

export interface Evaluator {
  runner: CodeRunner;
  directory: string;
  seconds: number;
  /** Null: only values are compared. */
  judge: Judge | null;
  prompt: PromptTemplate;
}

export type EvaluateLaw = (
  code: string,
  task: Task,
  evaluator: Evaluator,
  options: { key: string; signal: AbortSignal },
) => Promise<Evaluation>;

/** What the program says: the values, `inf` for an infinite one and null for none. The submitted code runs in it, so everything is checked. */
type Reply = { values: (number | null)[] } | { invalid: string } | { error: string };

function readReply({ values, invalid, error }: JsonObject): Reply {
  if (typeof invalid === "string") return { invalid };
  if (typeof error === "string") return { error };
  const isValue = (value: unknown) => value === null || value === "inf" || typeof value === "number";
  if (!Array.isArray(values) || values.length !== POINTS || !values.every(isValue))
    return { error: "The law answered instead of its program" };
  return { values: values.map((value) => (value === "inf" ? Number.POSITIVE_INFINITY : value)) };
}

interface Test {
  law: ReturnType<typeof lawOf>;
  points: number[][];
  expected: number[];
}
const tests = new Map<string, Test>();

/** The law of a task with its values at the points. */
function testOf({ module_name, difficulty, law_version }: Task): Test {
  const key = `${module_name} ${difficulty} ${law_version}`;
  const known = tests.get(key);
  if (known) return known;
  const law = lawOf(module_name, difficulty, law_version);
  const random = new PyRandom(SEED);
  const points = Array.from({ length: POINTS }, () =>
    Object.values(law.parameters).map(({ from, to, scale }) => {
      const share = random.random();
      return scale === "linear" ? from + share * (to - from) : from * (to / from) ** share;
    }),
  );
  const test = { law, points, expected: points.map((point) => law.value(...point)) };
  tests.set(key, test);
  return test;
}

/** Runs the submitted law in the sandbox, and compares its values and its formula with the law that holds. */
export const evaluateLaw: EvaluateLaw = async (code, task, evaluator, options) => {
  const { law, points, expected } = testOf(task);
  const program = withoutFence(code);
  const reply = await runLaw(
    program,
    { parameters: Object.keys(law.parameters), points },
    evaluator,
    options,
  );
  if ("invalid" in reply)
    return { rmsle: null, exact_accuracy: 0, symbolic_equivalent: false, error: reply.invalid };
  const values = "values" in reply ? reply.values : null;
  const isRight = values?.every((value, index) => isSame(value, expected[index] ?? Number.NaN)) === true;
  const symbolic_equivalent = isRight || (await askJudge(program, law, evaluator, options.signal));
  return {
    rmsle: isRight ? 0 : values && rmsleOf(values, expected),
    exact_accuracy: symbolic_equivalent === null ? null : Number(symbolic_equivalent),
    symbolic_equivalent,
    error: "error" in reply ? reply.error : null,
  };
};

/** The code inside a Markdown block. */
function withoutFence(code: string): string {
  return /^```\w*\n(.*?)\n?```$/s.exec(code.trim())?.[1] ?? code;
}

async function runLaw(
  code: string,
  request: { parameters: string[]; points: number[][] },
  { runner, directory, seconds }: Evaluator,
  options: { key: string; signal: AbortSignal },
): Promise<Reply> {
  const modules = Object.keys(MODULES).filter((name) => MODULES[name]?.test(code));
  return runner.withInterpreter(pythonProgram(path.join(directory, "law.py")), options, async (python) => {
    const limits = { timeoutMs: (seconds + EXTRA_SECONDS) * 1000, signal: options.signal };
    // Before the code runs: it cannot answer this.
    const found = await python.ask({ modules }, limits);
    const missing = modules.filter((name) => found.status !== "answered" || found.value[name] !== true);
    if (missing.length > 0)
      throw new HttpError(500, `python: the Python of the sandbox lacks ${missing.join(" and ")}.`);
    const answer = await python.ask({ ...request, code, seconds, numpy: modules.includes("numpy") }, limits);
    if (answer.status !== "answered") return { error: "The process of the law ended or took too long" };
    return readReply(answer.value);
  });
}

/** A point without a value on both sides is the same. */
function isSame(value: number | null, expected: number): boolean {
  if (value === null || Number.isNaN(expected)) return value === null && Number.isNaN(expected);
  return Math.abs(value - expected) <= TOLERANCE * Math.abs(expected);
}

/** Points where the law that holds has no value are left out. A submitted law without a value elsewhere counts as 0 there. */
function rmsleOf(values: readonly (number | null)[], expected: readonly number[]): number | null {
  if (values.every((value) => value === null)) return null;
  const squares = expected.flatMap((truth, index) =>
    Number.isNaN(truth)
      ? []
      : [(Math.log1p(Math.abs(values[index] ?? 0)) - Math.log1p(Math.abs(truth))) ** 2],
  );
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

async function askJudge(
  submission: string,
  { formula, parameters }: ReturnType<typeof lawOf>,
  { judge, prompt }: Evaluator,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (!judge) return null;
  const list = Object.entries(parameters).map(([name, { is }]) => `- ${name}: ${is}`);
  const question = prompt.render({
    parameters: list.join("\n"),
    law: formula,
    submission: judge.fit(submission),
  });
  const { verdict } = await judge.ask(question, { signal, parse: readVerdict });
  // As in the original: a reply without a verdict is a no.
  return verdict ?? false;
}

/** The last answer that is stated, else the last YES or NO. */
function readVerdict(text: string): boolean | null {
  const verdicts = text.match(/answer:\W*(?:yes|no)\b/gi) ?? text.match(/\b(?:yes|no)\b/gi);
  const last = verdicts?.at(-1);
  return last === undefined ? null : /yes$/i.test(last);
}
