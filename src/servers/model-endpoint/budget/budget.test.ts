import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { CostMeter, RUN_METER, runMeter } from "../cost.ts";
import { BudgetClient } from "./budget-client.ts";
import { BudgetServer } from "./budget-server.ts";

async function run(processes: number, globalConfig: Record<string, unknown>) {
  const server = await BudgetServer.listen(globalConfig);
  onTestFinished(() => server.close());
  const clients: BudgetClient[] = [];
  for (let index = 0; index < processes; index++) {
    const client = await BudgetClient.open(server.socketPath);
    if (!client) throw new Error("no connection");
    clients.push(client);
    onTestFinished(() => client.close());
  }
  const meters = clients.map((client) => {
    const meter = new CostMeter(1, "the run (max_cost)");
    client.share(RUN_METER, meter);
    return meter;
  });
  return { server, clients, meters };
}

/** Messages between processes take a while, longer on a busy machine. */
const eventually = (assertions: () => void) => vi.waitFor(assertions, { timeout: 10_000, interval: 5 });

it("a budget applies to all processes together", async () => {
  const config = { max_cost: 1 };
  const { meters } = await run(2, config);
  const [one, other] = meters;
  one?.add(0.3);
  other?.add(0.3);
  await eventually(() => expect(one?.spent).toBeCloseTo(0.6));
  one?.check();
  other?.add(0.3);
  // A co-hosted server uses the meter of the process that keeps the budgets.
  runMeter(config).add(0.2);
  await eventually(() => {
    expect(() => one?.check()).toThrow("the budget of the run (max_cost) is spent: $1.1000 of $1");
    expect(() => runMeter(config).check()).toThrow("$1.1000 of $1");
  });
});

it("a process that joins late knows the spent amount", async () => {
  const { server, meters } = await run(2, { max_cost: 1 });
  meters[0]?.add(0.7);
  await eventually(() => expect(meters[1]?.spent).toBeCloseTo(0.7));
  const late = await BudgetClient.open(server.socketPath);
  onTestFinished(() => late?.close());
  const meter = new CostMeter(1, "the run (max_cost)");
  late?.share(RUN_METER, meter);
  await eventually(() => expect(meter.spent).toBeCloseTo(0.7));
});

it("counts every cost once when many arrive at once", async () => {
  const { meters } = await run(3, { max_cost: 1000 });
  for (let round = 0; round < 20; round++) {
    for (const meter of meters) meter.add(1);
    await sleep(5);
  }
  const spent = () => meters.map((meter) => Math.round(meter.spent));
  await eventually(() => expect(spent()).toEqual([60, 60, 60]));
  // A cost that counts twice would arrive later.
  await sleep(50);
  expect(spent()).toEqual([60, 60, 60]);
});

it("each process counts alone when the server is gone", async () => {
  const { server, clients, meters } = await run(2, { max_cost: 1 });
  meters[0]?.add(0.4);
  await eventually(() => expect(meters[1]?.spent).toBeCloseTo(0.4));
  server.close();
  await eventually(() => expect(clients[0]?.isOpen).toBe(false));
  meters[1]?.add(0.7);
  expect(() => meters[1]?.check()).toThrow("is spent");
});
