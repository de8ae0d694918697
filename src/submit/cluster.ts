import { mkdir, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { errorMessage } from "../errors.ts";
import { makeDirectory } from "../files/make-directory.ts";
import { SubmitError } from "./errors.ts";
import { runTool } from "./run-tool.ts";
import { shellCommand } from "./shell-words.ts";

/** The machine that jobs are submitted on. */
export interface Cluster {
  /** Those of the paths that do not exist there. */
  missing(paths: readonly string[]): Promise<string[]>;
  /** Makes a directory that must not exist yet; its parents are made as needed. */
  makeDirectory(directory: string): Promise<void>;
  /** Writes the script and makes the directories beside it. */
  writeJob(directory: string, script: string): Promise<void>;
  /** Hands a script to sbatch and gives what that printed. */
  sbatch(script: string): Promise<string>;
}

/** What a job writes besides its script. */
const JOB_DIRECTORIES = ["logs", "artifacts"];
/** Scripts hold the values of environment variables, tokens among them. */
const SCRIPT_MODE = 0o700;

export function openCluster(
  hostname: string | undefined,
  options: { env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined },
): Cluster {
  return hostname === undefined || hostname === os.hostname()
    ? new LocalCluster(options)
    : new RemoteCluster(hostname, options);
}

class LocalCluster implements Cluster {
  readonly #options: { env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined };

  constructor(options: { env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined }) {
    this.#options = options;
  }

  async missing(paths: readonly string[]): Promise<string[]> {
    const found = await Promise.all(
      paths.map((name) =>
        stat(name).then(
          () => true,
          () => false,
        ),
      ),
    );
    return paths.filter((_, index) => !found[index]);
  }

  async makeDirectory(directory: string): Promise<void> {
    await writing(directory, async () => {
      await makeDirectory(path.dirname(directory));
      await mkdir(directory);
    });
  }

  async writeJob(directory: string, script: string): Promise<void> {
    const file = path.join(directory, "job.sh");
    await writing(file, async () => {
      for (const name of JOB_DIRECTORIES) await makeDirectory(path.join(directory, name));
      await writeFile(file, script, { mode: SCRIPT_MODE });
    });
  }

  sbatch(script: string): Promise<string> {
    return runTool(["sbatch", script], this.#options);
  }
}

/** Over ssh. The other side's shell reads the command, so every word of it is quoted; ours sees none. */
class RemoteCluster implements Cluster {
  readonly #host: string;
  readonly #options: { env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined };

  constructor(host: string, options: { env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined }) {
    this.#host = host;
    this.#options = options;
  }

  async missing(paths: readonly string[]): Promise<string[]> {
    if (paths.length === 0) return [];
    const checks = paths.map(
      (name, index) => `${shellCommand(["test", "-e", name])} || echo missing ${index}`,
    );
    const answer = await this.#run(`${checks.join("; ")}; true`);
    const missing = new Set([...answer.matchAll(/^missing (\d+)$/gm)].map(([, index]) => Number(index)));
    return paths.filter((_, index) => missing.has(index));
  }

  async makeDirectory(directory: string): Promise<void> {
    const parent = shellCommand(["mkdir", "-p", "--", path.posix.dirname(directory)]);
    await this.#run(`${parent} && ${shellCommand(["mkdir", "--", directory])}`);
  }

  async writeJob(directory: string, script: string): Promise<void> {
    const directories = JOB_DIRECTORIES.map((name) => path.posix.join(directory, name));
    const file = path.posix.join(directory, "job.sh");
    const steps = [
      "umask 077",
      shellCommand(["mkdir", "-p", "--", ...directories]),
      `cat > ${shellCommand([file])}`,
      shellCommand(["chmod", "700", "--", file]),
    ];
    await this.#run(steps.join(" && "), script);
  }

  sbatch(script: string): Promise<string> {
    return this.#run(shellCommand(["sbatch", script]));
  }

  #run(command: string, input = ""): Promise<string> {
    return runTool(["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "--", this.#host, command], {
      ...this.#options,
      input,
    });
  }
}

async function writing(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    const problem = exists ? "it is there already" : errorMessage(error);
    throw new SubmitError("SUBMIT_DIRECTORY", `'${file}' cannot be made: ${problem}.`, { cause: error });
  }
}
