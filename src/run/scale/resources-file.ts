import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { z } from "zod";
import { errorMessage, GymError } from "../../errors.ts";
import { artifactPaths } from "../../rollouts/files/artifact-paths.ts";
import { writeFileAtomically } from "../../rollouts/files/atomic-file.ts";

const amount = z.number().min(0);
/** Resources that a process and its descendants used while rollouts ran. */
const Figures = z.object({
  seconds: amount,
  cpu_seconds: amount,
  /** Memory before the first rollout, and the maximum of all samples. Shared memory is counted for each process. */
  idle_memory_mb: amount,
  peak_memory_mb: amount,
  /** The maximum of all samples. */
  processes: amount,
  sandboxes: amount,
  sandbox_memory_mb: amount,
  /** Number of finished rollouts, including failed attempts. */
  rollouts: amount,
  /** Mean duration of a rollout. */
  rollout_seconds: amount,
  mean_in_flight: amount,
  peak_in_flight: amount,
});
export type ResourceFigures = z.infer<typeof Figures>;

const Resources = z.object({
  schema_version: z.literal(1),
  /** Cores of the collector's machine. */
  cores: amount,
  /** Where the rollouts ran: in processes of this run, on servers started elsewhere, or in workers. */
  servers: z.enum(["own", "elsewhere", "workers"]),
  /** The collector, including its servers if it started them. */
  run: Figures,
  /** Workers by id, for as long as they served the run. */
  workers: z.record(z.string(), Figures),
});

/** `<output>_resources.json`: the resources that the last session of a run used. */
export type RunResources = z.infer<typeof Resources>;

export async function writeResources(
  path: string,
  resources: Pick<RunResources, "servers" | "run" | "workers">,
): Promise<void> {
  const text = JSON.stringify({ schema_version: 1, cores: availableParallelism(), ...resources }, null, 2);
  await writeFileAtomically(path, [`${text}\n`]);
}

/** Reads the figures of the run with this output. */
export async function readResources(output: string): Promise<RunResources> {
  const { resources: path } = artifactPaths(output);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : errorMessage(error);
    throw new GymError(
      "SCALE_FIGURES",
      `The measured figures of the run, '${path}', cannot be read: ${why}. \`gym eval run -o ${output}\` writes them (on Linux).`,
      { cause: error },
    );
  }
  const parsed = Resources.safeParse(readJson(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GymError(
    "SCALE_FIGURES",
    `'${path}' does not hold the figures of a run: ${issue?.path.join(".") || "it"}: ${issue?.message}.`,
  );
}

function readJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GymError("SCALE_FIGURES", `'${path}' is not JSON: ${errorMessage(error)}.`, { cause: error });
  }
}
