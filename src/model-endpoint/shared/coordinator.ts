import { rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { makeSocketDirectory, userDirectory } from "../../files/private-directory.ts";
import { CostMeter, RUN_METER, runMeter } from "../cost.ts";
import { localBreaker, localLimit } from "../endpoint.ts";
import { BreakerMembers } from "./breaker-members.ts";
import { LimitShares } from "./limit-shares.ts";
import { LineSocket } from "./line-socket.ts";
import type { CoordinatorMessage, MemberMessage } from "./messages.ts";
import { MeterMembers } from "./meter-members.ts";
import { RUN_PREFIX, RUN_SOCKET, sweepRuns } from "./sweep-runs.ts";

/**
 * Shares limits, breakers and budgets between all processes of a run. It lives in the process that starts the others.
 * Servers in that process use the shared objects directly; other processes connect to a socket that only this user can open.
 */
export class Coordinator {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #directory: string;
  readonly #globalConfig: Readonly<Record<string, unknown>>;
  readonly #connections = new Set<LineSocket<CoordinatorMessage>>();
  readonly #limits = new Map<string, LimitShares>();
  readonly #breakers = new Map<string, BreakerMembers>();
  readonly #meters = new Map<string, MeterMembers>();

  private constructor(directory: string, globalConfig: Readonly<Record<string, unknown>>) {
    this.#directory = directory;
    this.#globalConfig = globalConfig;
    this.socketPath = join(directory, RUN_SOCKET);
    this.#server = createServer((socket) => this.#welcome(socket));
    this.#server.unref();
  }

  static async listen(globalConfig: Readonly<Record<string, unknown>>): Promise<Coordinator> {
    void sweepRuns(userDirectory());
    const coordinator = new Coordinator(makeSocketDirectory(RUN_PREFIX), globalConfig);
    const server = coordinator.#server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(coordinator.socketPath, () => resolve());
      });
    } catch (error) {
      coordinator.#cleanUp();
      throw error;
    }
    server.on("error", () => coordinator.close());
    process.once("exit", coordinator.#cleanUp);
    return coordinator;
  }

  /** Returns the path of another socket of this run, in the same directory. */
  socketBeside(name: string): string {
    return join(this.#directory, `${name}.sock`);
  }

  close(): void {
    this.#server.close();
    for (const connection of [...this.#connections]) connection.close();
    process.off("exit", this.#cleanUp);
    this.#cleanUp();
  }

  readonly #cleanUp = (): void => rmSync(this.#directory, { recursive: true, force: true });

  #welcome(socket: ConstructorParameters<typeof LineSocket>[0]): void {
    const member = {};
    const lines = new LineSocket<CoordinatorMessage>(socket, {
      messages: (batch) => {
        for (const message of batch as MemberMessage[]) this.#received(member, send, message);
      },
      closed: () => {
        this.#connections.delete(lines);
        this.#gone(member);
      },
    });
    const send = (message: CoordinatorMessage) => lines.send(message);
    this.#connections.add(lines);
  }

  #received(member: object, send: (message: CoordinatorMessage) => void, message: MemberMessage): void {
    const { key } = message;
    switch (message.type) {
      case "join-limit":
        entry(this.#limits, key, () => new LimitShares(key, localLimit(key))).join(member, send);
        break;
      case "limit":
        this.#limits.get(key)?.report(member, message);
        break;
      case "join-breaker":
        entry(this.#breakers, key, () => new BreakerMembers(key, localBreaker(key))).join(member, send);
        break;
      case "breaker-failed":
        this.#breakers.get(key)?.failed(member, message.probe, message.failure);
        break;
      case "breaker-succeeded":
        this.#breakers.get(key)?.succeeded(member);
        break;
      case "breaker-ended":
        this.#breakers.get(key)?.ended(member);
        break;
      case "breaker-wait":
        void this.#breakers.get(key)?.wait(member);
        break;
      case "join-meter":
        entry(this.#meters, key, () => new MeterMembers(key, this.#meter(key))).join(member, send);
        break;
      case "spent":
        this.#meters.get(key)?.spent(member, message.amount);
        break;
    }
  }

  #meter(key: string): CostMeter {
    return key === RUN_METER ? runMeter(this.#globalConfig) : new CostMeter(null, key);
  }

  #gone(member: object): void {
    for (const [key, shares] of this.#limits) {
      shares.leave(member);
      if (shares.isEmpty) this.#limits.delete(key);
    }
    for (const [key, members] of this.#breakers) {
      members.leave(member);
      if (members.isEmpty) this.#breakers.delete(key);
    }
    for (const members of this.#meters.values()) members.leave(member);
  }
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  let value = map.get(key);
  if (!value) {
    value = create();
    map.set(key, value);
  }
  return value;
}
