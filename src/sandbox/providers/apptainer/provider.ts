import { chmod, mkdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
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
import type {
  Cancellable,
  ListedSandbox,
  SandboxDescriptor,
  SandboxHandle,
  SandboxStatus,
} from "../../provider.ts";
import { readSettings } from "../../provider-settings.ts";
import type { SandboxSpec } from "../../spec.ts";
import { leftStaging, makeStaging, removeStaging } from "../../staging.ts";
import { type ApptainerSettings, apptainerSettings } from "./settings.ts";

const ADVICE = "Install Apptainer, or use another sandbox provider.";
/** The program takes the variables of a container from its own, by this prefix. */
const ENV_PREFIX = "APPTAINERENV_";

interface ApptainerInstance {
  name: string;
  image: string;
  /** On this machine; appears in the sandbox at the mount point. */
  stagingDirectory: string;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<ApptainerInstance>;

/** One Apptainer instance a sandbox. */
export class ApptainerProvider extends CliProvider<ApptainerInstance> {
  readonly name = "apptainer";
  readonly #settings: ApptainerSettings;

  constructor(settings?: unknown) {
    const parsed = readSettings("apptainer", apptainerSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = imageReference(requireImage(this.name, spec));
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    const name = newSandboxName();
    const stagingDirectory = await makeStaging(name);
    const handle = {
      sandboxId: name,
      providerName: this.name,
      raw: { name, image, stagingDirectory, env: spec.env },
    };
    try {
      const args = await this.#startArguments(spec, stagingDirectory);
      const { code, stderr, timedOut } = await this.run(["instance", "start", ...args, image, name], {
        timeoutSeconds: create.start_timeout_s,
        env: prefixed(spec.env),
        signal,
      });
      if (timedOut)
        throw new SandboxCreateError(
          `apptainer instance start took longer than ${create.start_timeout_s} s for '${image}'.`,
        );
      if (code !== 0)
        throw new SandboxCreateError(
          `apptainer instance start failed with code ${code} for '${image}': ${stderr.trim()}`,
        );
      await this.waitUntilReady(handle, probe, spec, signal);
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
    return listsInstance(stdout, raw.name) ? "running" : "stopped";
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

  /** Instances belong to one user of one machine. */
  async connect(descriptor: SandboxDescriptor, options: Cancellable = {}): Promise<Handle> {
    const { sandbox_id: name, staging_dir: stagingDirectory, image, env } = descriptor;
    if (descriptor["hostname"] !== hostname() || descriptor["uid"] !== process.getuid?.())
      throw new SandboxOperationError(`The Apptainer instance '${name}' belongs to another machine or user.`);
    if (typeof stagingDirectory !== "string" || typeof image !== "string")
      throw new SandboxOperationError(`The descriptor of the Apptainer instance '${name}' is not complete.`);
    const variables = { ...(env as Record<string, string> | undefined) };
    checkEnvironment(variables);
    const raw = { name, image, stagingDirectory, env: variables };
    const handle = { sandboxId: name, providerName: this.name, raw };
    if ((await this.status(handle, options)) !== "running")
      throw new SandboxOperationError(`The Apptainer instance '${name}' is not running.`);
    return handle;
  }

  async close({ raw }: Handle): Promise<void> {
    await this.remove(raw.name);
    await rm(raw.stagingDirectory, { recursive: true, force: true });
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    const { code, stdout, stderr } = await this.ask(["instance", "list", "--json"], options);
    if (code !== 0) throw new SandboxOperationError(`apptainer instance list failed: ${stderr.trim()}`);
    const instances =
      (JSON.parse(stdout) as { instances?: { instance: string; img?: string }[] }).instances ?? [];
    const running = instances.flatMap(({ instance: id, img }) => {
      const state = ownerState(id);
      return state === undefined ? [] : [{ id, state, detail: img ?? "" }];
    });
    const known = new Set(running.map(({ id }) => id));
    return [...running, ...(await leftStaging()).filter(({ id }) => !known.has(id))];
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    const { code, stderr } = await this.ask(["instance", "stop", id], options);
    await removeStaging(id);
    if (code !== 0 && !isGone(stderr))
      throw new SandboxOperationError(`apptainer instance stop failed for '${id}': ${stderr.trim()}`);
  }

  protected versionArguments(): readonly string[] {
    return ["--version"];
  }

  protected program(): string {
    const { bin_path: directory } = this.#settings;
    return findProgram("apptainer", ADVICE, directory ? { PATH: directory } : process.env);
  }

  protected programEnv(): NodeJS.ProcessEnv {
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
    const isRoot = user === "root" || user === 0;
    const other = user === undefined || isRoot ? undefined : String(user);
    if (other?.startsWith("-")) throw new SandboxSpecError(`'${other}' cannot be the name of a user.`);
    const fakeroot = other !== undefined || (isRoot && exec.fakeroot_for_root);
    // Only root may become somebody else.
    const words =
      other === undefined ? argv : ["su", "-s", "/bin/sh", "-c", argv.map(shellQuote).join(" "), other];
    return {
      args: [
        ...["exec", "--no-eval"],
        ...(cwd === undefined ? [] : ["--pwd", cwd]),
        ...(fakeroot ? ["--fakeroot"] : []),
        ...exec.extra_exec_args,
        `instance://${name}`,
        ...words,
      ],
      env: prefixed({ ...env, ...command.env }),
    };
  }

  protected looksLikeFailure(stderr: string): boolean {
    return /fatal:|no instance found|instance not found/i.test(stderr);
  }

  async #startArguments(spec: SandboxSpec, stagingDirectory: string): Promise<string[]> {
    const { create, exec } = this.#settings;
    const binds = [
      `${stagingDirectory}:${create.mount_point}`,
      ...exec.default_binds,
      ...textsOption(spec.provider_options, "binds"),
    ];
    const privateTmp = create.private_tmp ? path.join(stagingDirectory, "tmp") : undefined;
    if (privateTmp !== undefined) {
      await mkdir(privateTmp);
      await chmod(privateTmp, 0o1777);
      binds.push(`${privateTmp}:/tmp`);
    }
    const { cpu, memory_mib: memory, gpu } = spec.resources;
    // A fake root has no say over control groups.
    const limited = create.apply_resource_limits && !create.extra_start_args.includes("--fakeroot");
    return [
      "--no-eval",
      ...(create.contain ? ["--containall"] : []),
      ...(create.network === null ? [] : ["--net", "--network", create.network]),
      ...(privateTmp === undefined ? [] : ["--no-mount", "tmp"]),
      ...binds.flatMap((bind) => ["--bind", bind]),
      ...(limited && cpu !== undefined ? ["--cpus", String(cpu)] : []),
      ...(limited && memory !== undefined ? ["--memory", `${memory}m`] : []),
      ...(gpu ? ["--nv"] : []),
      ...create.extra_start_args.filter((word) => !(create.contain && word === "--containall")),
    ];
  }
}

function isGone(stderr: string): boolean {
  return /no instance found|instance not found|does not exist/i.test(stderr);
}

/** A plain name is one of a Docker registry. */
function imageReference(image: string): string {
  const isFile = /^[/.]/.test(image) || image.endsWith(".sif");
  return isFile || image.includes("://") ? image : `docker://${image}`;
}

function prefixed(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`${ENV_PREFIX}${name}`, value]));
}

function listsInstance(printed: string, name: string): boolean {
  try {
    const { instances } = JSON.parse(printed) as { instances?: { instance?: string }[] | null };
    return (instances ?? []).some(({ instance }) => instance === name);
  } catch (error) {
    throw new SandboxOperationError("apptainer instance list did not print JSON.", { cause: error });
  }
}
