/**
 * A model API that responds at once, in a separate process, so that its work is not counted. The first part of the path is
 * its latency in milliseconds. It calls the tool until the conversation contains a tool output.
 *
 * It supports only the requests of the benches (HTTP/1.1, a content length, no pipelining): cores that share resources
 * slow down if both are busy, so the other side of a measurement must do little work.
 *
 * @module
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { EndpointAnswers } from "./model-endpoint.ts";

const BACKLOG = 4_096;

const given = JSON.parse(process.argv[2] ?? "{}") as EndpointAnswers;
const response = replyWith(given.response);
const completion = replyWith(given.completion ?? null);
const toolCall = given.toolCall && replyWith(given.toolCall);

// The process that started it holds the other end of the pipe: it exits with that process in every case.
process.stdin.resume().on("end", () => process.exit());
createServer({ noDelay: true }, serve).listen(
  { port: 0, host: "127.0.0.1", backlog: BACKLOG },
  function (this: {
    address(): unknown;
  }) {
    console.log((this.address() as AddressInfo).port);
  },
);

function replyWith(answer: object | null): Buffer {
  const text = JSON.stringify(answer);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return Buffer.from(head + text);
}

function serve(socket: Socket): void {
  let kept: Buffer | undefined;
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    const request = kept ? Buffer.concat([kept, bytes]) : bytes;
    kept = isComplete(request) ? undefined : request;
    if (kept === undefined) answer(socket, request);
  });
}

function isComplete(request: Buffer): boolean {
  const end = request.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(request.toString("latin1", 0, end))?.[1];
  return request.length >= end + 4 + Number(length ?? 0);
}

function answer(socket: Socket, request: Buffer): void {
  const [, latency, ...path] = request.toString("latin1", 0, request.indexOf(" HTTP/")).split("/");
  const reply = path.at(-1) !== "responses" ? completion : nextTurn(request);
  if (Number(latency) > 0) setTimeout(() => socket.write(reply), Number(latency));
  else socket.write(reply);
}

function nextTurn(request: Buffer): Buffer {
  return toolCall === undefined || request.includes("function_call_output") ? response : toolCall;
}
