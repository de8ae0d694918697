import path from "node:path";
import { GymError, type ServerContext } from "nemo-gym";
import { type CodeRunner, checksProgram, createCodeRunner, runChecks } from "nemo-gym/code-runner";
import { z } from "zod";
import { readProblems } from "../../libraries/python-answers/problems.ts";

const REFERENCE_TIMEOUT_MS = 150_000;
const EXTRA_SECONDS = 5;

export const Problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  canonical_solution: z.string(),
  entry_point: z.string(),
  base_input: z.array(z.array(z.unknown())),
  plus_input: z.array(z.array(z.unknown())),
  atol: z.number().default(0),
});
export type Problem = z.output<typeof Problem>;
type Kind = "base" | "plus";

export interface CheckResult {
  status: "pass" | "fail" | "timeout";
  details: boolean[];
}

interface Reference {
  /** The pickled results; they are unpickled only in a sandbox. */
  expected: string;
  seconds: number[];
}

export interface CheckerSettings {
  dataset: "humaneval" | "mbpp";
  min_time_limit: number;
  gt_time_limit_factor: number;
}

/** Checks solutions against the reference solutions of a dataset. Reference results are computed once, on demand. */
export class Checker {
  readonly #runner: CodeRunner;
  readonly #program: string;
  readonly #settings: CheckerSettings;
  readonly #references = new Map<string, Promise<Reference>>();
  readonly problems: ReadonlyMap<string, Problem>;

  private constructor(
    server: ServerContext<unknown>,
    settings: CheckerSettings,
    problems: ReadonlyMap<string, Problem>,
  ) {
    this.#runner = createCodeRunner(server);
    this.#program = checksProgram(path.join(server.directory, "check.py"));
    this.#settings = settings;
    this.problems = problems;
  }

  static async start(
    server: ServerContext<unknown>,
    settings: CheckerSettings,
    file: string,
  ): Promise<Checker> {
    return new Checker(server, settings, await readProblems(server.findFile(file), Problem));
  }

  close(): Promise<void> {
    return this.#runner.close();
  }

  async check(
    problem: Problem,
    code: string,
    kind: Kind,
    options: { key: string; signal: AbortSignal },
  ): Promise<CheckResult> {
    const { expected, seconds } = await this.#reference(problem, kind);
    const { dataset, min_time_limit, gt_time_limit_factor } = this.#settings;
    const inputs = inputsOf(problem, kind);
    const limits = seconds.map((took) => Math.max(min_time_limit, gt_time_limit_factor * took));
    const { task_id, entry_point, atol } = problem;
    const request = { kind: "check", dataset, task_id, entry_point, atol, code, inputs, expected, limits };
    const whole = limits.reduce((sum, limit) => sum + limit, EXTRA_SECONDS);
    const answer = await runChecks(this.#runner, this.#program, request, {
      timeoutMs: whole * 1000,
      ...options,
    });
    if (answer.status !== "answered") return { status: "timeout", details: [] };
    const details = z.array(z.boolean()).catch([]).parse(answer.value["details"]);
    const passed =
      details.length === inputs.length && details.every(Boolean) && answer.value["loaded"] === true;
    return { status: passed ? "pass" : "fail", details };
  }

  #reference(problem: Problem, kind: Kind): Promise<Reference> {
    const key = `${kind} ${problem.task_id}`;
    let reference = this.#references.get(key);
    if (reference === undefined) {
      reference = this.#compute(problem, kind);
      this.#references.set(key, reference);
      // A failure may be temporary, for example because all sandboxes are busy.
      reference.catch(() => this.#references.delete(key));
    }
    return reference;
  }

  /** Not cancelled with the rollout that asked first, because other rollouts wait for it too. */
  async #compute(problem: Problem, kind: Kind): Promise<Reference> {
    const { task_id, entry_point, prompt, canonical_solution } = problem;
    const { dataset } = this.#settings;
    const inputs = inputsOf(problem, kind);
    const code = prompt + canonical_solution;
    const request = { kind: "reference", dataset, task_id, entry_point, code, inputs };
    const answer = await this.#runner.withInterpreter(
      this.#program,
      { key: problem.task_id },
      (interpreter) => interpreter.ask(request, { timeoutMs: REFERENCE_TIMEOUT_MS }),
    );
    const found = Reference.safeParse(answer.status === "answered" ? answer.value : {});
    if (found.success) return found.data;
    const reason = answer.status === "answered" ? String(answer.value["error"]) : answer.status;
    throw new GymError(
      "REFERENCE_SOLUTION",
      `The reference solution of ${problem.task_id} failed: ${reason}`,
    );
  }
}

const Reference = z.object({ expected: z.string(), seconds: z.array(z.number()) });

function inputsOf(problem: Problem, kind: Kind): unknown[][] {
  return kind === "base" ? problem.base_input : problem.plus_input;
}
