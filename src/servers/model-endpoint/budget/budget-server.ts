import { once } from "node:events";
import { rmSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { isPrivateDirectory, makeSocketDirectory, userDirectory } from "../../../base/files/door.ts";
import { FrameSocket } from "../../calls/link/frame-socket.ts";
import { CostMeter, RUN_METER, runMeter } from "../cost.ts";

/** Totals that change within this time are sent to the processes of a run together. */
const SEND_EVERY_MS = 10;

/** From a process to the server: the process uses a budget, or has spent part of it. */
export type SpendMessage = readonly [key: string, spent: number];

/** From the server to a process: the total of all processes, and the part that this process has reported. */
export type TotalMessage = readonly [key: string, spent: number, reported: number];

/** The socket is closed on a longer line, which cannot come from this program. */
export const MAX_BUDGET_MESSAGE_BYTES = 16 * 1024 * 1024;

interface Member {
  readonly frames: FrameSocket;
  /** Dollars that this process has reported, by budget. */
  readonly reported: Map<string, number>;
}

/**
 * Adds up the spending of the processes of a run, so that `max_cost` applies to all of them together. Runs in the
 * process that starts the others. Servers in that process use its meters directly; other processes connect to a socket
 * that only this user can open.
 */
export class BudgetServer {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #directory: string;
  readonly #globalConfig: Readonly<Record<string, unknown>>;
  readonly #members = new Set<Member>();
  readonly #meters = new Map<string, CostMeter>();
  /** Budgets that have changed since the last message. */
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(directory: string, globalConfig: Readonly<Record<string, unknown>>) {
    this.#directory = directory;
    this.#globalConfig = globalConfig;
    this.socketPath = join(directory, RUN_SOCKET);
    this.#server = createServer((socket) => this.#welcome(socket));
    this.#server.unref();
  }

  static async listen(globalConfig: Readonly<Record<string, unknown>>): Promise<BudgetServer> {
    void sweepRuns(userDirectory());
    const budgets = new BudgetServer(makeSocketDirectory(RUN_PREFIX), globalConfig);
    const server = budgets.#server;
    try {
      await once(server.listen(budgets.socketPath), "listening");
    } catch (error) {
      budgets.#cleanUp();
      throw error;
    }
    server.on("error", () => budgets.close());
    process.once("exit", budgets.#cleanUp);
    return budgets;
  }

  /** Returns the path of another socket of this run, in the same directory. */
  socketBeside(name: string): string {
    return join(this.#directory, `${name}.sock`);
  }

  close(): void {
    this.#server.close();
    for (const { frames } of [...this.#members]) frames.close();
    process.off("exit", this.#cleanUp);
    this.#cleanUp();
  }

  readonly #cleanUp = (): void => rmSync(this.#directory, { recursive: true, force: true });

  #welcome(socket: Socket): void {
    const frames = new FrameSocket(socket, MAX_BUDGET_MESSAGE_BYTES, {
      received: (message) => this.#received(member, message as SpendMessage),
      closed: () => this.#members.delete(member),
    });
    // The socket must not keep the process alive.
    socket.unref();
    const member: Member = { frames, reported: new Map() };
    this.#members.add(member);
  }

  #received(member: Member, [key, spent]: SpendMessage): void {
    member.reported.set(key, (member.reported.get(key) ?? 0) + spent);
    const meter = this.#meter(key);
    if (spent > 0) meter.add(spent);
    else this.#send(member, key);
  }

  #meter(key: string): CostMeter {
    let meter = this.#meters.get(key);
    if (!meter) {
      meter = key === RUN_METER ? runMeter(this.#globalConfig) : new CostMeter(null, key);
      meter.subscribe(() => this.#sendSoon(key));
      this.#meters.set(key, meter);
    }
    return meter;
  }

  #sendSoon(key: string): void {
    this.#changed.add(key);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const member of this.#members) for (const changed of this.#changed) this.#send(member, changed);
      this.#changed.clear();
    }, SEND_EVERY_MS).unref();
  }

  #send({ frames, reported }: Member, key: string): void {
    const own = reported.get(key);
    if (own === undefined) return;
    const message: TotalMessage = [key, this.#meter(key).spent, own];
    frames.send(message, "");
  }
}

const RUN_PREFIX = "run-";
const RUN_SOCKET = "run.sock";
/** Upper bound of directories checked in one sweep. The next run continues. */
const MAX_CHECKED = 200;
/** A younger directory may belong to a run that has not opened its socket yet. */
const MIN_AGE_MS = 60_000;

/**
 * Removes the directories of runs that were killed: directories of this user whose socket does not answer. Process ids
 * cannot decide this, because containers may share the directory without seeing each other's processes. The caller does
 * not wait for the sweep. Directories that cannot be removed are kept.
 */
export async function sweepRuns(directory: string, now: number = Date.now()): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const runs = names.filter((name) => name.startsWith(RUN_PREFIX)).slice(0, MAX_CHECKED);
  for (const run of runs) {
    const path = join(directory, run);
    if (!isPrivateDirectory(path)) continue;
    const found = await stat(path).catch(() => undefined);
    if (!found || now - found.mtimeMs < MIN_AGE_MS) continue;
    if (await isAbandoned(join(path, RUN_SOCKET)))
      await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function isAbandoned(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.unref();
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code === "ECONNREFUSED" || code === "ENOENT"),
    );
  });
}
