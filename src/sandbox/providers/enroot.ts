import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { lstat, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { isPrivateDirectory, replaceWith } from "../../base/files/door.ts";
import { sleep } from "../../base/transport/light-door.ts";
import { SandboxCreateError, SandboxSpecError } from "../errors.ts";
import { findProgram } from "../find-program.ts";
import { makeStaging, newSandboxName, removeStaging, withLeftStaging, withOwners } from "../owner.ts";
import { coverInherited } from "../processes/inherited-descriptors.ts";
import type { ProcessOutcome } from "../processes/run-process.ts";
import { killGroup } from "../processes/running-process.ts";
import type { Cancellable, ListedSandbox, SandboxHandle, SandboxStatus } from "../provider.ts";
import {
  execSettings,
  optionalSeconds,
  probeSettings,
  readSettings,
  seconds,
  textList,
} from "../provider-settings.ts";
import { waitUntilReady } from "../readiness.ts";
import { checkEnvironment } from "../safe-text.ts";
import { SharedTasks } from "../shared-tasks.ts";
import type { SandboxSpec } from "../spec.ts";
import {
  asUser,
  CliProvider,
  type InnerCommand,
  type OuterCommand,
  requireImage,
  textsOption,
} from "./cli-provider.ts";

const ADVICE = "Install enroot, or use another sandbox provider.";
const MAX_MESSAGE_BYTES = 4096;
const MESSAGES_FILE = ".nemo-gym-messages";

/** Settings of `sandbox: {enroot: …}`. */
const enrootSettings = z.strictObject({
  create: z
    .strictObject({
      /** The path of the sandbox's own writable directory. */
      mount_point: z.string().startsWith("/", "Must be an absolute path").default("/sandbox"),
      /** The parent of the following directories that are not set. Default: in the directory for temporary files. */
      base_dir: z.string().nullish(),
      data_path: z.string().nullish(),
      cache_path: z.string().nullish(),
      runtime_path: z.string().nullish(),
      sqsh_cache_dir: z.string().nullish(),
      rw: z.boolean().default(true),
      remap_root: z.boolean().default(false),
      /** Starts without the entrypoint of the image, which may not be a shell. */
      bypass_entrypoint: z.boolean().default(true),
      init_command: z.string().default("while true; do sleep 86400; done"),
      import_timeout_s: optionalSeconds(1800),
      create_timeout_s: optionalSeconds(600),
      start_timeout_s: seconds.default(600),
      start_poll_s: seconds.default(0.5),
      extra_import_args: textList,
      extra_create_args: textList,
      extra_start_args: textList,
    })
    .prefault({}),
  exec: z
    .strictObject({
      ...execSettings,
      default_mounts: textList,
      extra_exec_args: textList,
      exec_shell: z.string().min(1).default("sh"),
    })
    .prefault({}),
  probe: probeSettings("enroot-sandbox-ready"),
});

interface EnrootContainer {
  name: string;
  /** The first process of the container, by its id on this machine. */
  pid: number;
  child: ChildProcess;
  stagingDirectory: string;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<EnrootContainer>;

/**
 * One enroot container per sandbox. Enroot has no daemon: `enroot start` runs as long as the container, and commands
 * enter the container by the id of its first process.
 */
export class EnrootProvider extends CliProvider<EnrootContainer> {
  readonly name = "enroot";
  protected readonly failurePattern = /\[error\]|no such process|nsenter/i;
  protected readonly missingPattern = /does not exist|no such|not found/i;
  readonly #settings: z.output<typeof enrootSettings>;
  readonly #directories: Record<"ENROOT_DATA_PATH" | "ENROOT_CACHE_PATH" | "ENROOT_RUNTIME_PATH", string>;
  readonly #imageCache: string;
  /** The default directory. Other users can create names next to it, so it is checked before each use. */
  readonly #ownDirectory: string | undefined;
  /** Running imports by image. */
  readonly #imports = new SharedTasks<string>();

  constructor(settings?: unknown) {
    const parsed = readSettings("enroot", enrootSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
    const { create } = parsed;
    const own = path.join(tmpdir(), `nemo-gym-enroot-${process.getuid?.() ?? 0}`);
    const base = create.base_dir ?? own;
    if (base === own) this.#ownDirectory = own;
    const place = (given: string | null | undefined, variable: string, name: string) =>
      given ?? process.env[variable] ?? path.join(base, name);
    this.#imageCache = create.sqsh_cache_dir ?? path.join(base, "sqsh");
    this.#directories = {
      ENROOT_DATA_PATH: place(create.data_path, "ENROOT_DATA_PATH", "data"),
      ENROOT_CACHE_PATH: place(create.cache_path, "ENROOT_CACHE_PATH", "cache"),
      ENROOT_RUNTIME_PATH: place(create.runtime_path, "ENROOT_RUNTIME_PATH", "runtime"),
    };
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = requireImage(this.name, spec);
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    this.#makeDirectories();
    const file = await this.#imageFile(image, signal);
    const name = newSandboxName();
    const args = ["create", "-n", name, ...create.extra_create_args, file];
    const options = { timeoutSeconds: create.create_timeout_s, signal };
    await this.createStep("enroot create", image, args, options);
    const stagingDirectory = await makeStaging(name);
    let child: ChildProcess | undefined;
    try {
      child = await this.#start(spec, name, stagingDirectory);
      const pid = await this.#firstProcess(child, name, stagingDirectory, signal);
      const handle = this.handleOf({ name, pid, child, stagingDirectory, env: spec.env });
      await waitUntilReady(this, handle, { probe, spec, signal });
      return handle;
    } catch (error) {
      await this.#end(name, child, stagingDirectory);
      throw error;
    }
  }

  async status({ raw }: Handle): Promise<SandboxStatus> {
    return (await isFirstProcess(raw)) ? "running" : "stopped";
  }

  async close({ raw }: Handle): Promise<void> {
    const outcome = await this.#end(raw.name, raw.child, raw.stagingDirectory);
    this.checkRemoved("enroot remove", raw.name, outcome);
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    this.#makeDirectories();
    const printed = await this.askOrThrow("enroot list failed", ["list"], options);
    const detail = this.#directories.ENROOT_DATA_PATH;
    const found = printed.split("\n").map((line) => ({ id: line.trim().split(/\s+/)[0] ?? "", detail }));
    return withLeftStaging(withOwners(found));
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    const outcome = await this.ask(["remove", "-f", id], options);
    await removeStaging(id);
    this.checkRemoved("enroot remove", id, outcome);
  }

  protected versionArguments(): readonly string[] {
    return ["version"];
  }

  protected program(): string {
    return findProgram("enroot", ADVICE);
  }

  protected override programEnv(): NodeJS.ProcessEnv {
    // Without its own PID namespace, which is the default, a sandbox sees the processes of this machine.
    return { ...process.env, ...this.#directories, ENROOT_UNSHARE_PID: "yes" };
  }

  /** Process ids are reused. Without this check a command could enter another process with the same id. */
  protected override isThere(raw: EnrootContainer): Promise<boolean> {
    return isFirstProcess(raw);
  }

  protected shell(): string {
    return this.#settings.exec.exec_shell;
  }

  protected outerCommand({ pid, env }: EnrootContainer, command: InnerCommand): OuterCommand {
    const { cwd, user, argv } = command;
    const inDirectory =
      cwd === undefined ? argv : ["sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", cwd, ...argv];
    const variables = Object.entries({ ...env, ...command.env });
    return {
      args: [
        "exec",
        ...variables.flatMap(([key, value]) => ["-e", `${key}=${value}`]),
        ...this.#settings.exec.extra_exec_args,
        String(pid),
        ...asUser(user, inDirectory),
      ],
    };
  }

  #makeDirectories(): void {
    const own = this.#ownDirectory;
    if (own !== undefined) {
      mkdirSync(own, { recursive: true, mode: 0o700 });
      if (!isPrivateDirectory(own))
        throw new SandboxCreateError(
          `'${own}' belongs to another user or is open to others. Remove it, or set create.base_dir to a directory of your own.`,
        );
    }
    for (const directory of Object.values(this.#directories))
      mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  async #imageFile(image: string, signal: AbortSignal | undefined): Promise<string> {
    const source = imageSource(image);
    if ("file" in source) {
      await lstat(source.file).catch((error: unknown) => {
        throw new SandboxSpecError(`The image file '${source.file}' cannot be read: ${String(error)}`);
      });
      return source.file;
    }
    const key = createHash("sha256").update(image).digest("hex").slice(0, 16);
    const target = path.join(this.#imageCache, `${key}.sqsh`);
    return this.#imports.run(key, (stop) => this.#import(source.uri, target, stop), signal);
  }

  async #import(uri: string, target: string, signal: AbortSignal): Promise<string> {
    mkdirSync(this.#imageCache, { recursive: true, mode: 0o700 });
    const there = await lstat(target).catch(() => undefined);
    if (there?.isFile() && there.size > 0 && there.uid === process.getuid?.()) return target;
    await rm(target, { force: true });
    const { extra_import_args: extra, import_timeout_s: timeoutSeconds } = this.#settings.create;
    await replaceWith(target, (partial) => {
      const args = ["import", "-o", partial, ...extra, uri];
      return this.createStep("enroot import", uri, args, { timeoutSeconds, signal });
    });
    return target;
  }

  async #start(spec: SandboxSpec, name: string, stagingDirectory: string): Promise<ChildProcess> {
    const { create, exec } = this.#settings;
    const mounts = [
      `${stagingDirectory}:${create.mount_point}`,
      ...exec.default_mounts,
      ...textsOption(spec.provider_options, "mounts"),
    ];
    const gpus = spec.resources.gpu ?? 0;
    const devices = Array.from({ length: gpus }, (_, index) => index).join(",");
    const env = { ...(gpus > 0 && { NVIDIA_VISIBLE_DEVICES: devices }), ...spec.env };
    const script = path.join(stagingDirectory, ".nemo-gym-rc");
    await writeFile(script, 'exec "$@"\n', { mode: 0o755 });
    const messages = await open(path.join(stagingDirectory, MESSAGES_FILE), "w");
    try {
      const args = [
        "start",
        ...(create.rw ? ["--rw"] : []),
        ...(create.remap_root ? ["--root"] : []),
        ...(create.bypass_entrypoint ? ["--rc", script] : []),
        ...mounts.flatMap((mount) => ["-m", mount]),
        ...Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]),
        ...create.extra_start_args,
        // The name in the comment identifies the first process of this container.
        ...[name, "sh", "-c", `${create.init_command} # ${name}`],
      ];
      const stdio = coverInherited(["ignore", "ignore", "ignore"]);
      stdio[2] = messages.fd;
      const child = spawn(this.program(), args, { detached: true, env: this.programEnv(), stdio });
      child.unref();
      await once(child, "spawn");
      return child;
    } finally {
      await messages.close();
    }
  }

  async #firstProcess(
    child: ChildProcess,
    name: string,
    stagingDirectory: string,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const { start_timeout_s: timeout, start_poll_s: pause } = this.#settings.create;
    const end = Date.now() + timeout * 1000;
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new SandboxCreateError(`enroot start ended at once: ${await messagesOf(stagingDirectory)}`);
      const { code, stdout } = await this.ask(["list", "-f"], { signal });
      const pid = code === 0 ? listedProcess(stdout, name) : undefined;
      if (pid !== undefined) return pid;
      if (Date.now() >= end)
        throw new SandboxCreateError(
          `The enroot container did not start within ${timeout} s: ${await messagesOf(stagingDirectory)}`,
        );
      await sleep(pause * 1000, signal);
    }
  }

  async #end(
    name: string,
    child: ChildProcess | undefined,
    stagingDirectory: string,
  ): Promise<ProcessOutcome> {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      killGroup(child);
      await ended;
    }
    const outcome = await this.ask(["remove", "-f", name]);
    await rm(stagingDirectory, { recursive: true, force: true });
    return outcome;
  }
}

