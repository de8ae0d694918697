import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { GymError, type ServerContext } from "nemo-gym";
import { z } from "zod";

const text = z.string();
const Files = z.array(z.tuple([text, text])).nullish();
const Test = z.object({ input: text, output: text, group: text.nullish() });
const Subtask = z.object({
  aggregation: text.default("min"),
  score: z.number().nullish(),
  score_precision: z.number().int().nullish(),
  test_names: z.array(text),
});
const Scripts = { compile: text, run: text, grader_files: Files };
const Problem = z.object({
  ...Scripts,
  problem_header_include: text.nullish(),
  subtasks: z.record(text, Subtask),
  all_tests: z.record(text, Test),
});
export type Problem = z.output<typeof Problem>;

/** The older form: each subtask has its own scripts and tests. */
const LegacySubtask = z.object({
  compile: text.nullish(),
  run: text.nullish(),
  grader_files: Files,
  tests: z.record(text, Test).default({}),
  score: z.number().nullish(),
  subtask_score: z.number().nullish(),
  score_precision: z.number().int().nullish(),
});
const AnyProblem = z.union([Problem, z.record(text, LegacySubtask).transform(fromLegacy)]);
const Competition = z.looseObject({
  competition_id: text.nullish(),
  competition: text.nullish(),
  metadata: z.record(text, AnyProblem).nullish(),
  problems: z.record(text, AnyProblem).nullish(),
});

function fromLegacy(subtasks: Record<string, z.output<typeof LegacySubtask>>): Problem {
  const all = Object.values(subtasks);
  const all_tests: Problem["all_tests"] = {};
  for (const { tests } of all)
    for (const [name, test] of Object.entries(tests))
      all_tests[name] ??= { ...test, group: name.startsWith("sample") ? "sample" : "secret" };
  return {
    compile: all.find(({ compile }) => compile)?.compile ?? "",
    run: all.find(({ run }) => run)?.run ?? "",
    grader_files: all.find(({ grader_files }) => grader_files?.length)?.grader_files ?? [],
    subtasks: Object.fromEntries(
      Object.entries(subtasks).map(([name, { score, subtask_score, score_precision, tests }]) => [
        name,
        {
          aggregation: "min",
          score: score || subtask_score || 0,
          score_precision,
          test_names: Object.keys(tests),
        },
      ]),
    ),
    all_tests,
  };
}

/** The problems of a metadata file, by competition; a competition may take several lines. */
export class Problems {
  readonly #competitions = new Map<string, Record<string, Problem>>();

  constructor(file: string) {
    try {
      for (const line of readFileSync(file, "utf8").split("\n")) {
        if (line.trim() === "") continue;
        const { competition_id, competition, metadata, problems } = Competition.parse(JSON.parse(line));
        const name = competition_id || competition || "";
        this.#competitions.set(name, { ...this.#competitions.get(name), ...(metadata ?? problems) });
      }
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new GymError("PROBLEMS_FILE", `The file of problems '${file}' cannot be used: ${reason}`, {
        cause: error,
      });
    }
  }

  /** The problem, or why it cannot be found: without a competition its id must occur only once. */
  find(id: string, competition: string | null | undefined): Problem | string {
    const known = (name: string) => {
      const problems = this.#competitions.get(name) ?? {};
      return Object.hasOwn(problems, id) ? problems[id] : undefined;
    };
    if (competition)
      return known(competition) ?? `There is no problem '${id}' in the competition '${competition}'.`;
    const found = [...this.#competitions.keys()].filter((name) => known(name) !== undefined);
    const [only, ...others] = found;
    if (only === undefined) return `There is no problem '${id}'.`;
    if (others.length > 0) return `The problem '${id}' is in several competitions: ${found.join(", ")}.`;
    return known(only) as Problem;
  }
}

const read = new Map<string, Problems>();

/** Reads `test_file` once: a path in the folder of the server, or one that `findFile` finds. */
export function problemsOf(
  { test_file }: { test_file: string },
  server?: Pick<ServerContext, "directory" | "findFile">,
): Problems {
  let problems = read.get(test_file);
  if (problems === undefined) {
    const own = path.resolve(server?.directory ?? "", test_file);
    problems = new Problems(existsSync(own) || server === undefined ? own : server.findFile(test_file));
    read.set(test_file, problems);
  }
  return problems;
}
