import { allAssistantText, defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { isObject, strip } from "nemo-gym/python";
import { z } from "zod";
import { Chemistry } from "./chemistry.ts";
import { isRight, type Sources } from "./rules.ts";
import { remoteServices } from "./services.ts";

const Config = z.object({
  /** The Python that has rdkit, and exmol for functional groups. */
  python: z.string().min(1).default("python3"),
  /** Seconds that one question about a molecule may take. */
  python_timeout: z.number().positive().default(30),
  /** Address of the services for solubility and reactions. */
  remote_base_url: z
    .string()
    .transform((url) => url.replace(/\/+$/, ""))
    .nullish(),
  remote_timeout: z.number().positive().default(60),
});
type Config = z.output<typeof Config>;

const Metadata = z.looseObject({
  solution: z.unknown(),
  problem_type: z.string().nullish(),
  choices: z.record(z.string(), z.string()).nullish(),
});

const chemistryOf = perServer(
  ({ config, directory }: ServerContext<Config>) =>
    new Chemistry({ python: config.python, directory, timeoutMs: config.python_timeout * 1000 }),
);

/** What a definition asks besides RDKit. */
export type Oracles = (config: Config) => Pick<Sources, "services" | "known">;

const oracles: Oracles = ({ remote_base_url, remote_timeout }) => ({
  services: remoteServices(remote_base_url ?? null, remote_timeout * 1000),
  // The filters of the original are not public: any ring and any surrounding of an atom is taken as known.
  known: () => true,
});

/** Chemistry: names, molecules and reactions. */
export function defineEther0(ask: Oracles) {
  return defineResourcesServer({
    config: Config,
    row: z.looseObject({ verifier_metadata: Metadata.nullish().catch(null) }),
    seed: z.looseObject({ verifier_metadata: Metadata }),
    echo: [],
    reverifyMode: "stateless",
    stop: (server) => chemistryOf(server).close(),
    async verify({ row, response, config, server, signal }) {
      const { solution, problem_type, choices } = row.verifier_metadata ?? {};
      const task = taskOf(solution);
      const found = task && findAnswer(allAssistantText(response));
      const extracted_answer = (found && chosen(found, choices ?? {})) ?? null;
      const sources = { chemistry: chemistryOf(server), ...ask(config), signal };
      const reward =
        task !== null &&
        extracted_answer !== null &&
        (await isRight(task.rule, extracted_answer, task.expected, sources));
      return {
        reward,
        extracted_answer,
        eval_function: task?.rule ?? null,
        problem_type: problem_type ?? "",
      };
    },
  });
}

export default defineEther0(oracles);

/** The rule and what it expects: `function!:!answer!:!type`, or an object. */
function taskOf(solution: unknown): { rule: string; expected: string } | null {
  if (isObject(solution)) {
    const { fxn_name: rule, answer_info: expected, problem_type: type } = solution;
    const isTask = typeof rule === "string" && typeof expected === "string" && typeof type === "string";
    return isTask ? { rule, expected } : null;
  }
  const [rule, expected, type] = typeof solution === "string" ? solution.split("!:!") : [];
  return rule === undefined || expected === undefined || type === undefined ? null : { rule, expected };
}

/** The answer in the last tag, else in the last box, else the letter of the last line `Answer: X`. */
function findAnswer(text: string): string | null {
  const plain = text.replaceAll("<|answer_start|>", "<answer>").replaceAll("<|answer_end|>", "</answer>");
  const tagged = [...plain.matchAll(/<answer>\s*(\S[\s\S]*?)\s*<\/answer>/g)].at(-1)?.[1];
  if (tagged !== undefined && !tagged.includes("<answer>")) return tagged;
  const boxed = [...plain.matchAll(/\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}/g)].at(-1)?.[1];
  if (boxed !== undefined) return strip(boxed) || null;
  return [...plain.matchAll(/Answer\s*:\s*([A-Za-z])\s*$/gm)].at(-1)?.[1] ?? null;
}

/** A letter stands for its choice. */
function chosen(answer: string, choices: Record<string, string>): string {
  return answer.length === 1 ? (choices[answer.toUpperCase()] ?? answer) : answer;
}
