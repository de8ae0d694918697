import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { GymError, type JsonObject, type ServerContext } from "nemo-gym";
import {
  type CodeRunner,
  codeRunnerConfig,
  createCodeRunner,
  pythonProgram,
  sandboxUnavailable,
} from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";

/** Time to start a query and to compare its rows, in addition to its own time limit. */
const EXTRA_SECONDS = 5;

/** Config of servers that run queries. */
export const queryConfig = {
  ...codeRunnerConfig,
  sql_execution_timeout_s: laxFloat().default(30),
  /** Key of the original without effect: `max_parallel` limits the queries. */
  max_concurrency: z.unknown().optional(),
};
const schema = z.object(queryConfig);

export interface QueryTask {
  database: string;
  /** A statement that returns the expected rows, or the rows. */
  expected: string | { rows: unknown };
  answer: string;
  /** More for the comparison. */
  options?: JsonObject;
}

/** How the first statement that failed has ended, or whether the results are the same. */
export type QueryOutcome = { same: boolean } | { failed: "expected" | "answer"; status: "timeout" | "error" };

/** Runs queries with Python's SQLite in sandboxes that see the directory of the databases, read-only. */
export class QueryRunner {
  readonly #runner: CodeRunner;
  readonly #program: string;
  readonly #seconds: number;

  /** `comparison` is a Python file with a function `same(expected, actual, request)`. */
  constructor(server: ServerContext<z.output<typeof schema>>, directory: string, comparison: string) {
    const { config } = server;
    if (!existsSync(directory))
      throw new GymError("SERVER_CONFIG", `The directory '${directory}' of the databases does not exist.`);
    const visible = { bubblewrap: { read_only_paths: [directory] } };
    const hasProvider = config.sandbox_provider != null || server.globalConfig["sandbox"] != null;
    this.#runner = createCodeRunner({
      name: server.name,
      globalConfig: server.globalConfig,
      log: server.log,
      config: hasProvider ? config : { ...config, sandbox_provider: visible },
    });
    const queries = path.resolve(server.directory, "../../libraries/sql-answers/queries.py");
    this.#program = `${pythonProgram(queries)}\n${readFileSync(path.join(server.directory, comparison), "utf8")}`;
    this.#seconds = config.sql_execution_timeout_s;
  }

  /** Runs the expected statement first, so that its failure is not blamed on the answer. */
  run(
    { database, expected, answer, options }: QueryTask,
    scope: { sessionId: string; signal: AbortSignal },
  ): Promise<QueryOutcome> {
    const { sessionId: key, signal } = scope;
    return this.#runner.withInterpreter(this.#program, { key, signal }, async (interpreter) => {
      const seconds = this.#seconds;
      const ask = async (request: JsonObject) => {
        const timeoutMs = (seconds + EXTRA_SECONDS) * 1000;
        const reply = await interpreter.ask(
          { database, seconds, ...options, ...request },
          { timeoutMs, signal },
        );
        if (reply.status !== "answered") return { status: reply.status === "timeout" ? "timeout" : "error" };
        if (reply.value["status"] === "unopened" && existsSync(database))
          throw sandboxUnavailable(
            new Error(`The sandbox cannot read '${database}'; its user needs access.`),
          );
        return reply.value;
      };
      const first = await ask(
        typeof expected === "string" ? { sql: expected, is_expected: true } : { expect: expected.rows },
      );
      if (first["status"] !== "done") return { failed: "expected", status: failureOf(first) };
      const second = await ask({ sql: answer, is_expected: false });
      if (second["status"] !== "done") return { failed: "answer", status: failureOf(second) };
      return { same: second["same"] === true };
    });
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

function failureOf({ status }: JsonObject): "timeout" | "error" {
  return status === "timeout" ? "timeout" : "error";
}
