import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-author-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, text = ""): void {
  mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
  writeFileSync(path.join(base, name), text);
}

const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
const run = (...argv: string[]) => captureRun(argv, { cwd: base, env: environment });

describe("gym env init", () => {
  it("creates a resources server and the project around it, and lists the files", async () => {
    const { exitCode, stdout } = await run("env", "init", "--resources-server", "quiz");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("✓ Created resources_servers/quiz\n  package.json\n");
    for (const file of ["app.ts", "app.test.ts", "configs/quiz.yaml", "data/example.jsonl", "README.md"])
      expect(existsSync(path.join(base, "resources_servers/quiz", file)), file).toBe(true);
    expect((await run("env", "validate", "--resources-server", "quiz")).stdout).toBe("✓ Config is valid.\n");
  });

  it("prints JSON, and warns where a new component hides one that exists", async () => {
    const { exitCode, stdout, stderr } = await run("env", "init", "--resources-server", "mcqa", "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ component: "resources_servers/mcqa", kept: [] });
    expect(stderr).toMatch(
      /^Warning: resources_servers\/mcqa takes precedence over the one in .*\/resources_servers\/mcqa in/m,
    );
  });

  it("creates a project whose packages must be installed before its tests run", async () => {
    await run("env", "init", "--resources-server", "quiz");
    const { exitCode, stdout, stderr } = await run("env", "test", "--resources-server", "quiz");
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain(`cd ${base} && npm install`);
  });

  it("rejects an existing folder and does not change it", async () => {
    write("resources_servers/quiz/notes", "mine");
    const result = await run("env", "init", "+entrypoint=resources_servers/quiz");
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain("Folder already exists: resources_servers/quiz. Nothing was changed.");
    expect(readdirSync(base)).toEqual(["resources_servers"]);
    expect(existsSync(path.join(base, "resources_servers/quiz/app.ts"))).toBe(false);
  });

  it("runs under its older name", async () => {
    const { exitCode, stderr } = await captureRun(["+entrypoint=resources_servers/test_weather"], {
      startedAs: "ng_init_resources_server",
      cwd: base,
      env: environment,
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("use `gym env init` instead");
    expect(existsSync(path.join(base, "resources_servers/test_weather/app.ts"))).toBe(true);
  });

  it.each([
    { words: [], exitCode: 2, says: "missing required configuration: entrypoint" },
    { words: ["--from", "habor", "x"], exitCode: 1, says: "did you mean 'harbor'?" },
    { words: ["--from", "harbor", "nowhere"], exitCode: 1, says: "there is no directory 'nowhere'" },
    { words: ["--from", "openenv", "here"], exitCode: 1, says: "takes the address of a running server" },
    { words: ["--from", "openenv", "http://"], exitCode: 1, says: "takes the address of a running server" },
    { words: ["--from", "verifiers", "bad module!;rm"], exitCode: 1, says: "takes the module of a taskset" },
    { words: ["--from", "verifiers", "../../x"], exitCode: 1, says: "takes the module of a taskset" },
    { words: ["--from", "aviary", ":Class"], exitCode: 1, says: "or module:Class, not ':Class'" },
    { words: ["--from", "aviary", "../../x"], exitCode: 1, says: "or module:Class, not '../../x'" },
    { words: ["--name", "x"], exitCode: 2, says: "only allowed with --from" },
    { words: [], exitCode: 2, says: "--agent NAME, --model NAME or --from KIND SOURCE" },
    { words: ["--resources-server", "No Good"], exitCode: 1, says: "such as 'no_good'" },
    {
      words: ["--resources-server", "../up"],
      exitCode: 1,
      says: "entrypoint 'resources_servers/../up' must be",
    },
    { words: ["+entrypoint=elsewhere/x"], exitCode: 1, says: "the first part is one of resources_servers" },
    { words: ["--agent", "a", "--model", "b"], exitCode: 2, says: "not allowed with argument --agent" },
    {
      words: ["--agent", "a", "--profile", "custom-gym-verifier"],
      exitCode: 2,
      says: "only allowed with --environment",
    },
    {
      words: ["--benchmark", "b", "--reuse-verifier", "mcqa"],
      exitCode: 2,
      says: "needs --reward-range LOW HIGH",
    },
    {
      words: ["--benchmark", "b", "--reward-range", "0", "1"],
      exitCode: 2,
      says: "only allowed with --reuse-verifier",
    },
    {
      words: ["--benchmark", "b", "--reuse-verifier", "x", "--reward-range", "1", "0", "--higher-is-better"],
      exitCode: 1,
      says: "no verifier 'x'",
    },
    {
      words: [
        ...["--benchmark", "b", "--reuse-verifier", "example_multi_step", "--reward-range", "1", "0"],
        "--lower-is-better",
      ],
      exitCode: 2,
      says: "the lower one first",
    },
  ])("rejects $words", async ({ words, exitCode, says }) => {
    const result = await run("env", "init", ...words);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toContain(says);
    expect(existsSync(path.join(base, "package.json"))).toBe(false);
  });

  it("warns if the OpenEnv server does not respond, and still writes the environment", async () => {
    const server = createServer((_request, reply) => reply.writeHead(404).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const init = (name: string) => run("env", "init", "--from", "openenv", address, "--name", name);
    expect((await init("awake")).stderr).not.toContain("did not answer");
    await once(server.close(), "close");
    const { exitCode, stderr } = await init("asleep");
    expect(stderr).toContain(`the server at ${address} did not answer (connection_error)`);
    expect(exitCode).toBe(0);
    expect(existsSync(path.join(base, "environments/asleep/config.yaml"))).toBe(true);
  });

  it("offers the tools of an OpenEnv server whose actions are tool calls", async () => {
    const action = { properties: { type: { const: "call_tool" }, tool_name: {}, arguments: {} } };
    const server = createServer((_request, reply) => reply.end(JSON.stringify({ action })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await run("env", "init", "--from", "openenv", address, "--name", "tools");
    await once(server.close(), "close");
    expect(readFileSync(path.join(base, "environments/tools/config.yaml"), "utf8")).toContain("is_mcp: true");
  });

  it("never overwrites a file of an environment", async () => {
    write("environments/garden/config.yaml", "mine: 1\n");
    const result = await run("env", "init", "--environment", "garden");
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain("  - environments/garden/config.yaml\nNothing was written.");
    expect(readFileSync(path.join(base, "environments/garden/config.yaml"), "utf8")).toBe("mine: 1\n");
    expect(existsSync(path.join(base, "resources_servers"))).toBe(false);
  });
});

describe("gym env test", () => {
  it("names the folder of a server that does not exist", async () => {
    const missing = await run("env", "test", "--resources-server", "nowhere");
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain(`${base}/resources_servers/nowhere`);
    const near = await run("env", "test", "--resources-server", "mcqaa");
    expect(near.stderr).toContain("Did you mean `mcqa`?");
    const typo = await run("env", "audit", "mcqaa");
    expect(typo.exitCode).toBe(2);
    expect(typo.stderr).toContain(
      "argument NAME: there is no resources server, environment or benchmark 'mcqaa'. Did you mean `mcqa`?",
    );
    const odd = await run("env", "test", "+entrypoint=resources_servers");
    expect(odd.stderr).toContain("must name a server folder in two parts");
    expect((await run("env", "test", "+num_shards=2", "+shard_index=2")).exitCode).toBe(2);
    const both = await run("env", "test", "--all", "--resources-server", "mcqa");
    expect(both.exitCode).toBe(2);
    expect(both.stderr).toContain("--all tests every server; leave it out to test one");
  });

  it("reports a server without tests", async () => {
    write("resources_servers/bare/app.ts");
    const result = await run("env", "test", "--resources-server", "bare");
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toContain("resources_servers/bare has no tests");
  });
});

describe("gym env packages", () => {
  it("lists the packages of the server or its project", async () => {
    write("resources_servers/own/package.json", '{"dependencies": {"left": "1"}}');
    write("resources_servers/own/app.ts");
    const none = await run("env", "packages", "--resources-server", "own");
    expect(none.exitCode).toBe(1);
    expect(none.stdout).toContain("There is no node_modules for resources_servers/own");
    expect(none.stdout).toContain("gym env prefetch --config resources_servers/own/configs/own.yaml");
    await run("env", "init", "--resources-server", "plain");
    const plain = await run("env", "packages", "--resources-server", "plain");
    expect(plain.stdout).toContain(`cd ${base} && npm install\n`);
    write("resources_servers/own/node_modules/left/package.json", '{"name": "left", "version": "1.2.3"}');
    write("resources_servers/own/node_modules/@a/b/package.json", '{"name": "@a/b", "version": "0.1.0"}');
    const shown = await run("env", "packages", "--resources-server", "own");
    expect(shown.stdout).toBe(`Package list for: resources_servers/own
Environment: ${base}/resources_servers/own/node_modules
${"-".repeat(72)}
Package Version
------- -------
@a/b    0.1.0
left    1.2.3
`);
    const json = await run("env", "packages", "--resources-server", "own", "--json");
    expect(JSON.parse(json.stdout)).toEqual([
      { name: "@a/b", version: "0.1.0" },
      { name: "left", version: "1.2.3" },
    ]);
    const frozen = await run("env", "packages", "+entrypoint=resources_servers/own", "+format=freeze");
    expect(frozen.stdout).toBe("@a/b==0.1.0\nleft==1.2.3\n");
    expect((await run("env", "packages", "+entrypoint=resources_servers/own", "+format=yaml")).exitCode).toBe(
      2,
    );
  });
});

describe("gym env prefetch", () => {
  it("prepares each folder once", async () => {
    const server = (name: string) =>
      `${name}:\n  resources_servers:\n    kiln: {entrypoint: app.ts, domain: other}\n`;
    write("resources_servers/kiln/app.ts");
    write("two.yaml", server("one") + server("two"));
    const result = await run("env", "prefetch", "--config", "two.yaml");
    expect(result).toEqual({
      exitCode: 0,
      stdout:
        "Pre-warming venv for: resources_servers/kiln\nSkipping duplicate: resources_servers/kiln\nPrefetch complete.\n",
      stderr: "",
    });
  });

  it("runs the prefetch function of an agent", async () => {
    write(
      "responses_api_agents/fetcher/app.ts",
      'import { defineAgent } from "nemo-gym";\nexport default defineAgent({\n' +
        "  prefetch: ({ config, log }) => log(`fetched ${config.what}`),\n" +
        '  responses: () => { throw new Error("unused"); },\n});\n',
    );
    write(
      "fetcher.yaml",
      "fetcher:\n  responses_api_agents:\n    fetcher: {entrypoint: app.ts, what: the tool}\n",
    );
    const result = await run("env", "prefetch", "--config", "fetcher.yaml");
    expect(result.stdout).toBe(
      "Pre-warming venv for: responses_api_agents/fetcher\nfetched the tool\nPrefetch complete.\n",
    );
  });
});
