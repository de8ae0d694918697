import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { HttpError, type ServerContext } from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import {
  checkProvider,
  LONGEST_SCRIPT_ARGUMENT,
  openSandbox,
  type Sandbox,
  type SandboxExecResult,
  type SandboxServer,
  SandboxUnavailableError,
  sandboxConfig,
  shellQuote,
} from "nemo-gym/sandbox";
import { z } from "zod";
import type { SweInstance } from "./instance.ts";

/** Where instances run. `auto` selects the first working container engine, and bubblewrap for local instances. */
const ENGINES = ["docker", "podman", "apptainer", "enroot"] as const;
const PLACES = [...ENGINES, "singularity", "local_rootfs", "sandbox", "auto"] as const;
type Place = Exclude<(typeof PLACES)[number], "singularity" | "auto">;

/** Config of the servers that open instances. */
export const workspaceConfig = {
  ...sandboxConfig,
  env: z.enum(PLACES).default("auto"),
  /** The image file of an instance, with `{instance_id}`; for engines that run image files. */
  cache_dir_template: z.string().nullish(),
  /** The image of an instance, with `{instance_id}`; by default the image of its subset. */
  image_template: z.string().nullish(),
  /** The prepared directory of a local instance, with `{instance_id}` and `{repo}`. */
  rootfs_template: z.string().default("resources_servers/mini_swe_agent/data/rootfs/{repo}"),
  /** Path of the repository inside the image. */
  workdir: z.string().default("/testbed"),
};
const schema = z.looseObject(workspaceConfig);
export type WorkspaceConfig = z.output<typeof schema>;

/** Limits for the tests of a real repository; the default limits are for single programs. */
const LOCAL_LIMITS = { cpu: 2, memory_mib: 4096, disk_mib: 2048, processes: 256 };
const SETTINGS: Readonly<Record<Exclude<Place, "sandbox">, Record<string, unknown>>> = {
  docker: { docker: { program: "docker" } },
  podman: { docker: { program: "podman" } },
  // Otherwise the files of an image are read-only.
  apptainer: { apptainer: { create: { extra_start_args: ["--writable-tmpfs"] } } },
  enroot: { enroot: {} },
  local_rootfs: { bubblewrap: { limits: LOCAL_LIMITS } },
};

const ENVIRONMENT = {
  PAGER: "cat",
  MANPAGER: "cat",
  LESS: "-R",
  PIP_PROGRESS_BAR: "off",
  TQDM_DISABLE: "1",
  GIT_AUTHOR_NAME: "gym",
  GIT_AUTHOR_EMAIL: "gym@localhost",
  GIT_COMMITTER_NAME: "gym",
  GIT_COMMITTER_EMAIL: "gym@localhost",
};
/** SWE-bench images keep the project's packages in a conda environment. */
const ACTIVATE = "if [ -f /opt/miniconda3/bin/activate ]; then . /opt/miniconda3/bin/activate testbed; fi";
/** Makes a prepared directory a repository with a single commit if it is not one. Compiled files are kept out of patches. */
const PREPARE = `git config --global --add safe.directory '*'
if [ ! -d .git ]; then
  git init -q && echo __pycache__/ >> .git/info/exclude && git add -A && git commit -q -m base
fi`;
const PREPARE_SECONDS = 120;

/** Opens instances for one server, each in a new sandbox. */
export class Workspaces {
  readonly #server: SandboxServer & Pick<ServerContext, "findFile">;
  readonly #config: WorkspaceConfig;
  /** One provider per place: the sandboxes of one server share a provider and its limits. */
  readonly #servers = new Map<Place, SandboxServer>();
  #engine: Promise<Place> | undefined;

  constructor(server: SandboxServer & Pick<ServerContext, "findFile">) {
    this.#server = server;
    this.#config = schema.parse(server.config ?? {});
  }

