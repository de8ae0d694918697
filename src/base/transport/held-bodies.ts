import type { Socket } from "node:net";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { undici } from "./lazy-undici.ts";

/**
 * undici 7 ends the process with an assertion when a server closes a connection while the reader holds its body back
 * (nodejs/undici#5360). undici 8 does not, but requires Node 22.19. So a body that is held back continues before undici
 * sees the end of a connection: what has arrived is then delivered, and the reader may pause again afterwards.
 */
const held = new Set<Dispatcher.DispatchController>();
let ending = false;

/** Pauses a body; its reader must call `release` when the exchange is over. */
export function hold(controller: Dispatcher.DispatchController): void {
  if (ending) return void controller.resume();
  held.add(controller);
  controller.pause();
}

export function release(controller: Dispatcher.DispatchController): void {
  held.delete(controller);
}

/** The `factory` of agents. Their connections may end while a body is held back with `hold`. */
export function poolOfSafeSockets(origin: string | URL, options: Pool.Options): Pool {
  const { connect } = options;
  const { buildConnector, Pool } = undici();
  return new Pool(origin, {
    ...options,
    connect: withSafeEnd(typeof connect === "function" ? connect : buildConnector(connect)),
  });
}

/** An interceptor that reports the bodies whose readers pause them. */
export function reportsHeldBodies(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onResponseStart: (controller, ...start) => {
        handler.onResponseStart?.(controller, ...start);
        if (controller.paused) hold(controller);
      },
      onResponseData: (controller, chunk) => {
        handler.onResponseData?.(controller, chunk);
        if (controller.paused) hold(controller);
      },
      onResponseEnd: (controller, trailers) => {
        release(controller);
        handler.onResponseEnd?.(controller, trailers);
      },
      onResponseError: (controller, error) => {
        release(controller);
        handler.onResponseError?.(controller, error);
      },
    });
}

function withSafeEnd(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) {
        socket.prependListener("end", resumeHeld);
        socket.prependListener("error", notAnEnd);
      }
      callback(...result);
    });
}

/** Which connection carries which body is not known. A body that continues too early pauses again at its next chunk. */
function resumeHeld(): void {
  const waiting = [...held];
  held.clear();
  ending = true;
  try {
    for (const controller of waiting) controller.resume();
  } finally {
    ending = false;
  }
}

/** undici takes a reset within a body for its end, unless the error has another code. */
function notAnEnd(this: Socket, error: NodeJS.ErrnoException): void {
  if (this.bytesRead > 0 && error.code === "ECONNRESET") error.code = "EPIPE";
}
