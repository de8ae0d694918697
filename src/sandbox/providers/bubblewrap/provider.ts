import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { errorMessage } from "../../../base/errors.ts";
import { Semaphore } from "../../../base/transport/light-door.ts";
import { SandboxSpecError, SandboxStateError, SandboxUnavailableError } from "../../errors.ts";
import { commandResult, memoryResult, sandboxFailure, timeoutResult } from "../../exec-results.ts";
import { liveProcess } from "../../processes/live-process.ts";
import { type ProcessRequest, runInBackground, runProcess } from "../../processes/run-process.ts";
import type {
  Cancellable,
  ExecOptions,
  ListedSandbox,
  SandboxExecResult,
  SandboxHandle,
  SandboxProcess,
  SandboxProvider,
  SandboxStatus,
} from "../../provider.ts";
import { readSettings } from "../../provider-settings.ts";
import { checkEnvironment } from "../../safe-text.ts";
import { shellCommand } from "../../shell-command.ts";
import { parseSandboxSpec, type SandboxSpec } from "../../spec.ts";
import { TransferByCommand, type TransferCommand } from "../../transfer.ts";
import {
  type CommandView,
  enterArguments,
  limitArguments,
  pickCores,
  SANDBOX_USER,
  sandboxUser,
  viewArguments,
} from "./arguments.ts";
import { type CgroupParent, CommandGroup, chooseCgroups, leftGroups, removeGroup } from "./cgroup.ts";
import { findHolders, Holder, STORE } from "./holder.ts";
import { watchMemory } from "./memory-watch.ts";
import { checkWorkdir, directoriesAbove, hasPrograms, imageDirectory, readOnlyMounts } from "./mounts.ts";
import { type BubblewrapPrograms, findPrograms, versionOf } from "./programs.ts";
import { type BubblewrapLimits, type BubblewrapSettings, bubblewrapSettings, limitsOf } from "./settings.ts";
import { syscallFilter } from "./syscall-filter.ts";

const DEFAULT_WORKDIR = "/workspace";
const MIB = 1024 * 1024;
const CHECK_SECONDS = 10;
const GROUP_PREFIX = "bubblewrap-cgroup-";

interface BubblewrapSandbox {
  holder: Holder;
  uid: number | undefined;
  view: CommandView;
  limits: BubblewrapLimits;
  workdir: string;
  env: Readonly<Record<string, string>>;
  /** Functions that end the running commands. */
  kills: Set<() => void>;
  ttl: NodeJS.Timeout | undefined;
}

type Handle = SandboxHandle<BubblewrapSandbox>;

interface Command extends Pick<ExecOptions, "cwd" | "env" | "user" | "signal"> {
  argv: readonly string[];
  timeoutSeconds: number | null;
  stdin?: string | Uint8Array | Readable;
  stdoutTo?: Writable;
  maxSinkBytes?: number;
  /** If present, the command runs in the background until this signal fires. */
  until?: AbortSignal;
}

/**
 * Runs commands in Linux namespaces, with the programs of this machine or of an unpacked image. A command has no network, a
 * read-only system, files in memory, and none of our environment variables and file descriptors. Every command gets its own
 * namespaces, so all processes it started are gone when it returns. Files stay until the sandbox ends.
 */
