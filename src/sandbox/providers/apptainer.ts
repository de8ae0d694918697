import { chmod, mkdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { z } from "zod";
import { SandboxOperationError } from "../errors.ts";
import { findProgram } from "../find-program.ts";
import { makeStaging, newSandboxName, removeStaging, withLeftStaging, withOwners } from "../owner.ts";
import type {
  Cancellable,
  ListedSandbox,
  SandboxDescriptor,
  SandboxHandle,
  SandboxStatus,
} from "../provider.ts";
import {
  execSettings,
  optionalSeconds,
  probeSettings,
  readSettings,
  textList,
} from "../provider-settings.ts";
import { waitUntilReady } from "../readiness.ts";
import { checkEnvironment } from "../safe-text.ts";
import type { SandboxSpec } from "../spec.ts";
import {
  asUser,
  CliProvider,
  type InnerCommand,
  isRoot,
  type OuterCommand,
  requireImage,
  textsOption,
} from "./cli-provider.ts";

const ADVICE = "Install Apptainer, or use another sandbox provider.";
/** Apptainer sets the variables of a container from its own variables with this prefix. */
const ENV_PREFIX = "APPTAINERENV_";

/** Settings of `sandbox: {apptainer: …}`. */
const apptainerSettings = z.strictObject({
  /** The directory of the program, if it is not on the PATH. */
  bin_path: z.string().nullish(),
  create: z
    .strictObject({
      /** The path of the sandbox's own writable directory. */
      mount_point: z.string().startsWith("/", "Must be an absolute path").default("/sandbox"),
      start_timeout_s: optionalSeconds(600),
      /** Keeps home, temporary files, processes and variables of the host out of the sandbox. */
      contain: z.boolean().default(true),
      /** `none`: no network; null: the network of the host. */
      network: z.literal("none").nullable().default("none"),
      extra_start_args: textList,
      apply_resource_limits: z.boolean().default(true),
      private_tmp: z.boolean().default(false),
    })
    .prefault({}),
  exec: z
    .strictObject({
      ...execSettings,
      /** Accepted for configs of the original. Here commands are killed without a grace period. */
      timeout_grace_s: z.number().nonnegative().optional(),
      fakeroot_for_root: z.boolean().default(true),
      default_binds: textList,
      extra_exec_args: textList,
    })
    .prefault({}),
  probe: probeSettings("apptainer-sandbox-ready"),
});

interface ApptainerInstance {
  name: string;
  image: string;
  /** A directory of this machine, mounted in the sandbox at the mount point. */
  stagingDirectory: string;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<ApptainerInstance>;

/** One Apptainer instance per sandbox. */
export class ApptainerProvider extends CliProvider<ApptainerInstance> {
  readonly name = "apptainer";
  protected readonly failurePattern = /fatal:|no instance found|instance not found/i;
  protected readonly missingPattern = /no instance found|instance not found|does not exist/i;
  readonly #settings: z.output<typeof apptainerSettings>;

  constructor(settings?: unknown) {
    const parsed = readSettings("apptainer", apptainerSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
  }

  get isOffline(): boolean {
    return this.#settings.create.network === "none";
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = imageReference(requireImage(this.name, spec));
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    const name = newSandboxName();
    const stagingDirectory = await makeStaging(name);
    const handle = this.handleOf({ name, image, stagingDirectory, env: spec.env });
    try {
      const args = await this.#startArguments(spec, stagingDirectory);
      await this.createStep("apptainer instance start", image, ["instance", "start", ...args, image, name], {
        timeoutSeconds: create.start_timeout_s,
        env: prefixed(spec.env),
        signal,
      });
      await waitUntilReady(this, handle, { probe, spec, signal });
      return handle;
    } catch (error) {
      await rm(stagingDirectory, { recursive: true, force: true });
      await this.ask(["instance", "stop", name]);
      throw error;
    }
  }

  async status({ raw }: Handle, options: Cancellable = {}): Promise<SandboxStatus> {
    const { code, stdout, timedOut } = await this.ask(["instance", "list", "--json", raw.name], options);
    if (timedOut || code !== 0) return "unknown";
    return instancesIn(stdout).some(({ instance }) => instance === raw.name) ? "running" : "stopped";
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    const { name, image, stagingDirectory, env } = raw;
    return {
      provider: this.name,
      sandbox_id: name,
      hostname: hostname(),
      uid: process.getuid?.(),
      staging_dir: stagingDirectory,
      image,
      env,
    };
  }

  /** An instance belongs to one user of one machine. */
  async connect(descriptor: SandboxDescriptor, options: Cancellable = {}): Promise<Handle> {
    const { sandbox_id: name, staging_dir: stagingDirectory, image } = descriptor;
    if (descriptor["hostname"] !== hostname() || descriptor["uid"] !== process.getuid?.())
      throw new SandboxOperationError(`The Apptainer instance '${name}' belongs to another machine or user.`);
    if (typeof stagingDirectory !== "string" || typeof image !== "string")
      throw new SandboxOperationError(`The descriptor of the Apptainer instance '${name}' is not complete.`);
    const env = { ...(descriptor["env"] as Record<string, string> | undefined) };
    checkEnvironment(env);
    const handle = this.handleOf({ name, image, stagingDirectory, env });
    if ((await this.status(handle, options)) !== "running")
      throw new SandboxOperationError(`The Apptainer instance '${name}' is not running.`);
    return handle;
  }

  async close({ raw }: Handle): Promise<void> {
    await this.remove(raw.name);
    await rm(raw.stagingDirectory, { recursive: true, force: true });
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    const failure = "apptainer instance list failed";
    const printed = await this.askOrThrow(failure, ["instance", "list", "--json"], options);
    const running = instancesIn(printed).map(({ instance: id, img: detail = "" }) => ({ id, detail }));
    return withLeftStaging(withOwners(running));
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    const outcome = await this.ask(["instance", "stop", id], options);
    await removeStaging(id);
    this.checkRemoved("apptainer instance stop", id, outcome);
  }

  protected versionArguments(): readonly string[] {
    return ["--version"];
  }

  protected program(): string {
    const { bin_path: directory } = this.#settings;
    return findProgram("apptainer", ADVICE, directory ? { PATH: directory } : process.env);
  }

  protected override programEnv(): NodeJS.ProcessEnv {
    const { bin_path: directory } = this.#settings;
    if (!directory) return process.env;
    return { ...process.env, PATH: `${directory}${path.delimiter}${process.env["PATH"] ?? ""}` };
  }

  protected shell(): string {
    return "sh";
  }

  protected outerCommand({ name, env }: ApptainerInstance, command: InnerCommand): OuterCommand {
    const { cwd, user, argv } = command;
    const { exec } = this.#settings;
    // Only root may become another user.
    const fakeroot = isRoot(user) ? exec.fakeroot_for_root : user !== undefined;
    return {
      args: [
        ...["exec", "--no-eval"],
        ...(cwd === undefined ? [] : ["--pwd", cwd]),
        ...(fakeroot ? ["--fakeroot"] : []),
        ...exec.extra_exec_args,
        `instance://${name}`,
        ...asUser(user, argv),
      ],
      env: prefixed({ ...env, ...command.env }),
    };
  }

  async #startArguments(spec: SandboxSpec, stagingDirectory: string): Promise<string[]> {
    const { create, exec } = this.#settings;
    const binds = [
      `${stagingDirectory}:${create.mount_point}`,
      ...exec.default_binds,
      ...textsOption(spec.provider_options, "binds"),
    ];
    if (create.private_tmp) {
      const privateTmp = path.join(stagingDirectory, "tmp");
      await mkdir(privateTmp);
      await chmod(privateTmp, 0o1777);
      binds.push(`${privateTmp}:/tmp`);
    }
    const { cpu, memory_mib: memory, gpu } = spec.resources;
    // A fake root cannot use control groups.
    const limited = create.apply_resource_limits && !create.extra_start_args.includes("--fakeroot");
    return [
      "--no-eval",
      ...(create.contain ? ["--containall"] : []),
      ...(create.network === null ? [] : ["--net", "--network", create.network]),
      ...(create.private_tmp ? ["--no-mount", "tmp"] : []),
      ...binds.flatMap((bind) => ["--bind", bind]),
      ...(limited && cpu !== undefined ? ["--cpus", String(cpu)] : []),
      ...(limited && memory !== undefined ? ["--memory", `${memory}m`] : []),
      ...(gpu ? ["--nv"] : []),
      ...create.extra_start_args.filter((word) => !(create.contain && word === "--containall")),
    ];
  }
}

/** A plain name is an image of a Docker registry. */
function imageReference(image: string): string {
  const isFile = /^[/.]/.test(image) || image.endsWith(".sif");
  return isFile || image.includes("://") ? image : `docker://${image}`;
}

function prefixed(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`${ENV_PREFIX}${name}`, value]));
}

/** The output of `apptainer instance list --json`. */
function instancesIn(printed: string): { instance: string; img?: string }[] {
  try {
    const { instances } = JSON.parse(printed) as { instances?: { instance: string; img?: string }[] | null };
    return instances ?? [];
  } catch (error) {
    throw new SandboxOperationError("apptainer instance list did not print JSON.", { cause: error });
  }
}
