import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { project } from "./gym-process.ts";
import { instance, startInstances } from "./support/run-instances.ts";

const running: RunningServers[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((servers) => servers.close()));
});

const BUSY = `
import { defineResourcesServer } from "nemo-gym";
function computePrimes() {
  const end = Date.now() + 60;
  let found = 0;
  for (let n = 2; Date.now() < end; n++) if (n % 2) found += Math.sqrt(n) > 1 ? 1 : 0;
  return found;
}
export default defineResourcesServer({
  tools: { work: { run: () => ({ found: computePrimes() }) } },
  verify: () => ({ reward: 1 }),
});
`;

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
}

const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as CpuProfile;
const namesIn = (file: string) => read(file).nodes.map(({ callFrame }) => callFrame.functionName);

describe.each([
  ["co-hosted", {}],
  ["in its own process", { hosting: "process" }],
])("profiles of a server, %s", (_mode, hosting) => {
  it("are written on request and at the end", async () => {
    const root = await project({ "resources_servers/busy/app.ts": BUSY });
    const directory = join(root, "profiles");
    const { servers } = await startInstances(
      [await instance("my_tools", "resources_servers", "busy", {}, [root])],
      { ...hosting, profiling_enabled: true, profiling_results_dirpath: directory },
    );
    running.push(servers);
    await servers.client.post("my_tools", "/work", {});
    const file = join(directory, "BusyResourcesServer___my_tools", "my_tools.cpuprofile");
    expect(existsSync(file)).toBe(false);
    const stats = await servers.client.get("my_tools", "/stats");
    expect([stats.status, stats.text()]).toEqual([200, ""]);
    expect(namesIn(file)).toContain("computePrimes");
    const before = read(file).samples.length;
    await servers.client.post("my_tools", "/work", {});
    await servers.close();
    expect(read(file).samples.length).toBeGreaterThan(before);
  });
});

it("writes a file for each worker", async () => {
  const root = await project({ "resources_servers/busy/app.ts": BUSY });
  const { servers } = await startInstances(
    [await instance("my_tools", "resources_servers", "busy", { num_workers: 2 }, [root])],
    { profiling_enabled: true, profiling_results_dirpath: root },
  );
  await servers.close();
  const folder = join(root, "BusyResourcesServer___my_tools");
  for (const worker of [0, 1])
    expect(namesIn(join(folder, `my_tools.${worker}.cpuprofile`))).toContain("(root)");
});

it("is off by default", async () => {
  const root = await project({ "resources_servers/busy/app.ts": BUSY });
  const { servers } = await startInstances([
    await instance("my_tools", "resources_servers", "busy", {}, [root]),
  ]);
  running.push(servers);
  expect((await servers.client.get("my_tools", "/stats")).status).toBe(404);
});
