import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { HeadServerError, runningServers } from "./head.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(answer: RequestListener): Promise<string> {
  const listening = createServer(answer);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", () => resolve()));
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

async function troubleAt(url: string): Promise<HeadServerError> {
  const error = await runningServers(url, new AbortController().signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HeadServerError);
  return error as HeadServerError;
}

it("distinguishes a missing head server, one that does not answer and another server", async () => {
  const url = await listen(() => {});
  const silent = await troubleAt(url);
  expect([silent.trouble, silent.message]).toEqual(["silent", expect.stringContaining("may be computing")]);
  // A port that was just closed may already belong to a server of another test.
  const absent = await troubleAt("http://127.0.0.1:2");
  expect([absent.trouble, absent.message]).toEqual(["absent", expect.stringContaining("gym env start")]);
}, 20_000);

it.each([
  ["another status", 404, '{"detail":"Not Found"}'],
  ["no JSON", 200, "<html>"],
  ["JSON of another kind", 200, '{"status":"ok"}'],
])("reports another server at the address: %s", async (_case, status, body) => {
  const url = await listen((_request, response) => response.writeHead(status).end(body));
  const error = await troubleAt(url);
  expect([error.trouble, error.message]).toEqual(["other", expect.stringContaining("is not a head server")]);
});
