import { connect } from "node:net";
import { FrameSocket } from "../../calls/link/frame-socket.ts";
import { processWide } from "../../process-wide.ts";
import type { CostMeter } from "../cost.ts";
import { MAX_LINE_BYTES, type SpendMessage, type TotalMessage } from "./budget-server.ts";

const CONNECT_WITHIN_MS = 5_000;
/** Costs within this time are reported together. */
const REPORT_EVERY_MS = 10;

/**
 * Synchronizes the meters of this process with those of the other processes of the run. If the connection breaks, each
 * process counts alone.
 */
export class BudgetClient {
  readonly #frames: FrameSocket;
  readonly #meters = new Map<string, SharedMeter>();
  #isOpen = true;

  private constructor(socket: ReturnType<typeof connect>) {
    this.#frames = new FrameSocket(socket, MAX_LINE_BYTES, {
      received: (message) => {
        const [key, spent, reported] = message as TotalMessage;
        this.#meters.get(key)?.update(spent, reported);
      },
      closed: () => {
        this.#isOpen = false;
      },
    });
    // The socket must not keep the process alive.
    socket.unref();
  }

  /** Resolves with undefined when nothing answers at the socket. */
  static open(socketPath: string): Promise<BudgetClient | undefined> {
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
        resolve(new BudgetClient(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Adds the spending of other processes on the same budget. A meter without a limit is not shared. */
  share(key: string, meter: CostMeter): void {
    if (meter.limit === null || this.#meters.has(key)) return;
    this.#meters.set(key, new SharedMeter(meter, (spent) => this.#send([key, spent])));
    this.#send([key, 0]);
  }

  close(): void {
    this.#frames.close();
  }

  #send(message: SpendMessage): void {
    this.#frames.send(message, "");
  }
}

class SharedMeter {
  readonly #meter: CostMeter;
  #own = 0;
  #unreported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(meter: CostMeter, report: (spent: number) => void) {
    this.#meter = meter;
    meter.subscribe((cost) => {
      this.#own += cost;
      this.#unreported += cost;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        report(this.#unreported);
        this.#unreported = 0;
      }, REPORT_EVERY_MS).unref();
    });
  }

  /** Sets the total of all processes, plus the spending that this process has not reported yet. */
  update(spent: number, reported: number): void {
    this.#meter.correct(spent - reported + this.#own);
  }
}

const joined = processWide("run", () => ({ client: undefined as BudgetClient | undefined }));

/** Connects this process to the budgets of its run. */
export async function joinBudgets(socketPath: string): Promise<void> {
  joined.client = await BudgetClient.open(socketPath);
}

/** The budgets of the run; undefined in the process that keeps them, and in a run with one process. */
export function runBudgets(): BudgetClient | undefined {
  return joined.client?.isOpen ? joined.client : undefined;
}
