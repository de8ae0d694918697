import { defineResourcesServer, type JsonObject, perServer, type ServerContext } from "nemo-gym";
import { codeRunnerConfig, createCodeRunner } from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { DONE, PythonSession, sessionProgram } from "../../libraries/python-session/python-session.ts";
import { findAnswer, sameAnswer } from "./answer.ts";

const Config = z.object({ ...codeRunnerConfig, max_execution_time: laxFloat().default(10) });
type Config = z.output<typeof Config>;

const RULES = {
  builtins:
    "print len str int float list dict tuple set min max sum abs range enumerate zip __import__".split(" "),
  modules: ["np", "numpy", "scipy", "pd", "pandas"],
};

const pythonOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server),
  program: sessionProgram(server),
}));

/** Mathematics with a Python session as the tool; the boxed answer is scored. */
export default defineResourcesServer({
  config: Config,
  row: z.object({ expected_result: z.string(), expected_code_contains: z.unknown().optional() }),
  echo: [],
  session: () => new PythonSession(RULES),
  unseeded: () => new PythonSession(RULES),
  closeSession: ({ session }) => session.end(),
  reverifyMode: "stateless",
  stop: (server) => pythonOf(server).runner.close(),
  tools: {
    execute_python: {
      description:
        "Run Python code. Variables are kept between calls; the value of the last line is the result.",
      input: z.object({ code: z.string() }),
      run: ({ input, session, sessionId, config, server, signal }): Promise<JsonObject> =>
        session.run(input.code, {
          ...pythonOf(server),
          key: sessionId,
          seconds: config.max_execution_time,
          signal,
        }),
    },
    end_session: {
      description: "End the Python session.",
      input: z.object({}),
      async run({ session }): Promise<JsonObject> {
        await session.end();
        return DONE;
      },
    },
  },
  async verify({ row, response, session }) {
    await session.end();
    const extracted_answer = findAnswer(response);
    const accuracy = extracted_answer !== null && sameAnswer(extracted_answer, row.expected_result);
    return { reward: accuracy ? 1 : 0, extracted_answer, accuracy };
  },
});
