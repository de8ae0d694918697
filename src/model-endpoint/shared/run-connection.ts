import { connect } from "node:net";
import type { CallLimit } from "../adaptive-limit.ts";
import type { Breaker, BreakerEvents } from "../circuit-breaker.ts";
import type { CostMeter } from "../cost.ts";
import { processWide } from "../process-wide.ts";
import { LeasedLimit } from "./leased-limit.ts";
import { LineSocket } from "./line-socket.ts";
import type { CoordinatorMessage, MemberMessage } from "./messages.ts";
import { SharedBreaker } from "./shared-breaker.ts";
import { SharedMeter } from "./shared-meter.ts";

const CONNECT_WITHIN_MS = 5_000;

/** A process's connection to the one that coordinates the run. When it breaks, everything goes on with what this process knows. */
export class RunConnection {
  readonly #lines: LineSocket<MemberMessage>;
  readonly #limits = new Map<string, LeasedLimit>();
  readonly #breakers = new Map<string, SharedBreaker>();
  readonly #meters = new Map<string, SharedMeter>();
  #isOpen = true;

  private constructor(socket: ReturnType<typeof connect>) {
    this.#lines = new LineSocket(socket, {
      messages: (batch) => {
        for (const message of batch as CoordinatorMessage[]) this.#received(message);
      },
      closed: () => this.#lost(),
    });
  }

  /** Resolves with undefined when nobody answers at the socket. */
  static open(socketPath: string): Promise<RunConnection | undefined> {
    return new Promise((resolve) => {
      const socket = connect(socketPath);
      const giveUp = () => {
        clearTimeout(timer);
        socket.destroy();
        resolve(undefined);
      };
      const timer = setTimeout(giveUp, CONNECT_WITHIN_MS);
      socket.once("error", giveUp);
      socket.once("connect", () => {
        clearTimeout(timer);
        socket.off("error", giveUp);
        resolve(new RunConnection(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  limit(key: string): CallLimit & { joined: Promise<void> } {
    let limit = this.#limits.get(key);
    if (!limit) {
      limit = new LeasedLimit(key, this.#send, () => this.close());
      this.#limits.set(key, limit);
    }
    return limit;
  }

  breaker(key: string, events: BreakerEvents): Breaker {
    let breaker = this.#breakers.get(key);
    if (!breaker) {
      breaker = new SharedBreaker(key, this.#send, events);
      this.#breakers.set(key, breaker);
    }
    return breaker;
  }

  /** Counts what the other processes spend on the same budget. */
  share(key: string, meter: CostMeter): void {
    if (meter.limit === null || this.#meters.has(key)) return;
    this.#meters.set(key, new SharedMeter(key, meter, this.#send));
  }

  close(): void {
    this.#lines.close();
  }

  readonly #send = (message: MemberMessage): void => this.#lines.send(message);

  #received(message: CoordinatorMessage): void {
    switch (message.type) {
      case "allowance":
        this.#limits.get(message.key)?.allow(message);
        break;
      case "breaker":
        this.#breakers.get(message.key)?.update(message);
        break;
      case "probe":
        this.#breakers.get(message.key)?.probe();
        break;
      case "total":
        this.#meters.get(message.key)?.update(message.spent, message.reported);
        break;
    }
  }

  #lost(): void {
    this.#isOpen = false;
    for (const limit of this.#limits.values()) limit.standAlone();
    for (const breaker of this.#breakers.values()) breaker.standAlone();
  }
}

const joined = processWide("run", () => ({ connection: undefined as RunConnection | undefined }));

/** Makes this process share what it knows about endpoints with the others of its run. */
export async function joinRun(socketPath: string): Promise<void> {
  joined.connection = await RunConnection.open(socketPath);
}

/** The connection to the rest of the run; undefined where this process is the run, or stands alone. */
export function runConnection(): RunConnection | undefined {
  return joined.connection?.isOpen ? joined.connection : undefined;
}
