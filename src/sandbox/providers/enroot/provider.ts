import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { lstat, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sleep } from "../../../calls/deadline.ts";
import { replaceWith } from "../../../files/durable-file.ts";
import {
  CliProvider,
  type InnerCommand,
  type OuterCommand,
  requireImage,
  textsOption,
} from "../../cli-provider.ts";
import { SandboxCreateError, SandboxOperationError, SandboxSpecError } from "../../errors.ts";
import { findProgram } from "../../find-program.ts";
import { newSandboxName, ownerState } from "../../owner.ts";
import { checkEnvironment, shellQuote } from "../../plain-words.ts";
import { coverInherited } from "../../processes/inherited-descriptors.ts";
import { killGroup } from "../../processes/running-process.ts";
import type { Cancellable, ListedSandbox, SandboxHandle, SandboxStatus } from "../../provider.ts";
import { readSettings } from "../../provider-settings.ts";
import type { SandboxSpec } from "../../spec.ts";
import { leftStaging, makeStaging, removeStaging } from "../../staging.ts";
import { type EnrootSettings, enrootSettings } from "./settings.ts";

const ADVICE = "Install enroot, or use another sandbox provider.";
const MAX_MESSAGE_BYTES = 4096;
const DIRECTORIES = ["ENROOT_DATA_PATH", "ENROOT_CACHE_PATH", "ENROOT_RUNTIME_PATH"];

interface EnrootContainer {
  name: string;
  /** The container's first process, as this machine counts. */
  pid: number;
  child: ChildProcess;
  stagingDirectory: string;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<EnrootContainer>;

/**
 * One enroot container a sandbox. The program has no service that keeps containers: `enroot start` runs as long as the
 * container does, and commands enter it by the number of its first process.
 */
export class EnrootProvider extends CliProvider<EnrootContainer> {
  readonly name = "enroot";
  readonly #settings: EnrootSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #imageCache: string;
  /** One import at a time for an image. */
  readonly #imports = new Map<string, Promise<string>>();

