import { expect, it, vi } from "vitest";
import { defineResourcesServer } from "../index.ts";
import { type RunEvent, runEvaluation, startServers } from "./index.ts";

const model = { type: "random_model" };
const rows = [{ responses_create_params: { input: "one" } }];

async function listening(urls: readonly string[]): Promise<string[]> {
  const replies = await Promise.allSettled(urls.map((url) => fetch(url)));
  return urls.filter((_, index) => replies[index]?.status === "fulfilled");
}

it.each(["prepared", "starting", "ready"])("frees the ports when the signal fires at '%s'", async (at) => {
  const environment = defineResourcesServer({ verify: () => ({ reward: 1 }) });
  const controller = new AbortController();
  const run = runEvaluation({ environment, model }, { input: rows, signal: controller.signal });
  const urls: string[] = [];
  const follow = (event: RunEvent) => {
    const type = event.type === "server" ? event.event.type : event.type;
    if (event.type === "server" && event.event.type === "starting") urls.push(event.event.url);
    if (type === at) controller.abort(new Error("enough"));
  };
  const read = async () => {
    for await (const event of run.events) follow(event);
  };
  await expect(read()).rejects.toThrow("enough");
  await expect(run.result).rejects.toThrow("enough");
  expect(await listening(urls)).toEqual([]);
});

it("logs a `stop` that throws", async () => {
  const environment = defineResourcesServer({
    stop: () => {
      throw new Error("the door is stuck");
    },
    verify: () => ({ reward: 1 }),
  });
  const run = runEvaluation({ environment, model }, { input: rows });
  const lines: string[] = [];
  for await (const event of run.events)
    if (event.type === "server" && event.event.type === "log") lines.push(event.event.line);
  expect(lines).toEqual(["warning: the server did not stop cleanly: the door is stuck"]);
});

it("does not call `stop` of a server whose `start` failed", async () => {
  const stop = vi.fn();
  const environment = defineResourcesServer({
    start: () => Promise.reject(new Error("no data")),
    stop,
    verify: () => ({ reward: 1 }),
  });
  await expect(startServers({ environment, model }, { head: false })).rejects.toThrow("no data");
  expect(stop).not.toHaveBeenCalled();
});
