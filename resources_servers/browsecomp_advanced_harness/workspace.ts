import type { ServerContext } from "nemo-gym";
import { Semaphore } from "nemo-gym/agents";
import { openSandbox, type Sandbox, type SandboxServer } from "nemo-gym/sandbox";
import type { Config } from "./config.ts";
import { slugOfUrl } from "./pages.ts";

const HEAD = 8192;
const TAIL = 4096;
const MAX_PAGES = 500;

/** Commands of all sessions of a server at the same time. */
const slots = new WeakMap<object, Semaphore>();

/** The pages of one rollout as files of a sandbox, which has no network. It starts with its first page. */
export class Workspace {
  readonly #server: ServerContext<Config>;
  readonly #names = new Map<string, string>();
  #sandbox: Promise<Sandbox> | undefined;

  constructor(server: ServerContext<Config>) {
    this.#server = server;
  }

  /** Stores a page and returns the name of its file. */
  async store(url: string, text: string, signal: AbortSignal): Promise<string> {
    const known = this.#names.get(url);
    if (known === undefined && this.#names.size >= MAX_PAGES) return "(not stored: there are too many pages)";
    const name = known ?? this.#newName(url);
    this.#names.set(url, name);
    await (await this.#open(signal)).writeText(name, `URL: ${url}\n\n${text}\n`, { signal });
    return name;
  }

  /** Runs a command. Files cannot be written, except by a program that the policy does not allow. */
  async run(command: string, seconds: number, signal: AbortSignal): Promise<string> {
    const sandbox = await this.#open(signal);
    const { bash_max_concurrency: most } = this.#server.config;
    const limit = slots.get(this.#server) ?? new Semaphore(most);
    slots.set(this.#server, limit);
    const options = { timeoutSeconds: seconds, signal };
    const done = await limit.run(() => sandbox.exec(`ulimit -f 0\n${command}`, options), signal);
    const code = done.error_type === "timeout" ? -1 : done.return_code;
    const errors = cut(done.stderr ?? "");
    return [
      cut(done.stdout ?? ""),
      ...(errors === "" ? [] : ["--- stderr ---", errors]),
      `[exit_code=${code}]`,
    ]
      .filter((part) => part !== "")
      .join("\n");
  }

  async close(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    this.#names.clear();
    await (await sandbox?.catch(() => undefined))?.stop();
  }

  #open(signal: AbortSignal): Promise<Sandbox> {
    this.#sandbox ??= openSandbox(this.#server as SandboxServer, {}, { signal }).catch((error: unknown) => {
      this.#sandbox = undefined;
      throw error;
    });
    return this.#sandbox;
  }

  #newName(url: string): string {
    const slug = slugOfUrl(url) || "page";
    const taken = new Set(this.#names.values());
    for (let number = 1; ; number++) {
      const name = `${slug}${number === 1 ? "" : `-${number}`}.txt`;
      if (!taken.has(name)) return name;
    }
  }
}

function cut(text: string): string {
  const end = text.endsWith("\n") ? text.slice(0, -1) : text;
  if (end.length <= HEAD + TAIL) return end;
  return `${end.slice(0, HEAD)}\n... [${end.length - HEAD - TAIL} characters omitted]\n${end.slice(-TAIL)}`;
}