  constructor(settings?: unknown) {
    const parsed = readSettings("enroot", enrootSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
    const { create } = parsed;
    const base = create.base_dir ?? path.join(tmpdir(), `nemo-gym-enroot-${process.getuid?.() ?? 0}`);
    const place = (given: string | null | undefined, variable: string, name: string) =>
      given ?? process.env[variable] ?? path.join(base, name);
    this.#imageCache = create.sqsh_cache_dir ?? path.join(base, "sqsh");
    this.#env = {
      ...process.env,
      ENROOT_DATA_PATH: place(create.data_path, "ENROOT_DATA_PATH", "data"),
      ENROOT_CACHE_PATH: place(create.cache_path, "ENROOT_CACHE_PATH", "cache"),
      ENROOT_RUNTIME_PATH: place(create.runtime_path, "ENROOT_RUNTIME_PATH", "runtime"),
      // Off by default, and then a sandbox would see the processes of this machine.
      ENROOT_UNSHARE_PID: "yes",
    };
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = requireImage(this.name, spec);
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    for (const variable of DIRECTORIES)
      mkdirSync(this.#env[variable] ?? "", { recursive: true, mode: 0o700 });
    const file = await this.#imageFile(image, signal);
    const name = newSandboxName();
    const unpacked = await this.run(["create", "-n", name, ...create.extra_create_args, file], {
      timeoutSeconds: create.create_timeout_s,
      signal,
    });
    if (unpacked.timedOut || unpacked.code !== 0)
      throw new SandboxCreateError(`enroot create failed for '${image}': ${reasonOf(unpacked)}`);
    const stagingDirectory = await makeStaging(name);
    let child: ChildProcess | undefined;
    try {
      child = await this.#start(spec, name, stagingDirectory);
      const pid = await this.#firstProcess(child, name, stagingDirectory, signal);
      const raw = { name, pid, child, stagingDirectory, env: spec.env };
      const handle = { sandboxId: name, providerName: this.name, raw };
      await this.waitUntilReady(handle, probe, spec, signal);
      return handle;
    } catch (error) {
      await this.#remove(name, child, stagingDirectory);
      throw error;
    }
  }

  async status({ raw }: Handle): Promise<SandboxStatus> {
    return (await isFirstProcess(raw)) ? "running" : "stopped";
  }

  async close({ raw }: Handle): Promise<void> {
    const { code, stderr } = await this.#remove(raw.name, raw.child, raw.stagingDirectory);
    if (code !== 0 && !isGone(stderr))
      throw new SandboxOperationError(`enroot remove failed for '${raw.name}': ${stderr.trim()}`);
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    for (const variable of DIRECTORIES)
      mkdirSync(this.#env[variable] ?? "", { recursive: true, mode: 0o700 });
    const { code, stdout, stderr } = await this.ask(["list"], options);
    if (code !== 0) throw new SandboxOperationError(`enroot list failed: ${stderr.trim()}`);
    const there = stdout.split("\n").flatMap((line) => {
      const id = line.trim().split(/\s+/)[0] ?? "";
      const state = ownerState(id);
      return state === undefined ? [] : [{ id, state, detail: this.#env["ENROOT_DATA_PATH"] ?? "" }];
    });
    const known = new Set(there.map(({ id }) => id));
    return [...there, ...(await leftStaging()).filter(({ id }) => !known.has(id))];
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    const { code, stderr } = await this.ask(["remove", "-f", id], options);
    await removeStaging(id);
    if (code !== 0 && !isGone(stderr))
      throw new SandboxOperationError(`enroot remove failed for '${id}': ${stderr.trim()}`);
  }

  protected versionArguments(): readonly string[] {
    return ["version"];
  }

  protected program(): string {
    return findProgram("enroot", ADVICE);
  }

  protected programEnv(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** Without this a command could enter a process that got the same number later. */
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
    const other = user === undefined || user === "root" || user === 0 ? undefined : String(user);
    if (other?.startsWith("-")) throw new SandboxSpecError(`'${other}' cannot be the name of a user.`);
    const words =
      other === undefined
        ? inDirectory
        : ["su", "-s", "/bin/sh", "-c", inDirectory.map(shellQuote).join(" "), other];
    const variables = Object.entries({ ...env, ...command.env });
    return {
      args: [
        "exec",
        ...variables.flatMap(([key, value]) => ["-e", `${key}=${value}`]),
        ...this.#settings.exec.extra_exec_args,
        String(pid),
        ...words,
      ],
    };
  }

  protected looksLikeFailure(stderr: string): boolean {
    return /\[error\]|no such process|nsenter/i.test(stderr);
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
    const running = this.#imports.get(key);
    if (running !== undefined) return running;
    const started = this.#import(source.uri, path.join(this.#imageCache, `${key}.sqsh`), signal);
    this.#imports.set(key, started);
    try {
      return await started;
    } finally {
      this.#imports.delete(key);
    }
  }

  async #import(uri: string, target: string, signal: AbortSignal | undefined): Promise<string> {
    mkdirSync(this.#imageCache, { recursive: true, mode: 0o700 });
    const there = await lstat(target).catch(() => undefined);
    if (there?.isFile() && there.size > 0 && there.uid === process.getuid?.()) return target;
    await rm(target, { force: true });
    const { create } = this.#settings;
    await replaceWith(target, async (partial) => {
      const outcome = await this.run(["import", "-o", partial, ...create.extra_import_args, uri], {
        timeoutSeconds: create.import_timeout_s,
        signal,
      });
      if (outcome.timedOut || outcome.code !== 0)
        throw new SandboxCreateError(`enroot import failed for '${uri}': ${reasonOf(outcome)}`);
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
    const messages = await open(path.join(stagingDirectory, ".nemo-gym-messages"), "w");
    try {
      const args = [
        "start",
        ...(create.rw ? ["--rw"] : []),
        ...(create.remap_root ? ["--root"] : []),
        ...(create.bypass_entrypoint ? ["--rc", script] : []),
        ...mounts.flatMap((mount) => ["-m", mount]),
        ...Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]),
        ...create.extra_start_args,
        // The name, as a comment, tells this container's first process from all others.
        ...[name, "sh", "-c", `${create.init_command} # ${name}`],
      ];
      const stdio = coverInherited(["ignore", "ignore", "ignore"]);
      stdio[2] = messages.fd;
      const child = spawn(this.program(), args, { detached: true, env: this.#env, stdio });
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
          `The enroot container was not there within ${timeout} s: ${await messagesOf(stagingDirectory)}`,
        );
      await sleep(pause * 1000, signal);
    }
  }

  async #remove(
    name: string,
    child: ChildProcess | undefined,
    stagingDirectory: string,
  ): Promise<{ code: number; stderr: string }> {
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

function isGone(stderr: string): boolean {
  return /does not exist|no such|not found/i.test(stderr);
}

/** `enroot list -f`: a header, then name and process number, the latter only for those that run. */
function listedProcess(printed: string, name: string): number | undefined {
  for (const line of printed.split("\n").slice(1)) {
    const [listed, pid] = line.trim().split(/\s+/);
    if (listed === name && pid !== undefined && /^\d+$/.test(pid)) return Number(pid);
  }
  return undefined;
}

/** Numbers of processes are used again: only one that still carries the name is ours. */
async function isFirstProcess({ pid, name }: EnrootContainer): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return line.includes(name);
}

async function messagesOf(stagingDirectory: string): Promise<string> {
  const text = await readFile(path.join(stagingDirectory, ".nemo-gym-messages"), "utf8").catch(() => "");
  return text.trim().slice(0, MAX_MESSAGE_BYTES) || "it said nothing";
}

function reasonOf({ timedOut, stderr, code }: { timedOut: boolean; stderr: string; code: number }): string {
  return timedOut ? "it took too long" : stderr.trim() || `code ${code}`;
}

/** Names of the public registry, which the program knows by itself and not by these. */
const PUBLIC_REGISTRY = new Set(["docker.io", "index.docker.io", "registry-1.docker.io"]);

/** What an image is called: a file in the program's own format, or something to import. */
export function imageSource(image: string): { file: string } | { uri: string } {
  if (image.endsWith(".sqsh") || (!image.includes("://") && existsSync(image))) return { file: image };
  return { uri: image.includes("://") ? image : importUri(image) };
}

/** The program wants `#` between a registry and an image. */
function importUri(image: string): string {
  const slash = image.indexOf("/");
  const first = slash === -1 ? "" : image.slice(0, slash);
  const rest = image.slice(slash + 1);
  if (PUBLIC_REGISTRY.has(first)) return `docker://${rest}`;
  const isHost = first === "localhost" || /[.:]/.test(first);
  return isHost ? `docker://${first}#${rest}` : `docker://${image}`;
}
