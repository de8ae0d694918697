import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checks } from "../../src/cli/workloads/audit/run-audit.ts";
import { readAuditSettings } from "../../src/cli/workloads/audit/settings.ts";
import { importTypeScript } from "../../src/config/import-typescript.ts";
import { installRoot } from "../../src/config/paths.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { PrepareContext } from "../../src/data/benchmarks/prepare-context.ts";
import { createTestServer } from "../../src/servers/hosting/test-server.ts";
import { runPrepare } from "../../src/testing/run-prepare.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-guides-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** The code blocks of a guide in one language. */
function blocks(guide: string, language: string): string[] {
  const text = readFileSync(path.join(installRoot(), "docs/guide", guide), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code = ""]) => code,
  );
}

function write(name: string, text: string): string {
  const file = path.join(base, name);
  writeFileSync(file, text);
  return file;
}

describe("docs/guide/auditing.md", () => {
  it("shows a valid audit.yaml", () => {
    const [settings = ""] = blocks("auditing.md", "yaml");
    write("audit.yaml", settings);
    expect(readAuditSettings(base, "lc_judge").judge).toEqual({ accept: "CORRECT", reject: "INCORRECT" });
    expect(readAuditSettings(base, "other").gold?.text).toBe("\\boxed{{{expected_answer}}}");
  });

  it("names every check", () => {
    const text = readFileSync(path.join(installRoot(), "docs/guide/auditing.md"), "utf8");
    for (const { name } of checks) expect(text).toContain(`| \`${name}\` |`);
  });
});

describe("docs/guide/benchmarks.md", () => {
  it("shows a config that resolves", async () => {
    const config = blocks("benchmarks.md", "yaml").find((text) => text.includes("trivia_agent:")) ?? "";
    write("config.yaml", config);
    const { servers } = await resolveConfig({
      cwd: base,
      env: {},
      noModel: true,
      offline: true,
      overrides: ["+config_paths=[config.yaml]"],
    });
    expect(servers.find(({ name }) => name === "trivia_agent")?.config["datasets"]).toHaveLength(1);
  });

  it("shows a script that runs", async () => {
    const [script = ""] = blocks("benchmarks.md", "ts");
    const { prepare } = (await importTypeScript(write("prepare.ts", script))) as {
      prepare: (args: { source?: string }, context: PrepareContext) => Promise<string>;
    };
    const source = write("rows.jsonl", '{"q": "Why?", "a": "Because."}\n');
    const { rows } = await runPrepare(prepare, {
      script: path.join(base, "prepare.ts"),
      outputDirectory: base,
      args: { source },
    });
    expect(rows).toEqual([{ question: "Why?", expected_answer: "Because." }]);
  });
});

describe("docs/guide/writing-an-environment.md", () => {
  it("shows a server that runs", async () => {
    const [code = ""] = blocks("writing-an-environment.md", "ts");
    const { default: definition } = await importTypeScript(write("app.ts", code));
    const server = await createTestServer(definition as never);
    expect((await server.tool("get_weather", { city: "Oslo" })).body.weather_description).toContain(
      "Oslo is cold",
    );
    await server.close();
  });
});
