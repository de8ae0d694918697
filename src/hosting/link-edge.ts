import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { FrameSocket } from "../calls/link/frame-socket.ts";
import { type CallHead, MAX_MESSAGE_BYTES, type ReplyHead } from "../calls/link/messages.ts";
import type { AppReply } from "../definitions/reply.ts";
import type { ServerApp } from "./app.ts";
import { EdgeCall } from "./edge-call.ts";
import { parseBody } from "./parse-body.ts";
import { replyText } from "./reply-text.ts";

/** Answers the other processes of the run, for all servers of this one, on a socket only this user can open. */
export class LinkEdge {
  readonly #apps: ReadonlyMap<string, ServerApp>;
  readonly #server: Server;
  readonly #callers = new Set<FrameSocket>();

  private constructor(apps: ReadonlyMap<string, ServerApp>) {
    this.#apps = apps;
    this.#server = createServer((socket) => this.#welcome(socket));
    this.#server.unref();
  }

  static async listen(apps: ReadonlyMap<string, ServerApp>, socketPath: string): Promise<LinkEdge> {
    const edge = new LinkEdge(apps);
    // A server that was killed and started again finds its own.
    rmSync(socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      edge.#server.once("error", reject);
      edge.#server.listen(socketPath, () => resolve());
    });
    return edge;
  }

  close(): void {
    this.#server.close();
    for (const caller of [...this.#callers]) caller.close();
  }

  #welcome(socket: Socket): void {
    const running = new Map<number, EdgeCall>();
    const frames = new FrameSocket(socket, MAX_MESSAGE_BYTES, {
      received: (head, text) => {
        const call = head as CallHead | readonly [id: number];
        if (call.length === 1) running.get(call[0])?.abort(new Error("the caller closed the connection"));
        else void this.#answer(frames, running, call, text);
      },
      closed: () => {
        this.#callers.delete(frames);
        for (const call of running.values()) call.abort(new Error("the caller closed the connection"));
      },
    });
    this.#callers.add(frames);
  }

  async #answer(
    frames: FrameSocket,
    running: Map<number, EdgeCall>,
    [id, server, method, path, cookies, headers]: CallHead,
    text: string,
  ): Promise<void> {
    const app = this.#apps.get(server);
    const call = new EdgeCall(method, path, parseBody(text), { cookies, headers });
    let reply: AppReply = { status: 404, body: { detail: "Not Found" }, cookies: {} };
    let answer: string;
    running.set(id, call);
    try {
      if (app) reply = await app.handle(call);
      answer = await replyText(reply);
    } catch (error) {
      if (app) reply = app.unwritable(call, error);
      answer = await replyText(reply);
    } finally {
      running.delete(id);
    }
    const head: ReplyHead = [id, reply.status, reply.cookies, reply.headers ?? {}];
    frames.send(head, answer);
  }
}