export class BubblewrapProvider
  extends TransferByCommand<BubblewrapSandbox>
  implements SandboxProvider<BubblewrapSandbox>
{
  readonly name = "bubblewrap";
  readonly #settings: BubblewrapSettings;
  readonly #running: Semaphore;
  readonly #filter = syscallFilter();
  #programs: Promise<BubblewrapPrograms> | undefined;
  #cgroups: Promise<CgroupParent> | undefined;

  constructor(settings?: unknown) {
    super();
    this.#settings = readSettings(this.name, bubblewrapSettings, settings);
    this.#running = new Semaphore(this.#settings.exec.concurrency);
  }

  get isOffline(): boolean {
    return this.#settings.network === "none";
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    rejectUnsupported(spec);
    const programs = await this.#findPrograms();
    await this.#cgroupParent();
    const image = imageDirectory(spec.image);
    const workdir = checkWorkdir(spec.workdir ?? DEFAULT_WORKDIR);
    const mounts = readOnlyMounts(image, this.#settings.read_only_paths, workdir);
    const limits = limitsOf(spec, this.#settings);
    const uid = sandboxUser();
    const readyTimeoutMs = spec.ready_timeout_s === undefined ? undefined : spec.ready_timeout_s * 1000;
    const holder = await Holder.start({
      programs,
      uid,
      limits,
      image,
      workdir,
      mounts,
      readyTimeoutMs,
      signal,
    });
    const view = {
      store: STORE,
      mounts,
      pinned: directoriesAbove(mounts),
      ownEtc: image === undefined || !hasPrograms(image),
      network: this.#settings.network,
    };
    const kills = new Set<() => void>();
    const raw: BubblewrapSandbox = {
      holder,
      uid,
      view,
      limits,
      workdir,
      env: spec.env,
      kills,
      ttl: undefined,
    };
    const handle = { sandboxId: `bubblewrap-${randomUUID()}`, providerName: this.name, raw };
    if (spec.ttl_s !== undefined) raw.ttl = setTimeout(() => this.close(handle), spec.ttl_s * 1000).unref();
    return handle;
  }

  async exec(handle: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    const { cwd, env, user, signal } = options;
    const timeoutSeconds = options.timeoutSeconds ?? this.#settings.exec.default_timeout_s;
    const shell = shellCommand("/bin/sh", command, options.stdin);
    return this.#run(handle, { ...shell, cwd, env, user, signal, timeoutSeconds });
  }

  async startProcess({ raw }: Handle, command: string): Promise<SandboxProcess> {
    if (!raw.holder.alive) throw new SandboxStateError("The sandbox was stopped.");
    const argv = ["/bin/sh", "-c", command];
    return liveProcess((streams, until) =>
      this.#runNow(raw, { ...streams, argv, until, timeoutSeconds: null }, SANDBOX_USER),
    );
  }

  async status({ raw }: Handle): Promise<SandboxStatus> {
    return raw.holder.alive ? "running" : "stopped";
  }

  async close({ raw }: Handle): Promise<void> {
    clearTimeout(raw.ttl);
    const ended = raw.holder.close();
    for (const kill of raw.kills) kill();
    await ended;
  }

  async list(): Promise<ListedSandbox[]> {
    const holders = (await findHolders()).map(({ pid, parent }) => ({
      id: `bubblewrap-process-${pid}`,
      // The first process adopts orphans. A holder ends with its parent, so there should be no orphans.
      state: parent === 1 ? ("left behind" as const) : ("in use" as const),
      detail: `process ${pid}, started by ${parent}`,
    }));
    const groups = (await leftGroups(await this.#cgroupParent())).map((directory) => ({
      id: `${GROUP_PREFIX}${directory}`,
      state: "left behind" as const,
      detail: "a control group without processes",
    }));
    return [...holders, ...groups];
  }

  async remove(id: string): Promise<void> {
    if (id.startsWith(GROUP_PREFIX)) await removeGroup(id.slice(GROUP_PREFIX.length));
    const holder = (await findHolders()).find(({ pid }) => id === `bubblewrap-process-${pid}`);
    if (holder !== undefined) process.kill(-holder.pid, "SIGKILL");
  }

  /** Runs a command in a new sandbox: the program may be installed while the kernel does not allow namespaces. */
  async check(options: Cancellable = {}): Promise<string> {
    const { bwrap } = await this.#findPrograms();
    const handle = await this.create(parseSandboxSpec({}), options);
    try {
      const { return_code, stderr } = await this.exec(handle, "true", {
        timeoutSeconds: CHECK_SECONDS,
        ...options,
      });
      if (return_code !== 0)
        throw new SandboxUnavailableError(`A command failed in a sandbox: ${stderr?.trim()}`);
    } finally {
      await this.close(handle);
    }
    const parent = await this.#cgroupParent();
    const groups =
      "missing" in parent
        ? `without control groups (${parent.missing})`
        : `control groups in ${parent.directory}`;
    return `${await versionOf(bwrap)}; ${groups}`;
  }

  /** No file of the sandbox is larger than its disk limit, but a device has no end. */
  protected transfer(
    handle: Handle,
    command: TransferCommand,
    { signal }: Cancellable,
  ): Promise<SandboxExecResult> {
    const timeoutSeconds = this.#settings.exec.default_timeout_s;
    const maxSinkBytes = handle.raw.limits.diskBytes;
    return this.#run(handle, { ...command, timeoutSeconds, maxSinkBytes, signal });
  }

  async #run({ raw }: Handle, command: Command): Promise<SandboxExecResult> {
    command.signal?.throwIfAborted();
    const user = userNumber(command.user);
    if (!raw.holder.alive) return sandboxFailure({ stdout: "", stderr: "The sandbox was stopped." });
    return this.#running.run(() => this.#runNow(raw, command, user), command.signal);
  }

  async #runNow(raw: BubblewrapSandbox, command: Command, user: number): Promise<SandboxExecResult> {
    const request = await this.#request(raw, command, user);
    let group: CommandGroup | undefined;
    try {
      const parent = await this.#cgroupParent();
      if ("directory" in parent) group = await CommandGroup.create(parent, raw.limits);
      return await this.#runIn(group, raw, command, request);
    } catch (error) {
      command.signal?.throwIfAborted();
      if (error instanceof SandboxSpecError) throw error;
      return sandboxFailure({ stdout: "", stderr: errorMessage(error) });
    } finally {
      await group?.remove();
    }
  }

  async #runIn(
    group: CommandGroup | undefined,
    raw: BubblewrapSandbox,
    command: Command,
    process: Omit<ProcessRequest, "timeoutMs">,
  ): Promise<SandboxExecResult> {
    const { timeoutSeconds } = command;
    let outOfMemory = false;
    let release: (() => void) | undefined;
    const request = {
      ...process,
      cgroupProcs: group?.procs,
      onStarted: (pid: number, kill: () => void) => {
        raw.kills.add(kill);
        const watched = { root: pid, ownNetwork: raw.view.network === "none" };
        const stopWatching = watchMemory(watched, raw.limits.memoryBytes, () => {
          outOfMemory = true;
          kill();
        });
        release = () => {
          raw.kills.delete(kill);
          stopWatching();
        };
      },
    };
    try {
      const outcome = await (command.until === undefined
        ? runProcess({
            ...request,
            timeoutMs: timeoutSeconds === null ? null : timeoutSeconds * 1000,
            signal: command.signal,
          })
        : runInBackground(request, command.until));
      outOfMemory ||= (await group?.ranOutOfMemory()) === true;
      if (outOfMemory) return memoryResult(outcome, raw.limits.memoryBytes / MIB);
      if (outcome.timedOut) return timeoutResult(outcome, timeoutSeconds);
      // Bubblewrap reports the exit code on a separate descriptor that no command can write to.
      const ran = outcome.output4.includes('"exit-code"');
      return ran || isLockedOut(outcome) ? commandResult(outcome) : sandboxFailure(outcome);
    } finally {
      release?.();
    }
  }

  /** The programs around a command, outermost first: the holder's namespaces, cores, limits, bubblewrap. */
  async #request(raw: BubblewrapSandbox, command: Command, user: number) {
    const { nsenter, prlimit, taskset, bwrap } = await this.#findPrograms();
    const { concurrency, max_output_bytes: maxOutputBytes } = this.#settings.exec;
    const cores = pickCores(raw.limits.cpu);
    const env = { ...raw.env, ...command.env };
    checkEnvironment(env);
    const view = viewArguments(raw.view, { env, user });
    const cwd = path.posix.resolve(raw.workdir, command.cwd ?? ".");
    return {
      program: nsenter,
      args: [
        ...["--target", String(raw.holder.pid), "--user", "--mount", "--preserve-credentials", "--"],
        ...(cores === undefined ? [] : [taskset, "--cpu-list", cores]),
        ...[prlimit, ...limitArguments(raw.limits, concurrency, command.timeoutSeconds), "--"],
        ...[bwrap, "--args", "3", "--json-status-fd", "4", "--seccomp", "5", "--"],
        ...enterArguments(raw.limits, cwd, command.argv),
      ],
      // Commands can read this environment in /proc/1/environ.
      env: {},
      uid: raw.uid,
      input3: view.map((word) => `${word}\0`).join(""),
      readOutput4: true,
      input5: this.#filter,
      stdin: command.stdin,
      stdoutTo: command.stdoutTo,
      maxSinkBytes: command.maxSinkBytes,
      maxOutputBytes,
    } satisfies Omit<ProcessRequest, "timeoutMs">;
  }

  #findPrograms(): Promise<BubblewrapPrograms> {
    this.#programs ??= findPrograms();
    return this.#programs;
  }

  #cgroupParent(): Promise<CgroupParent> {
    this.#cgroups ??= chooseCgroups(this.#settings.cgroup);
    return this.#cgroups;
  }
}

