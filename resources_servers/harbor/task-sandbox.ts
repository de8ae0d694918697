import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import { openSandbox, providerOf, type Sandbox, type SandboxServer, shellQuote } from "nemo-gym/sandbox";
import { type Recipe, readDockerfile } from "./dockerfile.ts";
import { networkUse } from "./network-use.ts";
import { type HarborTask, taskVariables, unusable } from "./task.ts";

/** Providers that use the programs of this machine instead of an image. */
const WITHOUT_IMAGES = new Set(["bubblewrap", "unconfined"]);
const DEFAULT_WORKDIR = "/app";

/** Starts the sandbox of a task from its image, or executes its Dockerfile in a new sandbox. */
export async function openTask(
  server: SandboxServer,
  task: HarborTask,
  { signal, checksTests }: { signal: AbortSignal; checksTests: boolean },
): Promise<{ sandbox: Sandbox; env: Record<string, string> }> {
  const { environment } = task.config;
  const hasImages = !WITHOUT_IMAGES.has(providerOf(server).name);
  const prebuilt = hasImages ? (environment.docker_image ?? undefined) : undefined;
  const recipe = prebuilt === undefined ? recipeOf(task) : undefined;
  const workdir =
    environment.workdir ?? recipe?.workdir ?? (prebuilt === undefined ? DEFAULT_WORKDIR : undefined);
  const env = { ...recipe?.env, ...taskVariables(task.name, environment.env) };
  const memory = environment.memory_mb ?? environment.memory;
  const sandbox = await openSandbox(
    server,
    {
      image: prebuilt ?? (hasImages ? recipe?.image : undefined),
      workdir,
      env,
      resources: {
        ...(environment.cpus && { cpu: environment.cpus }),
        ...(memory && { memory_mib: Math.ceil(memory) }),
        ...(environment.gpus && { gpu: environment.gpus }),
      },
    },
    { signal },
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw sandboxUnavailable(error);
  });
  try {
    await checkNetwork(sandbox, task, checksTests);
    if (recipe) await carryOut(sandbox, task, recipe, signal);
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
  return { sandbox, env };
}

/**
 * Rejects a task whose sandbox has another network than the task expects. Tests that cannot download their programs usually
 * write a reward of 0, for a right solution too, so they are refused before the model is called.
 */
async function checkNetwork(sandbox: Sandbox, task: HarborTask, checksTests: boolean): Promise<void> {
  const { agent, verifier, environment } = task.config;
  const baseline =
    environment.network_mode ?? (environment.allow_internet === false ? "no-network" : "public");
  if (!sandbox.isOffline) {
    const mode = [agent.network_mode ?? baseline, verifier.network_mode ?? baseline].find(
      (mode) => mode !== "public",
    );
    if (mode !== undefined)
      throw unusable(task.name, `its network_mode is ${mode}, but the sandbox provider gives it the network`);
    return;
  }
  if (!checksTests) return;
  const directory = path.join(task.directory, "tests");
  const scripts = (await readdir(directory)).filter((name) => name.endsWith(".sh")).sort();
  for (const name of scripts) {
    const use = networkUse(await readFile(path.join(directory, name), "utf8"));
    if (use !== undefined)
      throw unusable(
        task.name,
        `tests/${name}, line ${use.line}, needs the network (${use.command.slice(0, 100)}), and the sandbox provider ` +
          `'${sandbox.providerName}' gives none. Choose settings with a network, such as ` +
          "`sandbox_provider: {bubblewrap: {network: host}}`, or set `check_network: false` if the tests pass without it",
      );
  }
}

function recipeOf(task: HarborTask) {
  const { dockerfile, name, config } = task;
  if (dockerfile === undefined) {
    const image = config.environment.docker_image;
    throw unusable(
      name,
      image == null
        ? "it has neither environment/Dockerfile nor docker_image"
        : `it needs the image ${image}: choose a sandbox_provider that runs images`,
    );
  }
  try {
    return readDockerfile(dockerfile);
  } catch (error) {
    throw unusable(name, errorMessage(error));
  }
}

async function carryOut(sandbox: Sandbox, task: HarborTask, recipe: Recipe, signal: AbortSignal) {
  const context = path.join(task.directory, "environment");
  const timeoutSeconds = task.config.environment.build_timeout_sec;
  for (const step of recipe.steps) {
    if (step.kind === "copy") {
      for (const source of step.sources)
        await copyInto(sandbox, path.join(context, source), step.target, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw unusable(task.name, `COPY ${source}: ${errorMessage(error)}`);
        });
      continue;
    }
    const { command, workdir: cwd, env } = step;
    await sandbox.exec(`mkdir -p ${shellQuote(cwd)}`, { cwd: "/", signal });
    const { return_code, stderr, stdout } = await sandbox.exec(command, { cwd, env, timeoutSeconds, signal });
    if (return_code !== 0)
      throw sandboxUnavailable(
        new Error(
          `RUN ${command.slice(0, 200)} of the task '${task.name}' failed (${return_code}): ` +
            `${(stderr || stdout || "").trim().slice(-1_000)}`,
        ),
      );
  }
}

/** Copies a file, or the content of a folder, to `target`; a target that ends with a slash is a folder. */
export async function copyInto(
  sandbox: Sandbox,
  source: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const info = await stat(source);
  if (!info.isDirectory()) {
    const file = target.endsWith("/") ? target + path.basename(source) : target;
    await sandbox.upload(source, file, { signal });
    if ((info.mode & 0o111) !== 0) await sandbox.exec(`chmod +x ${shellQuote(file)}`, { cwd: "/", signal });
    return;
  }
  const folder = target.replace(/\/$/, "");
  await sandbox.exec(`mkdir -p ${shellQuote(folder === "" ? "/" : folder)}`, { cwd: "/", signal });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (entry.name === "Dockerfile" && path.basename(source) === "environment") continue;
    await copyInto(sandbox, path.join(source, entry.name), `${folder}/${entry.name}`, signal);
  }
}
