import { isInstalled } from "../../base/door.ts";
import { Semaphore } from "../../base/transport/light-door.ts";
import { SandboxOperationError } from "../errors.ts";
import { findProgram } from "../find-program.ts";
import { newSandboxName, withOwners } from "../owner.ts";
import type {
  Cancellable,
  ListedSandbox,
  SandboxDescriptor,
  SandboxEndpoint,
  SandboxHandle,
  SandboxStatus,
} from "../provider.ts";
import { readSettings } from "../provider-settings.ts";
import { waitUntilReady } from "../readiness.ts";
import { checkEnvironment } from "../safe-text.ts";
import { SharedTasks } from "../shared-tasks.ts";
import type { SandboxSpec } from "../spec.ts";
import { CliProvider, type InnerCommand, type OuterCommand, requireImage } from "./cli-provider.ts";
import {
  type DockerSettings,
  dockerSettings,
  ENGINES,
  endpointFrom,
  runArguments,
  SANDBOX_LABEL,
} from "./docker-run.ts";

const ADVICE = "Install Docker or Podman and start its engine, or use another sandbox provider.";
const STATUS_FORMAT = ["inspect", "-f", "{{.State.Status}}"];

interface DockerContainer {
  name: string;
  image: string;
  shell: string;
  ports: readonly number[];
}

type Handle = SandboxHandle<DockerContainer>;

/** One container per sandbox, kept alive by a sleeping shell. The program is `docker` or `podman`. */
export class DockerProvider extends CliProvider<DockerContainer> {
  readonly name = "docker";
  protected readonly failurePattern =
    /no such container|is not running|is not paused|cannot connect to the docker daemon|error response from daemon/i;
  protected readonly missingPattern = /no such (container|object)/i;
  readonly #settings: DockerSettings;
  readonly #creates: Semaphore;
  readonly #pulls: Semaphore;
  /** Running pulls by image. */
  readonly #pulling = new SharedTasks<void>();

  constructor(settings?: unknown) {
    const parsed = readSettings("docker", dockerSettings, settings);
    super(parsed.exec);
    this.#settings = parsed;
    this.#creates = new Semaphore(parsed.create.max_creates);
    this.#pulls = new Semaphore(parsed.create.max_pulls);
  }

  get isOffline(): boolean {
    return this.#settings.create.network === undefined || this.#settings.create.network === "none";
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const image = requireImage(this.name, spec).replace(/^docker:\/\//, "");
    checkEnvironment(spec.env);
    const { create, probe } = this.#settings;
    const name = newSandboxName();
    const raw: DockerContainer = { name, image, shell: "sh", ports: spec.ports };
    const handle = this.handleOf(raw);
    await this.#ensureImage(image, signal);
    try {
      const args = runArguments(spec, image, name, create);
      const options = { timeoutSeconds: create.start_timeout_s, signal };
      await this.#creates.run(() => this.createStep(`${this.#engine()} run`, image, args, options), signal);
      await waitUntilReady(this, handle, { probe, spec, signal });
      raw.shell = await this.#findShell(name, signal);
      return handle;
    } catch (error) {
      await this.ask(["rm", "-f", name]);
      throw error;
    }
  }

  /** Pulls a missing image once for all callers: engines and registries accept few requests at a time. */
  async #ensureImage(image: string, signal: AbortSignal | undefined): Promise<void> {
    const { code } = await this.ask(["image", "inspect", "--format", "{{.Id}}", image], { signal });
    if (code === 0) return;
    await this.#pulling.run(image, (stop) => this.#pull(image, stop), signal);
  }

  #pull(image: string, signal: AbortSignal): Promise<void> {
    const options = { timeoutSeconds: this.#settings.create.pull_timeout_s, signal };
    const args = ["pull", "--quiet", image];
    return this.#pulls.run(() => this.createStep(`${this.#engine()} pull`, image, args, options), signal);
  }

  async list(options: Cancellable = {}): Promise<ListedSandbox[]> {
    const format = "{{.Names}}\t{{.Image}}, {{.Status}}";
    const args = ["ps", "--all", "--filter", `label=${SANDBOX_LABEL}`, "--format", format];
    const printed = await this.askOrThrow(`${this.#engine()} ps failed`, args, options);
    const found = printed.split("\n").map((line) => line.split("\t"));
    return withOwners(found.map(([id = "", detail = ""]) => ({ id, detail })));
  }

  async remove(id: string, options: Cancellable = {}): Promise<void> {
    this.checkRemoved(`${this.#engine()} rm`, id, await this.ask(["rm", "-f", id], options));
  }

  async status({ raw }: Handle, options: Cancellable = {}): Promise<SandboxStatus> {
    const { code, stdout, stderr, timedOut } = await this.ask([...STATUS_FORMAT, raw.name], options);
    if (timedOut) return "unknown";
    if (code !== 0) return this.missingPattern.test(stderr) ? "stopped" : "unknown";
    return statusOf(stdout.trim());
  }

  async endpoint({ raw }: Handle, port: number, options: Cancellable = {}): Promise<SandboxEndpoint> {
    const failure = `${this.#engine()} port failed for port ${port} of '${raw.name}'`;
    const printed = await this.askOrThrow(failure, ["port", raw.name, `${port}/tcp`], options);
    return { endpoint: endpointFrom(printed, port, this.#settings.create.publish_host), headers: {} };
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    const { name, image, shell, ports } = raw;
    return { provider: this.name, sandbox_id: name, image, shell, published_ports: ports };
  }

  /** Any process that uses the same engine can use a container by its name. */
  async connect(descriptor: SandboxDescriptor, options: Cancellable = {}): Promise<Handle> {
    const { sandbox_id: name, image, shell, published_ports: ports } = descriptor;
    const failure = `Container '${name}' cannot be reached`;
    const state = (await this.askOrThrow(failure, [...STATUS_FORMAT, name], options)).trim();
    if (statusOf(state) !== "running")
      throw new SandboxOperationError(`Container '${name}' is not running but '${state}'.`);
    return this.handleOf({
      name,
      image: typeof image === "string" ? image : "",
      shell: typeof shell === "string" ? shell : await this.#findShell(name, options.signal),
      ports: Array.isArray(ports) ? ports.map(Number) : [],
    });
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

  protected shell({ shell }: DockerContainer): string {
    return shell;
  }

  /** The container already has the variables of its spec. */
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

  async #findShell(name: string, signal: AbortSignal | undefined): Promise<string> {
    const configured = this.#settings.exec.exec_shell;
    if (configured !== null) return configured;
    const { code } = await this.ask(["exec", name, "sh", "-c", "command -v bash"], { signal });
    return code === 0 ? "bash" : "sh";
  }
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
