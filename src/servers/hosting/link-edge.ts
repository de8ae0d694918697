import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { abortController } from "../../base/transport/light-door.ts";
import { FrameSocket } from "../calls/link/frame-socket.ts";
import { type CallHead, MAX_FRAME_BYTES, type ReplyHead } from "../calls/link/links.ts";
import { type AppCall, Reply } from "../calls/server-call.ts";
import type { RequestHandler } from "./app.ts";
import { parseBody, requireReplySize, streamedText } from "./body.ts";

/** Answers the other processes of the run for all servers of this process, on a socket that only this user can open. */
export class LinkEdge {
  readonly #apps: ReadonlyMap<string, RequestHandler>;
  readonly #server: Server;
  readonly #callers = new Set<FrameSocket>();

  private constructor(apps: ReadonlyMap<string, RequestHandler>) {
    this.#apps = apps;
    this.#server = createServer((socket) => this.#welcome(socket));
    this.#server.unref();
  }

  static async listen(apps: ReadonlyMap<string, RequestHandler>, socketPath: string): Promise<LinkEdge> {
    const edge = new LinkEdge(apps);
    // A restarted server finds the socket of its killed predecessor.
    rmSync(socketPath, { force: true });
    await once(edge.#server.listen(socketPath), "listening");
    return edge;
  }

  close(): void {
    this.#server.close();
    for (const caller of [...this.#callers]) caller.close();
  }

  #welcome(socket: Socket): void {
    const running = new Map<number, AbortController>();
    const frames = new FrameSocket(socket, MAX_FRAME_BYTES, {
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
    running: Map<number, AbortController>,
    [id, server, method, path, cookies, headers]: CallHead,
    text: string,
  ): Promise<void> {
    const app = this.#apps.get(server);
    const controller = abortController();
    const { signal } = controller;
    const call: AppCall = { method, path, body: parseBody(text), cookies, headers, signal };
    const send = async (reply: Reply): Promise<void> => {
      const text = await streamedText(reply);
      requireReplySize(text, path);
      // The events arrive in one piece, but the final receiver still sees events.
      const type = reply.stream && { "content-type": "text/event-stream; charset=utf-8" };
      const head: ReplyHead = [id, reply.status, reply.cookies, { ...type, ...reply.headers }];
      frames.send(head, text);
    };
    running.set(id, controller);
    try {
      await send(app ? await app.handle(call) : new Reply({ status: 404, body: { detail: "Not Found" } }));
    } catch (error) {
      if (app) await send(app.unwritable(call, error));
    } finally {
      running.delete(id);
    }
  }
}
