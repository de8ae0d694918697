import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage, GymError } from "nemo-gym";

import { z } from "zod";
import { parseToml } from "../../libraries/structured-text/toml.ts";

const VERIFIER_FILES = ["test.sh", "test.patch", "grader.py", "config.json"] as const;
const REQUIRED = [
  ...VERIFIER_FILES.map((name) => `tests/${name}`),
  "instruction.md",
  "solution/solution.patch",
];

const positive = z.number().positive();
const Resources = z.object({
  cpus: positive.optional(),
  memory_mb: positive.optional(),
  storage_mb: positive.optional(),
});
const TaskFile = z.object({
  metadata: z.object({ task_id: z.string().min(1) }),
  environment: Resources.extend({ docker_image: z.string().min(1) }),
  verifier: z.object({
    timeout_sec: positive.default(1800),
    environment: Resources.default({}),
    collect: z.array(z.object({ command: z.string().min(1), timeout_sec: positive })).length(1),
  }),
});

export interface Task {
  id: string;
  image: string;
  resources: { cpu: number; memory_mib: number; disk_gib: number };
  verifierSeconds: number;
  collect: { command: string; timeout_sec: number };
  /** By name, in /tests of the verifier. */
  verifierFiles: Record<string, string>;
  solution: string;
}

/** The tasks of a directory cannot be used. */
export class TasksError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("DEEPSWE_TASKS", message, options);
  }
}

/** Reads all tasks of a directory: one folder with a task.toml each. */
export function readTasks(directory: string, expected: number | null | undefined): Map<string, Task> {
  if (!existsSync(directory)) throw new TasksError(`tasks_dir: there is no directory '${directory}'.`);
  const names = readdirSync(directory).filter((name) => existsSync(path.join(directory, name, "task.toml")));
  if (expected != null && names.length !== expected)
    throw new TasksError(
      `tasks_dir: '${directory}' has ${names.length} tasks, but expected_task_count is ${expected}.`,
    );
  return new Map(names.sort().map((name) => [name, readTask(path.join(directory, name))]));
}

function readTask(folder: string): Task {
  const name = path.basename(folder);
  const missing = REQUIRED.filter(
    (file) => !lstatSync(path.join(folder, file), { throwIfNoEntry: false })?.isFile(),
  );
  if (missing.length > 0)
    throw new TasksError(`The task '${name}' lacks ${missing.join(", ")} (links are not followed).`);
  const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
  try {
    const { metadata, environment, verifier } = TaskFile.parse(parseToml(read("task.toml")));
    if (metadata.task_id !== name) throw new Error(`metadata.task_id is '${metadata.task_id}'`);
    const { cpus = 1, memory_mb = 2048, storage_mb = 10_240 } = { ...environment, ...verifier.environment };
    return {
      id: name,
      image: environment.docker_image,
      resources: { cpu: cpus, memory_mib: memory_mb, disk_gib: Math.ceil(storage_mb / 1024) },
      verifierSeconds: verifier.timeout_sec,
      collect: verifier.collect[0] as Task["collect"],
      verifierFiles: Object.fromEntries(VERIFIER_FILES.map((file) => [file, read(`tests/${file}`)])),
      solution: read("solution/solution.patch"),
    };
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
    throw new TasksError(`The task.toml of '${name}' cannot be used: ${reason}`, { cause: error });
  }
}
