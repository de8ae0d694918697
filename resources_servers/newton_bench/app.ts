import {
  createJudge,
  defineResourcesServer,
  HttpError,
  type JsonObject,
  judgeConfig,
  perServer,
  promptFrom,
  type ServerContext,
} from "nemo-gym";
import { codeRunnerConfig, createCodeRunner } from "nemo-gym/code-runner";
import { laxFloat, outputText, type Response } from "nemo-gym/openai";
import { PyRandom, strip } from "nemo-gym/python";
import { z } from "zod";
import { DONE, PythonSession, sessionProgram } from "../../libraries/python-session/python-session.ts";
import { type EvaluateLaw, type Evaluation, evaluateLaw } from "./evaluate-law.ts";
import { EXPERIMENTS, instrument, reportable, SYSTEMS } from "./experiments.ts";
import { DIFFICULTIES, lawOf, SUBJECTS, type SubjectName, VERSIONS } from "./laws.ts";

const Config = z.object({
  ...codeRunnerConfig,
  ...judgeConfig,
  /** Null: formulas are not judged, only their values are compared. */
  judge_model_server: judgeConfig.judge_model_server.nullish(),
  /** Seconds that one call of execute_python or the evaluation of a law may take. */
  max_execution_time: laxFloat().default(60),
  /** A key of the original: the run limits how long sessions live. */
  session_ttl: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

const Task = {
  module_name: z.string(),
  difficulty: z.enum(DIFFICULTIES),
  system: z.enum(SYSTEMS),
  law_version: z.enum(VERSIONS),
  noise_level: laxFloat(),
};
const Row = z.object(Task);
type Task = z.output<typeof Row> & { module_name: SubjectName };

const NOISE_SEED = 42;
const ERRORS =
  "Exception ArithmeticError AssertionError AttributeError BufferError EOFError ImportError IndexError KeyError MemoryError NameError NotImplementedError OSError OverflowError ReferenceError RuntimeError StopIteration SyntaxError SystemError TypeError ValueError ZeroDivisionError";
const RULES = {
  builtins:
    `abs all any ascii bin bool callable chr complex dict divmod enumerate filter float format frozenset hash hex int isinstance issubclass iter len list map max min next object oct ord pow print range repr reversed round set slice sorted str sum tuple type zip __import__ ${ERRORS}`.split(
      " ",
    ),
  modules: ["np", "numpy", "scipy", "pd", "pandas", "math"],
  refused: [
    "import\\s+os",
    "import\\s+sys",
    "import\\s+subprocess",
    "__import__",
    ...["eval\\(", "exec\\(", "open\\(", "file\\(", "input\\(", "raw_input\\(", "compile\\("],
    ...["globals\\(", "locals\\("],
  ],
};

/** The rollout of one law. */
interface Session {
  /** Undefined before a rollout is seeded, and when it is over. */
  task: Task | undefined;
  python: PythonSession;
  /** Draws the noise. It begins alike each time, so that the same calls give the same results. */
  random: PyRandom;
}

const newSession = (task?: Task): Session => ({
  task,
  python: new PythonSession(RULES),
  random: new PyRandom(NOISE_SEED),
});

const runnerOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server),
  program: sessionProgram(server),
}));

async function close(session: Session): Promise<void> {
  session.task = undefined;
  await session.python.end();
}

function taskOf({ task }: Session): Task {
  if (!task) throw new HttpError(400, "There is no experiment in this session: call /seed_session first.");
  return task;
}

const isSubject = (name: string): name is SubjectName => Object.hasOwn(SUBJECTS, name);

const experiments = Object.fromEntries(
  Object.entries(EXPERIMENTS).map(([name, experiment]) => [
    `run_experiment_${name}`,
    {
      description: `Run one experiment of ${name}.`,
      input: experiment.input,
      run({ input, session }: { input: unknown; session: Session }): JsonObject {
        const task = taskOf(session);
        const { module_name, difficulty, law_version, system, noise_level } = task;
        if (module_name !== name)
          throw new HttpError(400, `This session has experiments of ${module_name}, not of ${name}.`);
        const law = lawOf(module_name, difficulty, law_version).value;
        const measure = instrument(noise_level, () => session.random.random());
        try {
          const result =
            system === "vanilla_equation"
              ? measure(law(...experiment.plain(input)), experiment.precision)
              : experiment[system](input, law, measure);
          return { result: reportable(result) };
        } catch (error) {
          if (error instanceof RangeError) return { result: { error: error.message } };
          throw error;
        }
      },
    },
  ]),
);

