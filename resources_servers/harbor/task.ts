import { existsSync } from "node:fs";
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

const NetworkMode = z.enum(["public", "no-network", "allowlist"]).nullish();
const Variables = z.record(z.string(), z.string()).default({});

/** Keys that change what a task is; without them its reward would mean something else. */
const unsupported = z.unknown().refine(isEmpty, { message: "This server does not support it" }).optional();

/** The keys of `task.toml` that matter here; other keys are ignored. */
const TaskConfig = z.looseObject({
  steps: unsupported,
  agent: z
    .looseObject({
      timeout_sec: z.number().positive().nullish(),
      network_mode: NetworkMode,
      user: unsupported,
    })
    .prefault({}),
  verifier: z
    .looseObject({
      timeout_sec: z.number().positive().default(600),
      env: Variables,
      network_mode: NetworkMode,
      environment_mode: z.literal("shared", "A separate verifier is not supported").nullish(),
      environment: unsupported,
      collect: unsupported,
      user: unsupported,
    })
    .prefault({}),
  solution: z.looseObject({ env: Variables }).prefault({}),
  environment: z
    .looseObject({
      network_mode: NetworkMode,
      allow_internet: z.boolean().nullish(),
      os: z
        .string()
        .regex(/^linux$/i, "Only linux is supported")
        .nullish(),
      gpus: z.number().int().nonnegative().nullish(),
      tpu: unsupported,
      healthcheck: unsupported,
      mcp_servers: unsupported,
      docker_image: z.string().nullish(),
      workdir: z.string().nullish(),
      build_timeout_sec: z.number().positive().default(600),
      cpus: z.number().positive().nullish(),
      memory_mb: megabytes.nullish(),
      memory: megabytes.nullish(),
      env: Variables,
    })
    .prefault({}),
});

function isEmpty(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

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
  if (!config.success) {
    const problems = config.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw unusable(name, `task.toml: ${problems.join("; ")}`);
  }
  if (existsSync(path.join(directory, "environment", "docker-compose.yaml")))
    throw unusable(name, "environment/docker-compose.yaml: services beside the task are not supported");
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

/** Variables of a task; `${NAME}` and `${NAME:-default}` are replaced by the variable of the server's environment. */
export function taskVariables(name: string, variables: Readonly<Record<string, string>>) {
  const values: Record<string, string> = {};
  for (const [key, text] of Object.entries(variables)) {
    const [, wanted, fallback] = /^\$\{([^}:]+)(?::-(.*))?\}$/s.exec(text) ?? [];
    const value = wanted === undefined ? text : (process.env[wanted] ?? fallback);
    if (value === undefined) throw unusable(name, `${key} wants the variable ${wanted}, which is not set`);
    values[key] = value;
  }
  return values;
}
