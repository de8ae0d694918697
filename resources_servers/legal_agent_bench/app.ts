import path from "node:path";
import { createJudge, defineResourcesServer, judgeConfig, loadPromptYaml } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { codePointLength } from "nemo-gym/python";
import { z } from "zod";
import { type Files, matchFiles, outputFiles } from "./deliverables.ts";
import { type Judgement, judgeCriterion } from "./judging.ts";

const MAX_FILES = 50;
const MAX_CHARACTERS = 200_000;

const count = laxInt().pipe(z.number().nonnegative());
const Config = z.object({
  ...judgeConfig,
  /** The reward: 1 if all criteria pass, or the share that passes. */
  reward_mode: z.enum(["full_task", "criteria_pass_rate"]).default("full_task"),
  judge_temperature: laxFloat().nullish(),
  judge_max_retries: laxInt().pipe(z.number().min(1)).default(1),
  /** Factor of the waits of 1, 2, 4 and 8 seconds before further calls. */
  judge_retry_delay_factor: laxFloat().pipe(z.number().nonnegative()).default(1),
  judge_structured_output: laxBool().default(true),
  /** Calls that ask the judge to write an unreadable reply again. */
  judge_parse_repair_attempts: count.default(1),
  judge_repair_max_tokens: count.default(4096),
  judge_max_tokens: count.default(4096),
  judge_parallelism: laxInt().pipe(z.number().min(1)).default(6),
  /** As in the original: a criterion whose judge fails does not pass, instead of failing the rollout. */
  failed_judge_scores_zero: laxBool().default(false),
});

const Criterion = z.looseObject({
  id: z.coerce.string(),
  title: z.string().default(""),
  match_criteria: z.string(),
  /** Names of the files that the criterion is about; default: all. */
  deliverables: z.array(z.string()).nullish(),
});
type Criterion = z.infer<typeof Criterion>;

const Row = z.looseObject({
  title: z.string().default(""),
  instructions: z.string().default(""),
  criteria: z.array(Criterion),
  /** The text of each document by its name. */
  documents: z.record(z.string(), z.string()).default({}),
});

/** Legal work: documents in, written files out, and a judge for each criterion of a rubric. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.extend({ criteria: z.array(Criterion).min(1) }),
  echo: ["title"],
  async start(server) {
    const judge = createJudge(server, server.config, {
      api: "chat",
      maxConcurrency: server.config.judge_parallelism,
    });
    const { user: prompt } = await loadPromptYaml(server, "prompts/judge.yaml", [
      "task",
      "output",
      "criterion",
    ]);
    const { user: repair } = await loadPromptYaml(server, "prompts/repair.yaml", ["reply"]);
    return { judge, prompt, repair };
  },
  session: ({ row }) => ({
    documents: new Map(Object.entries(row.documents)) as Files,
    output: new Map<string, string>(),
  }),
  unseeded: () => ({ documents: new Map() as Files, output: new Map<string, string>() }),
  reverifyMode: "unsupported",
  tools: {
    list_files: {
      description: "Lists the documents and the files that were written.",
      input: z.object({}),
      run: ({ session: { documents, output } }) => ({
        documents: [...documents.keys()],
        output: [...output.keys()],
      }),
    },
    read_file: {
      description: "Returns the text of a document, or of a file that was written.",
      input: z.object({ path: z.string() }),
      run({ input, session: { documents, output } }) {
        const content = documents.get(input.path) ?? output.get(nameOf(input.path) ?? "");
        return content === undefined
          ? { error: `There is no file '${input.path}'. list_files shows all.` }
          : { content };
      },
    },
    write_file: {
      description: "Writes a file of the result, or replaces it.",
      input: z.object({ path: z.string(), content: z.string() }),
      run({ input: { path: given, content }, session: { output } }) {
        const name = nameOf(given);
        if (name === undefined) return { error: `'${given}' is no path in the output folder.` };
        if (codePointLength(content) > MAX_CHARACTERS)
          return { error: `A file may have ${MAX_CHARACTERS} characters.` };
        if (!output.has(name) && output.size >= MAX_FILES)
          return { error: `There may be ${MAX_FILES} files.` };
        output.set(name, content);
        return { written: name };
      },
    },
  },
  async verify({ config, row, session: { output }, state: { judge, prompt, repair }, signal }) {
    const files = outputFiles(output);
    const task = [row.title, row.instructions].filter(Boolean).join("\n\n");
    const judgements = await Promise.all(
      row.criteria.map(async (criterion): Promise<Judgement> => {
        const shown = material(criterion, files);
        if ("missing" in shown) return { passes: false, reasoning: `missing deliverable: ${shown.missing}` };
        const text = prompt.render({
          task: judge.fit(task),
          output: judge.fit(shown.text),
          criterion: [criterion.title, criterion.match_criteria].filter(Boolean).join("\n"),
        });
        const repairPrompt = (reply: string) => repair.render({ reply: judge.fit(reply) });
        return judgeCriterion(judge, text, repairPrompt, config, signal);
      }),
    );
    const failed = judgements.find((judgement) => "failure" in judgement);
    if (failed && !config.failed_judge_scores_zero) throw failed.failure;
    return resultOf(row.criteria, judgements, config.reward_mode);
  },
});

/** A name below the output folder; undefined for a path that leaves it. */
function nameOf(given: string): string | undefined {
  const name = path.posix.normalize(given).replace(/^(?:\.?\/)*(?:output\/)?/, "");
  return name === "" || name === "." || name.startsWith("..") || name.endsWith("/") ? undefined : name;
}

/** The files that a criterion is about, or the name of one that nobody wrote. */
function material({ deliverables }: Criterion, files: Files): { text: string } | { missing: string } {
  if (files.size === 0) return { missing: deliverables?.[0] ?? "any file" };
  if (!deliverables || deliverables.length === 0) return { text: sections([...files]) };
  const found = matchFiles(deliverables, [...files.keys()]);
  const missing = deliverables.find((name) => !found.has(name));
  if (missing !== undefined) return { missing };
  return { text: sections([...found].map(([name, file]) => [name, files.get(file) as string])) };
}

const sections = (files: [name: string, content: string][]): string =>
  files.map(([name, content]) => `=== ${name} ===\n${content}`).join("\n\n");

function resultOf(
  criteria: readonly Criterion[],
  judgements: readonly Judgement[],
  mode: "full_task" | "criteria_pass_rate",
) {
  const passed = judgements.filter((judgement) => "passes" in judgement && judgement.passes).length;
  const errors = judgements.filter((judgement) => !("passes" in judgement)).length;
  const total = criteria.length;
  const all_pass = total > 0 && passed === total;
  const criteria_pass_rate = total === 0 ? 0 : passed / total;
  return {
    reward: mode === "full_task" ? Number(all_pass) : criteria_pass_rate,
    score: Number(all_pass),
    criteria_pass_rate,
    judge_error_count: errors,
    judge_error_rate: total === 0 ? 0 : errors / total,
    n_passed: passed,
    n_criteria: total,
    all_pass: Number(all_pass),
    criteria_results: judgements.map((judgement, index) => ({
      id: criteria[index]?.id,
      title: criteria[index]?.title,
      ...describe(judgement),
    })),
  };
}

function describe(judgement: Judgement) {
  if ("passes" in judgement) {
    const { passes, reasoning } = judgement;
    return { verdict: passes ? "pass" : "fail", reasoning, judge_error: false };
  }
  const reason = "failure" in judgement ? judgement.failure.message : `no verdict: ${judgement.unreadable}`;
  return { verdict: "fail", reasoning: reason, judge_error: true };
}
