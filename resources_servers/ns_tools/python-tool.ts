import path from "node:path";
import { GymError, type JsonObject, type ServerContext } from "nemo-gym";
import {
  codeRunnerConfig,
  createCodeRunner,
  type InterpreterSession,
  pythonProgram,
} from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";

/** Code may block Python itself. The process is then killed and its variables are lost. */
const EXTRA_SECONDS = 5;
const NAME = "stateful_python_code_exec";
/** The class of the original that runs Python; its module has had several names. */
const PYTHON_TOOL = /(?:^|\W)(?:Direct)?PythonTool$/;

/** The tools of a server. */
export interface Tools {
  has(name: string): boolean;
  call(name: string, input: JsonObject, sessionId: string, signal: AbortSignal): Promise<unknown>;
  /** Frees what the tools keep for a session. */
  end(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** The tool did not answer in time. */
export class ToolTimeout extends GymError {
  constructor() {
    super("TOOL_TIMEOUT", "Request timeout");
  }
}

export const pythonToolConfig = {
  ...codeRunnerConfig,
  /** The tools, with the names that they have in NeMo Skills. */
  nemo_skills_tools: z
    .array(z.string().regex(PYTHON_TOOL, { error: "is not available here; only PythonTool is" }))
    .default([]),
  nemo_skills_tool_overrides: z
    .looseObject({ PythonTool: z.looseObject({ exec_timeout_s: laxFloat().default(10) }).optional() })
    .default({}),
};
const Config = z.object(pythonToolConfig);

/** Python sessions in the sandbox, one for each rollout. */
export function pythonTool(server: ServerContext<z.output<typeof Config>>): Tools {
  const { nemo_skills_tools, nemo_skills_tool_overrides } = server.config;
  const seconds = nemo_skills_tool_overrides.PythonTool?.exec_timeout_s ?? 10;
  const runner = createCodeRunner(server);
  const program = pythonProgram(path.join(server.directory, "session.py"));
  const sessions = new Map<string, Promise<InterpreterSession>>();
  return {
    has: (name) => name === NAME && nemo_skills_tools.length > 0,
    async call(_name, { code }, sessionId, signal) {
      if (typeof code !== "string") throw new TypeError("`code` must be a text.");
      const session = sessions.get(sessionId) ?? runner.openSession(program, { key: sessionId });
      sessions.set(sessionId, session);
      const timeoutMs = (seconds + EXTRA_SECONDS) * 1000;
      const answer = await (await session).ask({ code, seconds }, { timeoutMs, signal });
      if (answer.status === "timeout") throw new ToolTimeout();
      if (answer.status === "ended") return "The Python process ended; its variables are lost.";
      const { status, output } = answer.value;
      if (status === "completed") return strip(String(output));
      return { process_status: "timeout", stdout: output, stderr: `The code took more than ${seconds} s.` };
    },
    async end(sessionId) {
      const session = sessions.get(sessionId);
      sessions.delete(sessionId);
      await (await session)?.close();
    },
    close: () => runner.close(),
  };
}
