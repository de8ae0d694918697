import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The reason why tests with a broker cannot run here, if any. In CI a missing broker fails them. */
export function missingBroker(): string | undefined {
  if (process.env["CI"] || spawnSync("nats-server", ["--version"]).status === 0) return undefined;
  return "nats-server is not installed (apt-get install nats-server)";
}

/** A nats-server whose files outlive its process. */
export class TestBroker {
  readonly port: number;
  readonly host: string;
  readonly directory = mkdtempSync(join(tmpdir(), "nemo-gym-nats-"));
  readonly #words: readonly string[];
  readonly #inside: readonly string[];
  #process: ChildProcess | undefined;

  /** `inside` is a prefix of the command, such as `ip netns exec NAME`. */
  constructor(
    port: number,
    options: { host?: string; words?: readonly string[]; inside?: readonly string[] } = {},
  ) {
    this.port = port;
    this.host = options.host ?? "127.0.0.1";
    this.#words = options.words ?? [];
    this.#inside = options.inside ?? [];
  }

  get url(): string {
    return `nats://${this.host}:${this.port}`;
  }

  async start(): Promise<void> {
    const [program = "", ...words] = [
      ...this.#inside,
      "nats-server",
      "-js",
      "-sd",
      this.directory,
      "-a",
      this.host,
      "-p",
      String(this.port),
      ...this.#words,
    ];
    const child = spawn(program, words, { stdio: "ignore" });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", resolve);
    });
    if (this.#inside.length > 0) return;
    for (let tries = 0; !(await answers(this.host, this.port)); tries++) {
      if (tries > 200 || child.exitCode !== null) throw new Error("nats-server did not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Ends the process, by default without warning; the files stay. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
