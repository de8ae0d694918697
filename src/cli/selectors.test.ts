import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SelectorKind } from "./command.ts";
import { selectConfig } from "./selectors.ts";

const benchmark = "a:\n  responses_api_agents:\n    x:\n      datasets: [{type: benchmark}]\n";
const first = {
  "benchmarks/gpqa/config.yaml": benchmark,
  "benchmarks/gpqa/diamond.yaml": benchmark,
  "benchmarks/suite/easy/config.yaml": benchmark,
  "benchmarks/suite/very_hard/config.yaml": benchmark,
  "benchmarks/both/flavor.yaml": benchmark,
  "benchmarks/both/flavor/config.yaml": benchmark,
  "benchmarks/notes/config.yaml": "plain: data\n",
  "environments/maze/config.yaml": "",
  "environments/maze/large.yaml": "",
  "resources_servers/mcqa/configs/mcqa.yaml": "",
  "resources_servers/mcqa/configs/strict.yaml": "",
  "responses_api_models/openai_model/configs/openai_model.yaml": "",
};
const second = {
  "resources_servers/mcqa/configs/mcqa.yaml": "",
  "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml": "",
};

let roots: string[] = [];
beforeAll(() => {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), "selectors-")));
  roots = [path.join(base, "first"), path.join(base, "second"), path.join(base, "link")];
  for (const [root, files] of [
    [roots[0], first],
    [roots[1], second],
  ] as const) {
    for (const [file, text] of Object.entries(files)) {
      const target = path.join(root ?? "", file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
  symlinkSync(roots[1] ?? "", roots[2] ?? "");
});
afterAll(() => rmSync(path.dirname(roots[0] ?? ""), { recursive: true }));

const warnings: string[] = [];
const select = async (kind: SelectorKind, value: string) => {
  warnings.length = 0;
  const file = await selectConfig(kind, kind, value, { roots, warn: (line) => warnings.push(line) });
  return path.relative(path.dirname(roots[0] ?? ""), file);
};

describe("selectConfig", () => {
  it("finds the config of each kind, and its flavors", async () => {
    expect(await select("benchmark", "gpqa")).toBe("first/benchmarks/gpqa/config.yaml");
    expect(await select("benchmark", "gpqa/diamond")).toBe("first/benchmarks/gpqa/diamond.yaml");
    expect(await select("benchmark", "suite/easy")).toBe("first/benchmarks/suite/easy/config.yaml");
    expect(await select("environment", "maze")).toBe("first/environments/maze/config.yaml");
    expect(await select("environment", "maze/large")).toBe("first/environments/maze/large.yaml");
    expect(await select("resources-server", "mcqa/strict")).toBe(
      "first/resources_servers/mcqa/configs/strict.yaml",
    );
    expect(await select("model-type", "openai_model")).toBe(
      "first/responses_api_models/openai_model/configs/openai_model.yaml",
    );
  });

  it("accepts every name that `gym list environments` prints", async () => {
    expect(await select("environment", "gpqa")).toBe("first/benchmarks/gpqa/config.yaml");
    expect(await select("environment", "resources_servers/mcqa/strict")).toBe(
      "first/resources_servers/mcqa/configs/strict.yaml",
    );
    expect(await select("environment", "mcqa/strict")).toBe(
      "first/resources_servers/mcqa/configs/strict.yaml",
    );
    expect(await select("environment", "maze/large")).toBe("first/environments/maze/large.yaml");
  });

  it("prefers a nested folder to a flavor", async () => {
    expect(await select("benchmark", "both/flavor")).toBe("first/benchmarks/both/flavor/config.yaml");
  });

  it("uses the first root and warns about others; the same file counts once", async () => {
    expect(await select("resources-server", "mcqa")).toBe("first/resources_servers/mcqa/configs/mcqa.yaml");
    expect(warnings).toEqual([
      `Warning: \`--resources-server mcqa\` exists more than once; using ${roots[0]}/resources_servers/mcqa/configs/mcqa.yaml. ` +
        `Also found: ${roots[1]}/resources_servers/mcqa/configs/mcqa.yaml. Use \`--config\` to choose one of those.`,
    ]);
  });

  it("accepts older names", async () => {
    expect(await select("resources-server", "simple_weather")).toBe(
      "second/resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml",
    );
  });

  it("reports the path and the nearest name", async () => {
    await expect(select("benchmark", "gpqaa")).rejects.toThrow(
      "`--benchmark gpqaa` was specified which implies config `benchmarks/gpqaa/config.yaml`, which does not exist. " +
        "Did you mean `gpqa`? See available benchmark configs in `benchmarks`, or with `gym list benchmarks`.",
    );
    await expect(select("resources-server", "mcqq")).rejects.toThrow(
      "implies config `resources_servers/mcqq/configs/mcqq.yaml`, which does not exist. Did you mean `mcqa`? " +
        "See available resources-server configs in `resources_servers`, or with `gym list resources-servers`.",
    );
    await expect(select("model-type", "zzz")).rejects.toThrow(
      "which does not exist. See available model-type configs",
    );
    await expect(select("agent-type", "nope")).rejects.toThrow("or with `gym list agents`.");
  });

  it("suggests the flavors of an existing component", async () => {
    await expect(select("resources-server", "mcqa/strcit")).rejects.toThrow(
      "Did you mean `mcqa/strict`? See available resources-server configs in `resources_servers/mcqa/configs`: mcqa, mcqa/strict.",
    );
    await expect(select("environment", "maze/lrge")).rejects.toThrow("Did you mean `maze/large`?");
  });

  it("suggests the shortest benchmark of a folder of benchmarks, and only real benchmarks", async () => {
    await expect(select("benchmark", "suite")).rejects.toThrow("Did you mean `suite/easy`?");
    await expect(select("benchmark", "note")).rejects.toThrow("which does not exist. See available");
  });
});
