import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { resolveLeniently } from "../../../config/config-metadata.ts";
import { installRoot } from "../../../config/paths.ts";
import { startServer } from "../audit/audited-server.ts";
import { readAuditSettings } from "../audit/settings.ts";
import { serverUnderAudit } from "../audit/targets.ts";
import { ConfigFiles } from "../catalog/config-files.ts";
import { loadManifest } from "../catalog/manifest.ts";
import { discoverWorkloads } from "../catalog/workloads.ts";
import { CASES_FILE } from "../verifier-cases/cases.ts";
import { exerciseCases } from "../verifier-cases/exercise.ts";
import { unfinishedTexts } from "./publish-workload.ts";
import { validateWorkload } from "./validate-workload.ts";

const root = installRoot();
const places = { cwd: root, env: {}, installRoot: root };
const servers = readdirSync(path.join(root, "resources_servers")).filter((name) =>
  existsSync(path.join(root, "resources_servers", name, CASES_FILE)),
);
const { entries, warnings } = discoverWorkloads(new ConfigFiles(places));
const described = entries.filter(({ manifestFile }) => manifestFile !== undefined);

describe("the workloads of this package", () => {
  it.each(servers)("%s passes its verifier cases", async (name) => {
    const directory = path.join(root, "resources_servers", name);
    const files = readdirSync(path.join(directory, "configs")).filter((file) => file.endsWith(".yaml"));
    const file = files.includes(`${name}.yaml`) ? `${name}.yaml` : files.sort()[0];
    const configFile = path.join(directory, "configs", file ?? "");
    const config = resolveLeniently(configFile, places);
    const instance = config.servers.find(({ type }) => type === "resources_servers");
    if (instance === undefined) throw new Error(`${configFile} has no resources server`);
    const { server } = await serverUnderAudit(instance, config, [root], { configFile, installRoot: root });
    if (server.definition.type !== "resources_servers") throw new Error("no resources server");
    const { minimum, maximum } = readAuditSettings(directory, path.basename(configFile, ".yaml")).reward;
    const results = await exerciseCases({
      file: path.join(directory, CASES_FILE),
      contract: { range: [minimum, maximum], higherIsBetter: true, determinism: "seeded" },
      server: {
        kind: server.definition.kind,
        start: (kind) => startServer(server, kind === "zero_reward" ? "reject" : "accept", () => {}),
      },
    });
    expect(results.length).toBeGreaterThanOrEqual(4);
  });

  it("have valid manifests", () => {
    expect(warnings).toEqual([]);
    const expected = [
      "aime24",
      "aime25",
      "calendar",
      "gsm8k",
      "instruction_following",
      "mmlu",
      "reasoning_gym",
      "workplace_assistant",
    ];
    expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(expected));
  });

  it.each(described)("$name matches its manifest", async ({ manifestFile = "", configFile, kind }) => {
    const report = await validateWorkload({ ...places, manifestFile, configFile });
    expect(report).toMatchObject({ kind, inferred_profile: "custom-gym-verifier", synchronized_fields: [] });
    expect(unfinishedTexts(loadManifest(manifestFile))).toEqual([]);
  });
});