  async open(instance: SweInstance, signal: AbortSignal): Promise<Workspace> {
    const { workdir } = this.#config;
    try {
      const place = await this.#place(instance, signal);
      const spec = { image: this.#image(instance, place), workdir, env: ENVIRONMENT };
      const sandbox = await openSandbox(this.#serverFor(place), spec, { signal });
      const workspace = new Workspace(sandbox, workdir);
      try {
        const { return_code, output } = await workspace.run(PREPARE, {
          timeoutSeconds: PREPARE_SECONDS,
          signal,
        });
        if (return_code !== 0) throw new Error(`${workdir} could not be prepared: ${output.trim()}`);
        return workspace;
      } catch (error) {
        await sandbox.stop();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof HttpError ? error : sandboxUnavailable(error);
    }
  }

  async #place(instance: SweInstance, signal: AbortSignal): Promise<Place> {
    const { env, sandbox_provider } = this.#config;
    if (env === "singularity") return "apptainer";
    if (env !== "auto") return env;
    if (instance.subset === "local") return "local_rootfs";
    if (sandbox_provider != null) return "sandbox";
    this.#engine ??= firstEngine(signal).catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  #serverFor(place: Place): SandboxServer {
    if (place === "sandbox") return this.#server;
    let server = this.#servers.get(place);
    if (server === undefined) {
      const { name, globalConfig } = this.#server;
      const { sandbox_spec } = this.#config;
      server = { name, globalConfig, config: { sandbox_spec, sandbox_provider: SETTINGS[place] } };
      this.#servers.set(place, server);
    }
    return server;
  }

  #image(instance: SweInstance, place: Place): string {
    const { cache_dir_template, image_template, rootfs_template } = this.#config;
    if (place === "local_rootfs") {
      const directory = this.#server.findFile(fill(rootfs_template, instance));
      if (existsSync(directory)) return path.resolve(directory);
      throw new HttpError(
        422,
        `${instance.instance_id}: there is no prepared directory ${directory} (rootfs_template).`,
      );
    }
    if (place !== "docker" && place !== "podman" && cache_dir_template != null)
      return fill(cache_dir_template, instance);
    const own = instance.image ?? instance.docker_image ?? instance.image_name;
    return own ?? (image_template == null ? imageOf(instance) : fill(image_template, instance));
  }
}

async function firstEngine(signal: AbortSignal): Promise<Place> {
  const reasons: string[] = [];
  for (const engine of ENGINES) {
    const provider = engine === "podman" ? "docker" : engine;
    const { works, detail } = await checkProvider(provider, SETTINGS[engine][provider], { signal });
    if (works) return engine;
    reasons.push(`${engine}: ${detail}`);
  }
  throw new SandboxUnavailableError(`No container engine works here. ${reasons.join(" ")}`);
}

/** The published image of an instance, according to its subset. */
function imageOf({ instance_id, subset }: SweInstance): string {
  const name = instance_id.toLowerCase();
  return subset === "gym"
    ? `docker.io/xingyaoww/sweb.eval.x86_64.${name.replaceAll("__", "_s_")}`
    : `docker.io/swebench/sweb.eval.x86_64.${name.replaceAll("__", "_1776_")}`;
}

function fill(template: string, { instance_id, repo }: SweInstance): string {
  const values: Record<string, string> = { instance_id, repo: repo.replaceAll("/", "__") };
  return template.replace(/\{(instance_id|repo)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole;
    if (/^[\w.-]+$/.test(value) && !/^\.+$/.test(value)) return value;
    throw new HttpError(
      422,
      `'${value}' cannot be part of a path: ${name} may have letters, digits, '_', '-' and '.'.`,
    );
  });
}

/** The result of a command: both streams together, in the order of output. */
export interface CommandOutcome {
  output: string;
  return_code: number;
  timedOut: boolean;
}

/** An open instance: a sandbox with the repository. */
export class Workspace {
  readonly #sandbox: Sandbox;
  readonly #workdir: string;

  constructor(sandbox: Sandbox, workdir: string) {
    this.#sandbox = sandbox;
    this.#workdir = workdir;
  }

  /** Runs a command in a new bash in the repository. Throws if the sandbox fails, not if the command fails. */
  async run(
    command: string,
    options: { timeoutSeconds: number; signal: AbortSignal },
  ): Promise<CommandOutcome> {
    const result = await this.#sandbox.exec(inBash(`${ACTIVATE}\n${command}`), {
      ...options,
      cwd: this.#workdir,
    });
    if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
    return outcomeOf(result);
  }

  write(file: string, text: string, signal: AbortSignal): Promise<void> {
    return this.#sandbox.writeText(file, text, { signal });
  }

  close(): Promise<void> {
    return this.#sandbox.stop();
  }
}

function inBash(script: string): string {
  if (Buffer.byteLength(script) <= LONGEST_SCRIPT_ARGUMENT) return `exec bash -c ${shellQuote(script)} 2>&1`;
  const end = randomUUID();
  return `exec bash /dev/fd/9 2>&1 9<<'${end}'\n${script}\n${end}\n`;
}

function outcomeOf({ stdout, stderr, return_code, error_type }: SandboxExecResult): CommandOutcome {
  const timedOut = error_type === "timeout";
  // Commands write to stdout only, so stderr says why the sandbox has not run or has ended one.
  const texts = [stdout, timedOut ? "" : stderr].filter((text) => text);
  return { output: texts.join("\n"), return_code, timedOut };
}
