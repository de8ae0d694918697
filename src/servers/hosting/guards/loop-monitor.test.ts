import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type LoopLag, LoopMonitor } from "./loop-monitor.ts";

function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function watched(cpu = () => performance.now()): Promise<{ monitor: LoopMonitor; lags: LoopLag[] }> {
  const lags: LoopLag[] = [];
  const monitor = new LoopMonitor((lag) => lags.push(lag), cpu);
  onTestFinished(() => monitor.stop());
  monitor.begin();
  // Monitoring begins with the first whole second.
  await sleep(1_100);
  return { monitor, lags };
}

it("names the handler that blocked the loop after awaits of settled promises", async () => {
  const { monitor, lags } = await watched();
  let rested = 0;
  // The first slow call of a route may have loaded code.
  monitor.began("tools", "/loops");
  hold(60);
  await sleep(0);
  monitor.began("tools", "/seed_session");
  monitor.began("tools", "/loops", () => rested++);
  await null;
  await null;
  hold(120);
  await expect.poll(() => lags.find(({ server }) => server === "tools"), { timeout: 3_000 }).toBeDefined();
  const [lag] = lags.filter(({ server }) => server === "tools");
  expect(lag?.path).toBe("/loops");
  expect(lag?.heldMs).toBeGreaterThanOrEqual(119);
  expect(lag?.lagMs).toBeGreaterThanOrEqual(lag?.heldMs ?? 0);
  expect(rested).toBe(1);
});

it("names a server once", async () => {
  const { monitor, lags } = await watched();
  const slowCall = async (server: string) => {
    monitor.began(server, "/loops");
    hold(60);
    await sleep(1_200);
  };
  for (const server of ["tools", "tools", "tools", "game", "game"]) await slowCall(server);
  expect(lags.map(({ server }) => server)).toEqual(["tools", "game"]);
});

it("blames nobody for time that the machine spent on others", async () => {
  const { monitor, lags } = await watched(() => 0);
  for (let call = 0; call < 2; call++) {
    monitor.began("tools", "/loops");
    hold(300);
    await sleep(1_200);
  }
  expect(lags).toEqual([]);
});

it("ignores the time before the servers have started", async () => {
  const lags: LoopLag[] = [];
  const monitor = new LoopMonitor((lag) => lags.push(lag));
  onTestFinished(() => monitor.stop());
  await sleep(1_100);
  hold(400);
  await sleep(1_100);
  expect(lags).toEqual([]);
});

it("names no handler for code that ran after the loop continued", async () => {
  const { monitor, lags } = await watched();
  monitor.began("tools", "/quick");
  await sleep(30);
  hold(400);
  await expect.poll(() => lags.find(({ lagMs }) => lagMs > 300), { timeout: 3_000 }).toBeDefined();
  expect(lags.find(({ lagMs }) => lagMs > 300)).toMatchObject({
    server: undefined,
    path: undefined,
    heldMs: 0,
  });
});
