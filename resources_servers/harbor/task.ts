import { readFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage, HttpError } from "nemo-gym";
import { parse } from "smol-toml";
import { z } from "zod";

/** `4G`, `512M`, or a number of megabytes. */
const megabytes = z.union([
  z.number(),
  z
    .string()
    .regex(/^\d+(\.\d+)?\s*[MG]i?B?$/i, "expected a size such as 512M or 4G")
    .transform((text) => Number.parseFloat(text) * (/G/i.test(text) ? 1024 : 1)),
]);

/** The keys of `task.toml` that are read; other keys are ignored. */
const TaskConfig = z.looseObject({
  agent: z.looseObject({ timeout_sec: z.number().positive().nullish() }).prefault({}),
  verifier: z
    .looseObject({
      timeout_sec: z.number().positive().default(600),
      env: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
  environment: z
    .looseObject({
      docker_image: z.string().nullish(),
      workdir: z.string().nullish(),
      build_timeout_sec: z.number().positive().default(600),
      cpus: z.number().positive().nullish(),
      memory_mb: megabytes.nullish(),
      memory: megabytes.nullish(),
      env: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
});

export interface HarborTask {
  name: string;
  directory: string;
  config: z.output<typeof TaskConfig>;
  /** The text of `environment/Dockerfile`; absent for tasks that only name an image. */
  dockerfile: string | undefined;
}

/** Reads a Harbor task directory: `task.toml`, `environment/`, `tests/test.sh`. */
export async function readTask(tasksDirectory: string, name: string): Promise<HarborTask> {
  const directory = path.join(tasksDirectory, name);
  if (path.relative(tasksDirectory, directory).startsWith("..") || name === "")
    throw unusable(name, `it is not a directory below ${tasksDirectory}`);
  const text = await readFile(path.join(directory, "task.toml"), "utf8").catch((error: unknown) => {
    throw unusable(name, errorMessage(error));
  });
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw unusable(name, `task.toml cannot be read: ${errorMessage(error)}`);
  }
  const config = TaskConfig.safeParse(content);
  if (!config.success) throw unusable(name, `task.toml: ${z.prettifyError(config.error)}`);
  const dockerfile = await readFile(path.join(directory, "environment", "Dockerfile"), "utf8").catch(
    () => undefined,
  );
  return { name, directory, config: config.data, dockerfile };
}

/** The row names a task that cannot run; a retry does not help. */
export function unusable(name: string, reason: string): HttpError {
  const message = `The Harbor task '${name}' cannot be used: ${reason}`;
  return new HttpError(422, message, { failure: { class: "invalid_row", retryable: false, message } });
}

/** Variables of a task; `${NAME}` is replaced by the variable of the server's environment. */
export function taskVariables(name: string, variables: Readonly<Record<string, string>>) {
  const values: Record<string, string> = {};
  for (const [key, text] of Object.entries(variables)) {
    const wanted = /^\$\{(\w+)\}$/.exec(text)?.[1];
    const value = wanted === undefined ? text : process.env[wanted];
    if (value === undefined) throw unusable(name, `${key} wants the variable ${wanted}, which is not set`);
    values[key] = value;
  }
  return values;
}
