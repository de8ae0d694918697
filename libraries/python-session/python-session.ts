import path from "node:path";
import type { JsonObject, ServerContext } from "nemo-gym";
import { type CodeRunner, type InterpreterSession, pythonProgram } from "nemo-gym/code-runner";

/** Code may block Python itself. The process is then killed and its state is lost. */
const EXTRA_SECONDS = 5;

/** The reply of a call that succeeded without output. */
export const DONE = { success: true, stdout: "", stderr: "", error_message: null, result: null };

/** What the code of a session may use. */
export interface SessionRules {
  /** Names of Python's builtins; there are no others. */
  builtins: readonly string[];
  /** Modules that are there without an import, by the names `np`, `numpy`, `scipy`, `pd`, `pandas` and `math`. */
  modules: readonly string[];
  /** Python patterns: code with one of them, or with a syntax error, is refused before it runs. */
  refused?: readonly string[];
}

/** The text of the program of the sessions, for `PythonSession`. */
export function sessionProgram(server: Pick<ServerContext, "directory">): string {
  return pythonProgram(path.resolve(server.directory, "../../libraries/python-session/session.py"));
}

/** The Python session of one rollout. It starts with the first code, and again after `end`. */
export class PythonSession {
  readonly #rules: SessionRules;
  #python?: Promise<InterpreterSession>;

  constructor(rules: SessionRules) {
    this.#rules = rules;
  }

  async run(
    code: string,
    options: {
      runner: CodeRunner;
      program: string;
      /** Orders the calls of one rollout. */
      key: string;
      seconds: number;
      signal: AbortSignal;
    },
  ): Promise<JsonObject> {
    const { runner, program, key, seconds, signal } = options;
    this.#python ??= runner.openSession(program, { key });
    const answer = await (await this.#python).ask(
      { ...this.#rules, code, seconds },
      { timeoutMs: (seconds + EXTRA_SECONDS) * 1000, signal },
    );
    if (answer.status === "answered") return answer.value;
    const error_message =
      answer.status === "timeout" ? "code timed-out" : "The Python process ended; its variables are lost.";
    return { ...DONE, success: false, error_message };
  }

  async end(): Promise<void> {
    const python = this.#python;
    this.#python = undefined;
    await (await python)?.close();
  }
}