/** The output of `enroot list -f`: a header, then names, with a process id for each running container. */
function listedProcess(printed: string, name: string): number | undefined {
  for (const line of printed.split("\n").slice(1)) {
    const [listed, pid] = line.trim().split(/\s+/);
    if (listed === name && pid !== undefined && /^\d+$/.test(pid)) return Number(pid);
  }
  return undefined;
}

/** Process ids are reused; only the first process of the container has its name in the command line. */
async function isFirstProcess({ pid, name }: EnrootContainer): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return line.includes(name);
}

async function messagesOf(stagingDirectory: string): Promise<string> {
  const text = await readFile(path.join(stagingDirectory, MESSAGES_FILE), "utf8").catch(() => "");
  return text.trim().slice(0, MAX_MESSAGE_BYTES) || "it said nothing";
}

/** Hosts of the public registry. Enroot uses it by default and does not know these names. */
const PUBLIC_REGISTRY = new Set(["docker.io", "index.docker.io", "registry-1.docker.io"]);

/** An image is a file in the format of enroot, or something to import. */
function imageSource(image: string): { file: string } | { uri: string } {
  if (image.endsWith(".sqsh") || (!image.includes("://") && existsSync(image))) return { file: image };
  return { uri: image.includes("://") ? image : importUri(image) };
}

/** Enroot expects `#` between a registry and an image. */
function importUri(image: string): string {
  const slash = image.indexOf("/");
  const first = slash === -1 ? "" : image.slice(0, slash);
  const rest = image.slice(slash + 1);
  if (PUBLIC_REGISTRY.has(first)) return `docker://${rest}`;
  const isHost = first === "localhost" || /[.:]/.test(first);
  return isHost ? `docker://${first}#${rest}` : `docker://${image}`;
}