/** Discovery of changed laws of physics by experiment. */
export function defineNewtonBench(evaluate: EvaluateLaw) {
  return defineResourcesServer({
    config: Config,
    row: Row.partial(),
    seed: Row,
    echo: [],
    async start(server) {
      const { judge_model_server } = server.config;
      const fields = ["parameters", "law", "submission"];
      return {
        judge: judge_model_server ? createJudge(server, { ...server.config, judge_model_server }) : null,
        prompt: await promptFrom(server, null, "prompts/judge.txt", fields),
      };
    },
    session({ row }): Session {
      const { module_name } = row;
      if (!isSubject(module_name))
        throw new HttpError(
          400,
          `module_name must be one of ${Object.keys(SUBJECTS).join(", ")}, not '${module_name}'.`,
        );
      return newSession({ ...row, module_name });
    },
    unseeded: () => newSession(),
    closeSession: ({ session }) => close(session),
    reverifyMode: "unsupported",
    stop: (server) => runnerOf(server).runner.close(),
    tools: {
      ...experiments,
      execute_python: {
        description:
          "Run Python code. Variables are kept between calls; the value of the last line is the result.",
        input: z.object({ code: z.string() }),
        run({ input, session, sessionId, config, server, signal }): Promise<JsonObject> {
          taskOf(session);
          return session.python.run(input.code, {
            ...runnerOf(server),
            key: sessionId,
            seconds: config.max_execution_time,
            signal,
          });
        },
      },
      end_session: {
        description: "End the session.",
        input: z.object({}),
        async run({ session }): Promise<JsonObject> {
          await close(session);
          return DONE;
        },
      },
    },
    async verify({ response, session, sessionId, config, server, state, signal }) {
      const task = taskOf(session);
      await close(session);
      const { difficulty, system, noise_level, law_version } = task;
      const extracted_law = findLaw(response);
      const evaluation =
        extracted_law === null
          ? null
          : await evaluate(
              extracted_law,
              task,
              {
                ...state,
                runner: runnerOf(server).runner,
                directory: server.directory,
                seconds: config.max_execution_time,
              },
              { key: sessionId, signal },
            );
      return {
        reward: evaluation ? rewardOf(evaluation) : 0,
        ...{ difficulty, system, noise_level, law_version, extracted_law },
        rmsle: Number.isFinite(evaluation?.rmsle) ? evaluation?.rmsle : null,
        exact_accuracy: evaluation?.exact_accuracy ?? null,
        symbolic_equivalent: evaluation?.symbolic_equivalent ?? null,
        evaluation_error: evaluation
          ? (evaluation.error ?? null)
          : "No law found in response. Expected <final_law>...</final_law> tags.",
      };
    },
  });
}

export default defineNewtonBench(evaluateLaw);

/** The last law of the last message that has one. */
function findLaw({ output }: Response): string | null {
  const opening = "<final_law>";
  for (const item of output.toReversed()) {
    if (item.type !== "message" || (item.role ?? "assistant") !== "assistant") continue;
    const text = outputText({ output: [item] });
    const start = text.lastIndexOf(opening);
    const end = start < 0 ? -1 : text.indexOf("</final_law>", start);
    if (end >= 0) return strip(text.slice(start + opening.length, end));
  }
  return null;
}

function rewardOf({ rmsle, symbolic_equivalent }: Evaluation): number {
  const isEquivalent = symbolic_equivalent === true;
  if (rmsle == null) return symbolic_equivalent == null ? 0 : isEquivalent ? 1 : -0.3;
  const distance = rmsle === Number.POSITIVE_INFINITY ? 1 : rmsle / (rmsle + 3);
  return 0.3 * (isEquivalent ? 1 : -1) + 0.7 * (1 - 2 * distance);
}
