import path from "node:path";
import { allAssistantText, defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { type CodeRunner, codeRunnerConfig, createCodeRunner, pythonProgram } from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { pyEquals } from "nemo-gym/python";
import { stripThinkPairs } from "nemo-gym/verify";
import { z } from "zod";
import { type Grid, readGrid, readProgram } from "./grid.ts";

/** Time to start the program and report its result, in addition to the program's own time limit. */
const EXTRA_SECONDS = 5;

const grid = z.array(z.array(z.number().int()));
const Config = z.object({
  ...codeRunnerConfig,
  /** `inductive`: the answer is a program. Any other value: the answer is the grid. */
  agent_mode: z.string().default("transductive"),
  python_timeout_seconds: laxFloat().default(30),
});
type Config = z.output<typeof Config>;

const runnerOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server) as CodeRunner,
  program: pythonProgram(path.join(server.directory, "transform.py")),
}));

/** ARC-AGI puzzles, answered with the grid or with a Python program that computes it. */
export default defineResourcesServer({
  config: Config,
  row: z.object({ expected_output: grid, test_input: grid.nullish(), agent_mode: z.string().nullish() }),
  echo: ["expected_output"],
  reverifyMode: "stateless",
  stop: (server) => runnerOf(server).runner.close(),
  async verify({ config, row, response, server, sessionId, signal }) {
    const agent_mode = row.agent_mode || config.agent_mode;
    const text = stripThinkPairs(allAssistantText(response));
    const predicted =
      agent_mode === "inductive"
        ? await runProgram(readProgram(text), row.test_input ?? [], { config, server, sessionId, signal })
        : readGrid(text);
    const exact_match = predicted !== null && pyEquals(predicted, row.expected_output);
    return {
      reward: exact_match ? 1 : 0,
      predicted_output: predicted,
      extraction_successful: predicted !== null,
      exact_match,
      agent_mode,
    };
  },
});

async function runProgram(
  code: string | undefined,
  input: Grid,
  scope: { config: Config; server: ServerContext<Config>; sessionId: string; signal: AbortSignal },
): Promise<Grid | null> {
  if (code === undefined) return null;
  const { runner, program } = runnerOf(scope.server);
  const seconds = scope.config.python_timeout_seconds;
  const { signal } = scope;
  const answer = await runner.withInterpreter(program, { key: scope.sessionId, signal }, (interpreter) =>
    interpreter.ask({ code, input, seconds }, { timeoutMs: (seconds + EXTRA_SECONDS) * 1000, signal }),
  );
  const found = grid.safeParse(answer.status === "answered" ? answer.value["grid"] : null);
  return found.success ? found.data : null;
}
