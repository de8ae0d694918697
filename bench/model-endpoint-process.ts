/**
 * A model API that answers at once, in a process of its own, so that its work is not counted. The first part of the path is
 * its latency in milliseconds. It asks for the tool until the conversation holds a tool's answer.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EndpointAnswers } from "./model-endpoint.ts";

const KEEP_ALIVE_MS = 60_000;
const BACKLOG = 4_096;

const given = JSON.parse(process.argv[2] ?? "{}") as EndpointAnswers;
const response = JSON.stringify(given.response);
const completion = JSON.stringify(given.completion ?? null);
const toolCall = given.toolCall && JSON.stringify(given.toolCall);

// Whoever started it holds the other end: it ends with them, however they end.
process.stdin.resume().on("end", () => process.exit());
createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, reply) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => answer(request, reply, Buffer.concat(chunks)));
}).listen({ port: 0, host: "127.0.0.1", backlog: BACKLOG }, function (this: { address(): unknown }) {
  console.log((this.address() as AddressInfo).port);
});

function answer(request: IncomingMessage, reply: ServerResponse, body: Buffer): void {
  const [, latency, ...path] = (request.url ?? "").split("/");
  const text = path.at(-1) !== "responses" ? completion : nextTurn(body);
  const send = () => {
    reply.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    reply.end(text);
  };
  if (Number(latency) > 0) setTimeout(send, Number(latency));
  else send();
}

function nextTurn(body: Buffer): string {
  return toolCall === undefined || body.includes("function_call_output") ? response : toolCall;
}
