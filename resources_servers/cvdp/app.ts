import path from "node:path";
import { defineResourcesServer, HttpError } from "nemo-gym";
import { laxFloat, outputText, type Response } from "nemo-gym/openai";
import { sandboxConfig } from "nemo-gym/sandbox";
import { z } from "zod";
import { type HarnessResult, type HarnessTask, runHarness } from "./harness.ts";
import { parseRtl } from "./parse-rtl.ts";
import { bleuOfPairs, sharedPairs } from "./text-scores.ts";

/** Questions about code, answered in words. */
const COMPREHENSION = [6, 8, 9, 10];

const image = z.string().nullish();
const Config = z.object({
  ...sandboxConfig,
  oss_sim_image: image,
  oss_pnr_image: image,
  /** An image with commercial tools, which the user must own. */
  eda_sim_image: image,
  /** Seconds for each service of a task. */
  container_timeout: laxFloat().default(600),
  /** A key of the original without effect: the sandbox provider limits the sandboxes. */
  num_processes: z.unknown().optional(),
});

const Files = z.record(z.string(), z.string().nullable());
const Row = z.looseObject({
  verifier_metadata: z.looseObject({
    task_id: z.string(),
    /** `cid` with a number, and a difficulty. */
    categories: z
      .array(z.string())
      .min(2)
      .refine(([id = ""]) => /^cid\d+$/.test(id), { message: "the first must be 'cid' with a number" }),
    target_files: z.array(z.string()).nullish(),
    harness_files: Files.nullish(),
    context_files: Files.nullish(),
    subjective_reference: z.string().nullish(),
  }),
  /** The files that an agent has written, instead of an answer. */
  rtl_files: z.record(z.string(), z.string()).nullish(),
});
type Metadata = z.output<typeof Row>["verifier_metadata"];

/** Hardware design: answers are files, which the simulators of the task test, or explanations. */
export const cvdp = (
  run: (task: HarnessTask, server: Parameters<typeof runHarness>[1]) => Promise<HarnessResult>,
) =>
  defineResourcesServer({
    config: Config,
    row: Row,
    echo: [],
    reverifyMode: "stateless",
    async verify({ config, row, response, server, signal }) {
      const { verifier_metadata: metadata } = row;
      const [category = "", difficulty = ""] = metadata.categories;
      const none = {
        reward: 0,
        ...{ task_id: metadata.task_id, category, difficulty, extracted_rtl: null, parse_failed: false },
        ...{ container_exit_code: null, container_stderr: null, container_services: null },
        ...{ execution_time: null, bleu_score: null, rouge_score: null },
      };
      const text = outputText(response) || firstThoughts(response);
      const written = Object.keys(row.rtl_files ?? {}).length > 0 ? (row.rtl_files ?? undefined) : undefined;
      if (text === "" && written === undefined) return { ...none, execution_time: 0 };
      if (COMPREHENSION.includes(Number(category.slice(3)))) return { ...none, ...explained(text, metadata) };
      const files = written ?? parseRtl(text, metadata.target_files ?? []);
      if (files === undefined)
        return {
          ...none,
          parse_failed: true,
          container_stderr: "parse_failed: could not extract RTL from model output",
          container_services: [],
          execution_time: 0,
        };
      const started = performance.now();
      const { exitCode, stderr, services } = await run(
        {
          files: workspaceOf(metadata, files),
          images: {
            __OSS_SIM_IMAGE__: config.oss_sim_image,
            __OSS_PNR_IMAGE__: config.oss_pnr_image,
            __VERIF_EDA_IMAGE__: config.eda_sim_image,
          },
          timeoutSeconds: config.container_timeout,
          signal,
        },
        server,
      );
      return {
        ...none,
        reward: exitCode === 0 ? 1 : 0,
        extracted_rtl: files,
        container_exit_code: exitCode,
        container_stderr: stderr,
        container_services: services.map((service) => ({ ...service })),
        execution_time: (performance.now() - started) / 1000,
      };
    },
  });

export default cvdp(runHarness);

function explained(text: string, { subjective_reference: reference }: Metadata) {
  if (!reference)
    return { container_stderr: "No subjective_reference provided for code-comprehension category" };
  const rouge_score = sharedPairs(text, reference);
  if (rouge_score === undefined)
    throw new HttpError(422, "verifier_metadata.subjective_reference must have at least two words.");
  const bleu_score = bleuOfPairs(text, reference);
  return { reward: bleu_score, bleu_score, rouge_score };
}

/** Some models put everything into their reasoning. */
function firstThoughts({ output }: Response): string {
  const item = output.find(({ type }) => type === "reasoning") as
    | { summary?: { text?: string }[] }
    | undefined;
  return (item?.summary ?? []).map(({ text }) => text ?? "").join("\n");
}

/** The answer wins over the files of the task, except over those that test it. */
function workspaceOf({ context_files, harness_files }: Metadata, answer: Record<string, string>) {
  const files: Record<string, string> = {};
  for (const group of [context_files ?? {}, answer, harness_files ?? {}])
    for (const [name, text] of Object.entries(group)) {
      const place = path.posix.normalize(name);
      const isSafe = !path.posix.isAbsolute(place) && place !== "." && !/^\.\.(\/|$)/.test(place);
      if (text !== null && isSafe) files[place] = text;
    }
  return files;
}