/** Whether an earlier command removed the permission to enter the root directory (`chmod 000 /`), so that no shell can start. */
function isLockedOut({ stderr }: { stderr: string }): boolean {
  return /^bwrap: (Can't chdir to \/|execvp .*): Permission denied$/m.test(stderr);
}

/** Rejects the parts of a spec that this provider cannot fulfil. */
function rejectUnsupported({ ports, resources, entrypoint, provider_options }: SandboxSpec): void {
  const wrong =
    (ports.length > 0 && "ports") ||
    (resources.gpu !== undefined && resources.gpu > 0 && "resources.gpu") ||
    (entrypoint !== undefined && "entrypoint") ||
    Object.keys(provider_options).map((key) => `provider_options.${key}`)[0];
  if (wrong)
    throw new SandboxSpecError(
      `The provider 'bubblewrap' has no '${wrong}': every command runs separately, without a network. Use 'docker' for that.`,
    );
}

/** The user inside the sandbox. Outside, all commands of a sandbox run as the same user. */
function userNumber(user: string | number | undefined): number {
  if (user === undefined || user === "sandbox") return SANDBOX_USER;
  if (user === "root") return 0;
  const number = Number(user);
  if (Number.isInteger(number) && number >= 0 && number <= 65_534 && user !== "") return number;
  throw new SandboxSpecError(`The sandbox has no user '${user}'; it has 'sandbox', 'root' and numbers.`);
}
