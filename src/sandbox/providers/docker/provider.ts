import { untilAborted } from "../../../calls/deadline.ts";
import { Semaphore } from "../../../calls/semaphore.ts";
import { CliProvider, type InnerCommand, type OuterCommand, requireImage } from "../../cli-provider.ts";
import { SandboxCreateError, SandboxOperationError } from "../../errors.ts";
import { findProgram, isInstalled } from "../../find-program.ts";
import { newSandboxName, ownerState } from "../../owner.ts";
import { checkEnvironment } from "../../plain-words.ts";
import type {
  Cancellable,
  ListedSandbox,
  SandboxDescriptor,
  SandboxEndpoint,
  SandboxHandle,
  SandboxStatus,
} from "../../provider.ts";
import { readSettings } from "../../provider-settings.ts";
import type { SandboxSpec } from "../../spec.ts";
import { endpointFrom, runArguments, SANDBOX_LABEL } from "./run-arguments.ts";
import { type DockerSettings, dockerSettings } from "./settings.ts";

const ADVICE = "Install Docker or Podman and start its engine, or use another sandbox provider.";
/** Programs with the same command line, in the order they are looked for. */
const ENGINES = ["docker", "podman"] as const;
const STATUS_FORMAT = ["inspect", "-f", "{{.State.Status}}"];

interface DockerContainer {
  name: string;
  image: string;
  shell: string;
  ports: readonly number[];
}

type Handle = SandboxHandle<DockerContainer>;

/** One container per sandbox, kept alive by a shell that sleeps, driven through the program `docker` or `podman`. */
export class DockerProvider extends CliProvider<DockerContainer> {
  readonly name = "docker";
  readonly #settings: DockerSettings;
  readonly #creates: Semaphore;
  readonly #pulls: Semaphore;
  /** Images that are being fetched; further callers wait for the same fetch. */
  readonly #fetched = new Map<string, Promise<void>>();

  constructor(settings?: unknown) {
    const parsed = readSettings("docker", dockerSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
    this.#creates = new Semaphore(parsed.create.max_creates);
    this.#pulls = new Semaphore(parsed.create.max_pulls);
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = requireImage(this.name, spec).replace(/^docker:\/\//, "");
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    const name = newSandboxName();
    const raw: DockerContainer = { name, image, shell: "sh", ports: spec.ports };
    const handle = { sandboxId: name, providerName: this.name, raw };
    await this.#fetchImage(image, signal);
    try {
      const args = runArguments(spec, image, name, create);
      const { code, stderr, timedOut } = await this.#creates.run(
        () => this.run(args, { timeoutSeconds: create.start_timeout_s, signal }),
        signal,
      );
      if (timedOut)
        throw new SandboxCreateError(
          `${this.#engine()} run took longer than ${create.start_timeout_s} s for '${image}'.`,
        );
      if (code !== 0)
        throw new SandboxCreateError(
          `${this.#engine()} run failed with code ${code} for '${image}': ${stderr.trim()}`,
        );
      await this.waitUntilReady(handle, probe, spec, signal);
      raw.shell = await this.#findShell(name, signal);
      return handle;
    } catch (error) {
      await this.ask(["rm", "-f", name]);
      throw error;
    }
  }

  /** Fetches an image that is not there, once for all who wait: engines and registries take few requests at a time. */
  async #fetchImage(image: string, signal: AbortSignal | undefined): Promise<void> {
    const { code } = await this.ask(["image", "inspect", "--format", "{{.Id}}", image], { signal });
    if (code === 0) return;
    let fetched = this.#fetched.get(image);
    if (fetched === undefined) {
      fetched = this.#pulls.run(() => this.#pull(image)).finally(() => this.#fetched.delete(image));
      this.#fetched.set(image, fetched);
    }
    await (signal === undefined ? fetched : untilAborted(fetched, signal));
  }

