import path from "node:path";
import { defineResourcesServer, type JsonObject, perServer, type ServerContext } from "nemo-gym";
import {
  type CodeRunner,
  codeRunnerConfig,
  createCodeRunner,
  type InterpreterSession,
  pythonProgram,
} from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { findAnswer, sameAnswer } from "./answer.ts";

/** Code may block Python itself. The process is then killed and its state is lost. */
const EXTRA_SECONDS = 5;

const Config = z.object({ ...codeRunnerConfig, max_execution_time: laxFloat().default(10) });
type Config = z.output<typeof Config>;

const pythonOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server) as CodeRunner,
  program: pythonProgram(path.join(server.directory, "session.py")),
}));

/** The Python session of one rollout; it starts with the first code. */
interface Session {
  python?: Promise<InterpreterSession>;
}

const DONE = { success: true, stdout: "", stderr: "", error_message: null, result: null };

async function end(session: Session): Promise<void> {
  const python = session.python;
  delete session.python;
  await (await python)?.close();
}

/** Mathematics with a Python session as the tool; the boxed answer is scored. */
export default defineResourcesServer({
  config: Config,
  row: z.object({ expected_result: z.string(), expected_code_contains: z.unknown().optional() }),
  echo: [],
  session: (): Session => ({}),
  unseeded: (): Session => ({}),
  closeSession: ({ session }) => end(session),
  reverifyMode: "stateless",
  stop: (server) => pythonOf(server).runner.close(),
  tools: {
    execute_python: {
      description:
        "Run Python code. Variables are kept between calls; the value of the last line is the result.",
      input: z.object({ code: z.string() }),
      async run({ input, session, sessionId, config, server, signal }): Promise<JsonObject> {
        const { runner, program } = pythonOf(server);
        session.python ??= runner.openSession(program, { key: sessionId });
        const seconds = config.max_execution_time;
        const answer = await (await session.python).ask(
          { code: input.code, seconds },
          { timeoutMs: (seconds + EXTRA_SECONDS) * 1000, signal },
        );
        if (answer.status === "answered") return answer.value;
        const error_message =
          answer.status === "timeout"
            ? "code timed-out"
            : "The Python process ended; its variables are lost.";
        return { ...DONE, success: false, error_message };
      },
    },
    end_session: {
      description: "End the Python session.",
      input: z.object({}),
      async run({ session }): Promise<JsonObject> {
        await end(session);
        return DONE;
      },
    },
  },
  async verify({ row, response, session }) {
    await end(session);
    const extracted_answer = findAnswer(response);
    const accuracy = extracted_answer !== null && sameAnswer(extracted_answer, row.expected_result);
    return { reward: accuracy ? 1 : 0, extracted_answer, accuracy };
  },
});
