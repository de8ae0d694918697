import path from "node:path";
import {
  createJudge,
  defineResourcesServer,
  HttpError,
  JudgeError,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import { laxFloat, laxInt, outputText } from "nemo-gym/openai";
import { pyRound } from "nemo-gym/python";
import { openSandbox, type Sandbox, sandboxConfig } from "nemo-gym/sandbox";
import type { JudgeMessage } from "nemo-gym/verify";
import { z } from "zod";
import { OUTPUT, type Output, readOutput } from "./output-files.ts";
import { readScore } from "./read-score.ts";

const TASK = "/workspace/task";

const Config = z.object({
  ...judgeConfig,
  ...sandboxConfig,
  /** Time limit of one command of the model, in seconds. */
  command_timeout: laxFloat().default(180),
  /** Maximum length of an output that the model sees. */
  max_output_chars: laxInt().default(20_000),
  /** Commands that print the text of other files, by ending: `{".docx": "pandoc -t plain {file}"}`. They run in the sandbox. */
  extractors: z.record(z.string().startsWith("."), z.string().includes("{file}")).default({}),
  /** Calls for each rubric, until the reply can be read. */
  judge_max_attempts: laxInt().pipe(z.number().min(1)).default(3),
});

const Rubric = z.looseObject({ rubric: z.string(), weight: z.number().positive().default(1) });

const Row = z.looseObject({
  task_id: z.string(),
  instructions: z.string().default(""),
  rubrics: z.array(Rubric),
  /** The text of each file of the task by its name. */
  files: z.record(z.string(), z.string()).default({}),
  image: z.string().nullish(),
});

interface Session {
  sandbox: Sandbox;
}

/** Tasks of office jobs: files in, files out, and a judge gives points for each rubric. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.extend({ rubrics: z.array(Rubric).min(1) }),
  echo: ["task_id"],
  reverifyMode: "unsupported",
  async start(server) {
    const prompt = await loadPromptYaml(server, "prompts/judge.yaml", ["task", "rubric", "weight"]);
    return { judge: createJudge(server, server.config, { api: "chat" }), prompt: prompt.user };
  },
  async session({ row, server, signal }): Promise<Session> {
    const files = Object.fromEntries(
      Object.entries(row.files).map(([name, text]) => [path.posix.join(TASK, inside(name)), text]),
    );
    const image = row.image ?? undefined;
    const sandbox = await openSandbox(server, { workdir: "/workspace", image, files }, { signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw sandboxUnavailable(error);
      },
    );
    await sandbox.exec(`mkdir -p ${TASK} ${OUTPUT}`, { cwd: "/", signal });
    return { sandbox };
  },
  closeSession: ({ session }) => session.sandbox.stop(),
  tools: {
    bash: {
      description: `Run a command in a shell. The files of the task are in ${TASK}; the result belongs into ${OUTPUT}.`,
      input: z.object({ command: z.string() }),
      async run({ input, session, config, signal }) {
        const timeoutSeconds = config.command_timeout;
        const result = await session.sandbox.exec(input.command, { timeoutSeconds, signal });
        const output = `${result.stdout ?? ""}${result.stderr ?? ""}`.slice(0, config.max_output_chars);
        if (result.error_type === "sandbox") {
          const message = `the sandbox has failed: ${output}`;
          throw new HttpError(500, message, { failure: { class: "tool_error", retryable: false, message } });
        }
        return result.error_type === "timeout"
          ? { error: `The command was ended after ${timeoutSeconds} seconds.`, output }
          : { exit_code: result.return_code, output };
      },
    },
  },
  async verify({ config, row, session, state: { judge, prompt }, signal }) {
    const output = await readOutput(session.sandbox, config.extractors, signal).finally(() =>
      session.sandbox.stop(),
    );
    const grade = async ({ rubric, weight }: z.infer<typeof Rubric>) => {
      if (output.parts.length === 0) return { rubric, weight, score: 0, reason: "no file that can be read" };
      const text = prompt.render({ task: judge.fit(row.instructions), rubric, weight: String(weight) });
      for (let attempt = 0; attempt < config.judge_max_attempts; attempt++) {
        const { verdict } = await judge.ask(messages(text, output), {
          signal,
          parse: (_, reply) => readScore(outputText(reply), weight),
        });
        if (verdict) return { rubric, weight, ...verdict };
      }
      throw new JudgeError(`The judge gave no score in ${config.judge_max_attempts} replies.`);
    };
    const rubric_results = await Promise.all(row.rubrics.map(grade));
    const total = (key: "score" | "weight") => rubric_results.reduce((sum, result) => sum + result[key], 0);
    return {
      reward: rubric_results.length === 0 ? 0 : pyRound(total("score") / total("weight"), 4),
      rubric_results,
      hidden_files: output.hidden,
    };
  },
});

function messages(text: string, { parts }: Output): JudgeMessage[] {
  const given = [{ type: "text", text }, ...parts, { type: "text", text: "</output>" }];
  // Judges are asked with texts elsewhere; the chat API takes parts too.
  return [{ role: "user", content: given as unknown as string }];
}

/** A name below the folder of the task. */
function inside(name: string): string {
  const normal = path.posix.normalize(name);
  if (!path.posix.isAbsolute(normal) && normal !== ".." && !normal.startsWith("../")) return normal;
  throw new HttpError(422, `files: '${name}' leaves the folder of the task.`);
}
