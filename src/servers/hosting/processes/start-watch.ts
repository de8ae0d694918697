import { GymError } from "../../../base/errors.ts";
import { secondsOf } from "../host-settings.ts";

const TELL_EVERY_MS = 10_000;
const DEFAULT_LIMIT_SECONDS = 3_600;

/** Reports periodically which servers are not ready, up to a limit. */
export class StartWatch {
  readonly #pending: Set<string>;
  readonly #started = Date.now();
  readonly #telling: NodeJS.Timeout;
  #limit: NodeJS.Timeout | undefined;
  /** Rejects when the limit is reached. */
  readonly overdue: Promise<never>;

  constructor(
    servers: readonly string[],
    options: {
      limitSeconds: number | null;
      onWaiting: (servers: readonly string[], seconds: number) => void;
      tellEveryMs?: number;
    },
  ) {
    this.#pending = new Set(servers);
    this.#telling = setInterval(
      () => options.onWaiting([...this.#pending], Math.round((Date.now() - this.#started) / 1000)),
      options.tellEveryMs ?? TELL_EVERY_MS,
    );
    const { limitSeconds } = options;
    this.overdue = new Promise((_, reject) => {
      if (limitSeconds === null) return;
      this.#limit = setTimeout(() => {
        const names = [...this.#pending].map((name) => `'${name}'`).join(", ");
        const text = `Not ready within ${limitSeconds} s (server_start_limit_seconds): ${names}.`;
        reject(new GymError("SERVER_START", text));
      }, limitSeconds * 1000);
    });
    this.overdue.catch(() => {});
  }

  ready(server: string): void {
    this.#pending.delete(server);
  }

  stop(): void {
    clearInterval(this.#telling);
    clearTimeout(this.#limit);
  }
}

/** A text that names the servers that are not ready. */
export function waitingText({ servers, seconds }: { servers: readonly string[]; seconds: number }): string {
  return `Still waiting for ${servers.join(", ")} (${seconds} s)`;
}

/** `server_start_limit_seconds`; a server that loads its model may take long. */
export function startLimitSeconds(config: Readonly<Record<string, unknown>>): number | null {
  return secondsOf(config, "server_start_limit_seconds", DEFAULT_LIMIT_SECONDS);
}