  /** Goes on when one of those who wait gives up. */
  async #pull(image: string): Promise<void> {
    const { pull_timeout_s } = this.#settings.create;
    const { code, stderr, timedOut } = await this.run(["pull", "--quiet", image], {
      timeoutSeconds: pull_timeout_s,
    });
    if (timedOut)
      throw new SandboxCreateError(
        `${this.#engine()} pull took longer than ${pull_timeout_s} s for '${image}'.`,
      );
    if (code !== 0)
      throw new SandboxCreateError(
        `${this.#engine()} pull failed with code ${code} for '${image}': ${stderr.trim()}`,
      );
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    const { code, stdout, stderr } = await this.ask(
      [
        "ps",
        "--all",
        "--filter",
        `label=${SANDBOX_LABEL}`,
        "--format",
        "{{.Names}}\t{{.Image}}, {{.Status}}",
      ],
      options,
    );
    if (code !== 0) throw new SandboxOperationError(`${this.#engine()} ps failed: ${stderr.trim()}`);
    return stdout.split("\n").flatMap((line) => {
      const [id = "", detail = ""] = line.split("\t");
      const state = ownerState(id);
      return state === undefined ? [] : [{ id, detail, state }];
    });
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    const { code, stderr } = await this.ask(["rm", "-f", id], options);
    if (code !== 0 && !isMissing(stderr))
      throw new SandboxOperationError(`${this.#engine()} rm failed for '${id}': ${stderr.trim()}`);
  }

  async status({ raw }: Handle, options: Cancellable = {}): Promise<SandboxStatus> {
    const { code, stdout, stderr, timedOut } = await this.ask([...STATUS_FORMAT, raw.name], options);
    if (timedOut) return "unknown";
    if (code !== 0) return isMissing(stderr) ? "stopped" : "unknown";
    return statusOf(stdout.trim());
  }

  async endpoint({ raw }: Handle, port: number, options: Cancellable = {}): Promise<SandboxEndpoint> {
    const { code, stdout, stderr } = await this.ask(["port", raw.name, `${port}/tcp`], options);
    if (code !== 0)
      throw new SandboxOperationError(
        `${this.#engine()} port failed for port ${port} of '${raw.name}': ${stderr.trim()}`,
      );
    return { endpoint: endpointFrom(stdout, port, this.#settings.create.publish_host), headers: {} };
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    const { name, image, shell, ports } = raw;
    return { provider: this.name, sandbox_id: name, image, shell, published_ports: ports };
  }

  /** Any process that talks to the same engine can use a container; its name is enough. */
  async connect(descriptor: SandboxDescriptor, options: Cancellable = {}): Promise<Handle> {
    const name = descriptor.sandbox_id;
    const { code, stdout, stderr } = await this.ask([...STATUS_FORMAT, name], options);
    if (code !== 0)
      throw new SandboxOperationError(`Container '${name}' cannot be reached: ${stderr.trim()}`);
    if (statusOf(stdout.trim()) !== "running")
      throw new SandboxOperationError(`Container '${name}' is not running but '${stdout.trim()}'.`);
    const { image, shell, published_ports: ports } = descriptor;
    const raw: DockerContainer = {
      name,
      image: typeof image === "string" ? image : "",
      shell: typeof shell === "string" ? shell : await this.#findShell(name, options.signal),
      ports: Array.isArray(ports) ? ports.map(Number) : [],
    };
    return { sandboxId: name, providerName: this.name, raw };
  }

  async close({ raw }: Handle): Promise<void> {
    await this.remove(raw.name);
  }

  protected versionArguments(): readonly string[] {
    const field = this.#engine() === "podman" ? "{{.Version.Version}}" : "{{.ServerVersion}}";
    return ["info", "--format", field];
  }

  protected program(): string {
    return findProgram(this.#engine(), ADVICE);
  }

  /** The configured engine, or the first that is installed. */
  #engine(): string {
    return this.#settings.program ?? ENGINES.find(isInstalled) ?? ENGINES[0];
  }

  protected programEnv(): NodeJS.ProcessEnv {
    return process.env;
  }

  protected shell({ shell }: DockerContainer): string {
    return shell;
  }

  /** The container has the variables of its spec already. */
  protected outerCommand({ name }: DockerContainer, command: InnerCommand): OuterCommand {
    const { cwd, env, user, hasStdin, argv } = command;
    return {
      args: [
        "exec",
        ...(hasStdin ? ["-i"] : []),
        ...(cwd === undefined ? [] : ["-w", cwd]),
        ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
        ...(user === undefined ? [] : ["--user", user === "root" ? "0" : String(user)]),
        ...this.#settings.exec.extra_exec_args,
        name,
        ...argv,
      ],
    };
  }

  protected looksLikeFailure(stderr: string): boolean {
    return /no such container|is not running|is not paused|cannot connect to the docker daemon|error response from daemon/i.test(
      stderr,
    );
  }

  async #findShell(name: string, signal: AbortSignal | undefined): Promise<string> {
    const configured = this.#settings.exec.exec_shell;
    if (configured !== null) return configured;
    const { code } = await this.ask(["exec", name, "sh", "-c", "command -v bash"], { signal });
    return code === 0 ? "bash" : "sh";
  }
}

function isMissing(stderr: string): boolean {
  return /no such (container|object)/i.test(stderr);
}

const STATUSES: Readonly<Record<string, SandboxStatus>> = {
  running: "running",
  paused: "running",
  created: "starting",
  restarting: "starting",
  exited: "stopped",
  removing: "stopped",
  dead: "stopped",
};

function statusOf(state: string): SandboxStatus {
  return STATUSES[state.toLowerCase()] ?? "unknown";
}
