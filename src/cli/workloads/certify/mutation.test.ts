import path from "node:path";
import { expect, it } from "vitest";
import { installRoot } from "../../../config/paths.ts";
import { findTargets } from "../audit/targets.ts";
import { MutableServer } from "./mutable-server.ts";
import { measureMutants } from "./mutation.ts";

const root = installRoot();
const directory = path.join(root, "resources_servers/xlam_fc");

it("puts faults of many kinds into the code of a server", async () => {
  const { mutants } = await MutableServer.open(path.join(directory, "app.ts"), root);
  const some = mutants.find(({ from, to }) => from === "every" && to === "some");
  expect(some).toMatchObject({ file: "match-calls.ts", operator: "method" });
  expect(new Set(mutants.map(({ operator }) => operator)).size).toBeGreaterThanOrEqual(5);
});

it("finds the faults of xlam_fc, and lists the survivors with their lines", {
  timeout: 120_000,
}, async () => {
  const configFile = path.join(directory, "configs/xlam_fc.yaml");
  const options = { configFile, cwd: root, env: {}, installRoot: root, limit: 5 };
  const [target] = await findTargets(options);
  if (target === undefined) throw new Error("xlam_fc has no example rows");
  const entry = path.join(directory, "app.ts");
  const result = await measureMutants({ target, entry, installRoot: root, limit: 200, hanging: [] });
  expect(result.score).toBeGreaterThanOrEqual(0.85);
  expect(result.killed + result.survivors.length + result.waived).toBe(result.tried);
  expect(result.survivors.some(({ from, to }) => from === "every" && to === "some")).toBe(false);
  for (const { line, diff } of result.survivors) {
    expect(line).toBeGreaterThan(0);
    expect(diff[0]).not.toBe(diff[1]);
  }
});
