import { errorMessage } from "../../src/base/errors.ts";

/** One golden case of a file. */
export interface GoldenCase {
  id: string;
  /** Returns what differs; undefined if nothing does. */
  run: () => string | undefined | Promise<string | undefined>;
}

/** The outcome of one golden case; without `error` it passed. */
export interface CaseResult {
  id: string;
  error: string | undefined;
}

/** The cases of `file`; `target` is the part of the suite name after the colon (`env:mcqa`). */
export type Suite = (file: string, target?: string) => Promise<GoldenCase[]>;

const load = {
  config: async () => (await import("./config.ts")).suite,
  conversion: async () => (await import("./conversion.ts")).suite,
  metrics: async () => (await import("./metrics.ts")).suite,
  expansion: async () => (await import("./expansion.ts")).suite,
  collate: async () => (await import("./collate.ts")).suite,
  math: async () => (await import("./math.ts")).suite,
  env: async () => (await import("./environment.ts")).suite,
  environment_servers: async () => (await import("./environment-servers.ts")).suite,
  sessions: async () => (await import("./sessions.ts")).suite,
  eval_compare: async () => (await import("./eval-compare.ts")).suite,
  aggregate_metrics: async () => (await import("./aggregate-metrics.ts")).suite,
  benchmarks: async () => (await import("./benchmarks.ts")).suite,
} satisfies Record<string, () => Promise<Suite>>;

export const suiteNames = Object.keys(load);

/** Runs the suite called `name` (`config`, `env:mcqa`, …) over one file of golden cases. */
export async function runSuite(name: string, file: string): Promise<CaseResult[]> {
  const [kind = "", target] = name.split(":", 2);
  const loader = (load as Record<string, () => Promise<Suite>>)[kind];
  if (!loader) throw new Error(`Unknown suite '${name}'. Suites: ${suiteNames.join(", ")} (env:<name>).`);
  const suite = await loader();
  const results: CaseResult[] = [];
  for (const { id, run } of await suite(file, target)) results.push({ id, error: await outcomeOf(run) });
  return results;
}

async function outcomeOf(run: GoldenCase["run"]): Promise<string | undefined> {
  try {
    return await run();
  } catch (error) {
    return `threw ${errorMessage(error)}`;
  }
}
