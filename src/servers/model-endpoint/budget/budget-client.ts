import { connect } from "node:net";
import { processWide } from "../../../base/door.ts";
import { FrameSocket } from "../../calls/link/frame-socket.ts";
import type { CostMeter } from "../cost.ts";
import { MAX_BUDGET_MESSAGE_BYTES, type SpendMessage, type TotalMessage } from "./budget-server.ts";

const CONNECT_WITHIN_MS = 5_000;
/** Costs within this time are reported together. */
const REPORT_EVERY_MS = 10;

/**
 * Synchronizes the meters of this process with those of the other processes of the run. If the connection breaks, each
 * process counts alone.
 */
export class BudgetClient {
  readonly #frames: FrameSocket;
  /** Sets the total of a shared meter, by key. */
  readonly #meters = new Map<string, (spent: number, reported: number) => void>();
  #isOpen = true;

  private constructor(socket: ReturnType<typeof connect>) {
    this.#frames = new FrameSocket(socket, MAX_BUDGET_MESSAGE_BYTES, {
      received: (message) => {
        const [key, spent, reported] = message as TotalMessage;
        this.#meters.get(key)?.(spent, reported);
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
    let own = 0;
    let unreported = 0;
    let timer: NodeJS.Timeout | undefined;
    meter.subscribe((cost) => {
      own += cost;
      unreported += cost;
      if (timer) return;
      timer = setTimeout(() => {
        timer = undefined;
        this.#send([key, unreported]);
        unreported = 0;
      }, REPORT_EVERY_MS).unref();
    });
    // The total of all processes does not contain the costs that this process has not reported yet.
    this.#meters.set(key, (spent, reported) => meter.correct(spent - reported + own));
    this.#send([key, 0]);
  }

  close(): void {
    this.#frames.close();
  }

  #send(message: SpendMessage): void {
    this.#frames.send(message, "");
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
