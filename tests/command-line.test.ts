import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";
import { captureRun } from "./support/captured-run.ts";

const KILN = `kiln:
  resources_servers:
    oven:
      entrypoint: app.py
      domain: other
      port: 7001
      api_key: hush
`;

const run = async (files: Record<string, string | Uint8Array>, ...argv: string[]) => {
  const cwd = await project(files);
  return { cwd, ...(await runGym(argv, { cwd })) };
};

describe("gym env validate", () => {
  it("accepts every included config as complete, and names a missing key", async () => {
    const words = ["env", "validate", "--resources-server", "google_search", "--model-type", "random_model"];
    const missing = "google_search.resources_servers.google_search.google_api_key: is required";
    const strict = await run({}, ...words, "--strict");
    expect(strict.exitCode).toBe(1);
    expect(strict.stdout).toContain(missing);
    const search = await run({}, ...words);
    expect(search.exitCode).toBe(0);
    expect(search.stderr).toContain(missing);
    expect(search.stdout).toContain("It cannot be started here: see the warnings about google_search.");
    // In this process: a separate process for each of them would take a minute.
    const here = (...words: string[]) => captureRun(words, { cwd: tmpdir(), env: {} });
    const listed = JSON.parse((await here("list", "resources-servers", "--json")).stdout) as {
      name: string;
    }[];
    const invalid: string[] = [];
    // These need a key or an address of the user.
    const incomplete =
      /^(browsecomp_advanced_harness|critpt|google_search|longmt_eval|tavily_search\/tavily_search_judge_\w+)$/;
    for (const { name } of listed.filter((listing) => !incomplete.test(listing.name))) {
      const { exitCode, stdout } = await here(
        ...["env", "validate", "--strict", "--resources-server", name, "--model-type", "random_model"],
      );
      if (exitCode !== 0) invalid.push(`${name}: ${stdout}`);
    }
    expect(listed.length).toBeGreaterThan(40);
    expect(invalid).toEqual([]);
  }, 60_000);

  it("reports the position of a wrong reference", async () => {
    const key = "++mcqa_simple_agent.responses_api_agents.simple_agent.resources_server.name";
    const { exitCode, stdout } = await run(
      {},
      "env",
      "validate",
      "--resources-server",
      "mcqa",
      `${key}=nope`,
    );
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`refers to resources_servers/'nope', which is not configured (${key}:1:`);
  });

  it("accepts a valid config and writes no files", async () => {
    const app = `import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";
const config = z.object({ api_key: z.string() });
export default defineResourcesServer({ config, verify: () => ({ reward: 1 }) });
`;
    const { exitCode, stdout, stderr } = await run(
      { "a.yaml": KILN, "resources_servers/oven/app.ts": app },
      "env",
      "validate",
      "--config",
      "a.yaml",
    );
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "✓ Config is valid.\n", stderr: "" });
  });

  it("warns about a server whose folder is missing", async () => {
    const { exitCode, stderr } = await run({ "a.yaml": KILN }, "env", "validate", "--config", "a.yaml");
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      "Warning: Server 'kiln' needs a folder resources_servers/oven, which was not found.",
    );
  });

  it("reports as JSON", async () => {
    const good = await run({ "a.yaml": KILN }, "env", "validate", "--json", "--config", "a.yaml");
    expect(JSON.parse(good.stdout)).toEqual({
      valid: true,
      servers: [
        { name: "kiln", type: "resources_servers", implementation: "oven" },
        { name: "policy_model", type: "responses_api_models", implementation: "dummy_model" },
      ],
      warnings: [expect.stringContaining("needs a folder resources_servers/oven")],
    });
    const bad = await run({}, "env", "validate", "--json", "--config", "a.yaml");
    expect(bad.exitCode).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      valid: false,
      error: { class: "ConfigPathNotFoundError", code: "CONFIG_PATH_NOT_FOUND" },
    });
  });
});

/** User errors: one clear message, the correct exit code, no stack. */
describe("bad input", () => {
  const agent = (name: string) => `${KILN}agent:
  responses_api_agents:
    loop:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: ${name}}
`;
  const cases: {
    title: string;
    files: Record<string, string | Uint8Array>;
    words?: string[];
    says: string[];
    exitCode?: number;
    stream?: "stdout" | "stderr";
  }[] = [
    {
      title: "a missing file",
      files: {},
      says: ["Error: config_paths entry 'a.yaml' was not found", "<cwd>/a.yaml"],
    },
    {
      title: "malformed YAML",
      files: { "a.yaml": "a: [1, 2\nb: 3\n" },
      says: ["Error: ", "a.yaml' at line 2, column "],
    },
    {
      title: "a key given twice",
      files: { "a.yaml": "a: 1\na: 2\n" },
      says: ["Error: ", "a.yaml' at line 2, column 1: found duplicate key"],
    },
    {
      title: "an unknown reference",
      files: { "a.yaml": agent("kilm") },
      says: ["'kilm'", "Did you mean: 'kiln'?"],
    },
    {
      title: "an unset ???",
      files: { "a.yaml": `${KILN}a: {b: ???}\n`.replace("{b: ???}", "\n  b: ???") },
      says: ["a.b", "++a.b=<value>"],
    },
    {
      title: "an unknown interpolation",
      files: { "a.yaml": `${KILN}a: \${nobody}\n` },
      says: ["'a'", "'nobody'"],
    },
    {
      title: "a wrong type",
      files: { "a.yaml": KILN.replace("7001", "seven") },
      says: ["Almost-Server Detected: 'kiln'", "port"],
    },
    {
      title: "a list at the root",
      files: { "a.yaml": "- a\n" },
      says: ["Error: ", "must be a mapping", "(<cwd>/a.yaml:1:1)"],
    },
    {
      title: "an interpolation without its end",
      files: { "a.yaml": `${KILN}a: \${nobody.here\n` },
      says: ["Error: Could not read the interpolation", "at position 14 (<cwd>/a.yaml:"],
    },
    {
      title: "a text that needs quotes",
      files: { "a.yaml": KILN },
      words: ["++url=http://x/?q=größe"],
      says: [
        "unexpected '=' at position 18. Put the value in quotes, and the whole word for the shell: '++url=\"http://x/?q=größe\"'",
      ],
      stream: "stderr",
    },
    {
      title: "bytes that are not UTF-8",
      files: { "a.yaml": new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]) },
      says: ["Error: ", "a.yaml", "UTF-8"],
    },
    { title: "a directory", files: { "a.yaml/x": "" }, says: ["Error: ", "a.yaml", "directory"] },
    {
      title: "an include loop into nothing",
      files: { "a.yaml": "config_paths: [a.yaml, b.yaml]\n" },
      says: ["'b.yaml' was not found"],
    },
    {
      title: "config_paths that is not a list",
      files: { "a.yaml": "config_paths: {x: 1}\n" },
      says: ["Error: ", "config_paths"],
    },
    {
      title: "a bad override",
      files: { "a.yaml": KILN },
      words: ["colour=red"],
      says: ["Could not override 'colour'", "+colour=red"],
      stream: "stderr",
    },
    {
      title: "an unreadable override",
      files: { "a.yaml": KILN },
      words: ["+a=[1"],
      says: ["+a=[1"],
      stream: "stderr",
    },
    {
      title: "a workload and a config",
      files: { "a.yaml": KILN },
      words: ["nonsense"],
      says: ["Error: ", "do not accept a run config", "config_paths"],
    },
    {
      title: "a key set twice",
      files: { "a.yaml": KILN },
      words: ["--model", "a", "+policy_model_name=b"],
      says: ["policy_model_name"],
      stream: "stderr",
    },
    {
      title: "an unknown flag",
      files: {},
      words: ["--cofnig", "x"],
      says: ["gym env validate: error: unrecognized arguments: --cofnig. Did you mean `--config`?"],
      exitCode: 2,
      stream: "stderr",
    },
    {
      title: "an unknown component",
      files: {},
      words: ["--resources-server", "no_such_thing"],
      says: ["gym env validate: error: `--resources-server no_such_thing` was specified"],
      exitCode: 2,
      stream: "stderr",
    },
  ];
  for (const { title, files, words = [], says, exitCode = 1, stream = "stdout" } of cases) {
    it(`${title}: one message, exit ${exitCode}`, async () => {
      const result = await run(files, "env", "validate", "--config", "a.yaml", ...words);
      expect(result.exitCode).toBe(exitCode);
      for (const text of says) expect(result[stream]).toContain(text.replace("<cwd>", result.cwd));
      expect(result[stream === "stdout" ? "stderr" : "stdout"]).toBe("");
      expect(result[stream]).not.toMatch(/^\s+at .*[:(]/m);
    });
  }
});

it("rejects a word that is not an override", async () => {
  const { exitCode, stdout, stderr } = await run(
    { "a.yaml": KILN },
    "env",
    "resolve",
    "--config",
    "a.yaml",
    "nonsense",
  );
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("nonsense");
});

it("asks once for the model under test and names its flags", async () => {
  const words = ["env", "resolve", "--model-type", "openai_model"];
  const none = await run({}, ...words);
  expect(none.stdout).toContain("references 'policy_base_url', which is not defined");
  expect(none.stdout).toContain(
    "The model under test is not set: policy_base_url, policy_api_key, policy_model_name are missing.\n" +
      "Give it with --model-url URL --model-api-key KEY --model NAME, in env.yaml, or as ++policy_base_url=<value> ",
  );
  expect(none.stdout).not.toContain("Did you mean");
  const one = await run({}, ...words, "--model-url", "http://127.0.0.1:1/v1", "--model", "m");
  expect(one.stdout).toContain(
    "Give it with --model-api-key KEY, in env.yaml, or as ++policy_api_key=<value>.",
  );
});

it("warns about blocks and references that are almost servers", async () => {
  const yaml = "kiln:\n  resource_servers:\n    oven: {entrypoint: app.py}\n";
  const { exitCode, stdout, stderr } = await run({ "a.yaml": yaml }, "env", "validate", "--config", "a.yaml");
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("The config has no servers")]);
  expect(stderr).toContain("Warning: 'kiln' is not a server: 'resource_servers' is not a server type");
  expect(stderr).toContain("Did you mean 'resources_servers'?");
});

it("shows help for `gym help` too", async () => {
  const [direct, asked] = await Promise.all([
    run({}, "env", "start", "--help"),
    run({}, "help", "env", "start"),
  ]);
  expect([asked.exitCode, asked.stdout]).toEqual([0, direct.stdout]);
  expect((await run({}, "help")).stdout).toMatch(/^usage: gym /);
  const unknown = await run({}, "help", "envv");
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean `env`?")]);
});

it("ignores env.yaml also where Node sees the flags", async () => {
  const cwd = await project({ "env.yaml": "max_costs: 1\n" });
  const words = ["env", "validate", "--resources-server", "mcqa", "--model-type", "random_model"];
  const node = (...more: string[]) =>
    promisify(execFile)("node", [path.join(repository, "bin/gym.js"), ...words, ...more], { cwd });
  await expect(node()).rejects.toMatchObject({ code: 1 });
  expect((await node("--env-yaml", "none")).stdout).toContain("Config is valid");
});

it("reports in one line that its output cannot be written", async () => {
  const gym = path.join(repository, "bin/gym.js");
  const line = 'node "$0" --help > /dev/full; echo "$?"';
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", line, gym]);
  expect(stdout).toBe("1\n");
  expect(stderr).toBe("gym: the output cannot be written: ENOSPC: no space left on device, write\n");
});

describe("gym env resolve", () => {
  it("prints only the config on stdout", async () => {
    const files = {
      "a.yaml": "config_paths: [c.yaml]\n",
      "b.yaml": "config_paths: [c.yaml]\n",
      "c.yaml": KILN,
    };
    const { stdout, stderr } = await run(files, "env", "resolve", "--config", "a.yaml", "--config", "b.yaml");
    expect(stdout).toMatch(/^(?:config_paths|kiln):/);
    expect(stderr).toContain("c.yaml");
  });

  it("prints the masked config in order, with defaults after the user's keys", async () => {
    const files = { "main.yaml": KILN, "env.yaml": "zeta: 1\n" };
    const { stdout, exitCode } = await run(files, "env", "resolve", "--config", "main.yaml", "+alpha=2");
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      "api_key: '****'\n      host: 127.0.0.1\nzeta: 1\nconfig_paths:\n- main.yaml\nalpha: 2\n",
    );
    expect(stdout).not.toContain("hush");
  });

  it("prints the same data as JSON", async () => {
    const { stdout } = await run({ "main.yaml": KILN }, "env", "resolve", "--config", "main.yaml", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      kiln: { resources_servers: { oven: { port: 7001, api_key: "****" } } },
      config_paths: ["main.yaml"],
    });
  });

  it("explains where a value came from", async () => {
    const files = {
      "base.yaml": "limit: 1\nkeys: {api_key: hush}\n",
      "main.yaml": "config_paths: [base.yaml]\nlimit: 2\n",
      "env.yaml": "limit: 3\n",
    };
    const explain = (...words: string[]) =>
      run(files, "env", "resolve", "--config", "main.yaml", "+limit=4", "--explain", ...words);
    const { stdout, exitCode } = await explain("limit");
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("limit = 4");
    expect(lines.slice(1).map((line) => line.trim())).toEqual([
      expect.stringMatching(/base\.yaml:1:\d+ +1$/),
      expect.stringMatching(/main\.yaml:2:\d+ +2$/),
      expect.stringMatching(/env\.yaml:1:\d+ +3$/),
      expect.stringMatching(/^✓ command line: \+limit +4$/),
    ]);
    expect((await explain("keys.api_key")).stdout).not.toContain("hush");
    expect(JSON.parse((await explain("limit", "--json")).stdout)).toMatchObject({ path: "limit", value: 4 });
  });

  it("uses text flags literally", async () => {
    const url = "http://host:1/v1?a=b,c#d";
    const { stdout } = await run({}, "env", "resolve", "--model-url", url, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ policy_base_url: url });
  });

  it("rejects a --search-dir that does not exist", async () => {
    const rejected = await run(
      {},
      "env",
      "validate",
      "--search-dir",
      "nowhere",
      "--resources-server",
      "mcqa",
    );
    expect(rejected).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("argument --search-dir: there is no directory"),
    });
  });

  it("finds components in --search-dir", async () => {
    const files = { "elsewhere/resources_servers/oven/configs/oven.yaml": KILN };
    const { stdout, cwd } = await run(
      files,
      "env",
      "resolve",
      "--search-dir",
      "elsewhere",
      "--resources-server",
      "oven",
      "--json",
    );
    expect(JSON.parse(stdout)).toMatchObject({
      config_paths: [`${cwd}/elsewhere/resources_servers/oven/configs/oven.yaml`],
      kiln: {},
    });
  });

  it("exits quietly if the reader closes the pipe", async () => {
    const cwd = await project({ "main.yaml": KILN });
    const gym = path.join(repository, "bin/gym.js");
    const line = 'node "$0" env resolve --config main.yaml | head -n 1; echo "${PIPESTATUS[0]}"';
    const { stdout, stderr } = await promisify(execFile)("bash", ["-c", line, gym], { cwd });
    expect({ stdout, stderr }).toEqual({ stdout: "kiln:\n0\n", stderr: "" });
  });

  it("shows the help of its config after resolving it", async () => {
    const help = await run({ "a.yaml": KILN }, "env", "resolve", "--config", "a.yaml", "+h=true");
    expect(help.exitCode).toBe(0);
    expect(help.stdout).toContain("Displaying help for gym env resolve");
    expect(help.stdout).toContain("Parameters of every config\n- config_paths ");
    const broken = await run({}, "env", "resolve", "--config", "a.yaml", "+help=true");
    expect(broken).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("Error: config_paths entry"),
    });
  });
});

describe("older commands", () => {
  const legacy = async (name: string, files: Record<string, string>, ...argv: string[]) => {
    const cwd = await project(files);
    await mkdir(path.join(cwd, "bin"));
    const program = path.join(cwd, "bin", name);
    await symlink(path.join(repository, "bin/legacy.js"), program);
    return runGym(argv, { cwd, program });
  };

  it("resolve configs", async () => {
    const files = { "a.yaml": KILN, "b.yaml": "limit: 1\n" };
    for (const name of ["ng_dump_config", "nemo_gym_dump_config"]) {
      const { exitCode, stdout, stderr } = await legacy(name, files, "+config_paths=[a.yaml,b.yaml]");
      expect(exitCode).toBe(0);
      expect(stdout).toContain("limit: 1\n");
      expect(stderr).toBe(
        `⚠  \`${name}\` is deprecated and will be removed in a future release; use \`gym env resolve\` instead.\n`,
      );
    }
  });

  it("read a list of paths from env.yaml", async () => {
    const files = { "a.yaml": KILN, "env.yaml": "mine:\n- a.yaml\n" };
    expect((await legacy("ng_dump_config", files, "+config_paths=${mine}")).stdout).toContain("kiln:\n");
  });

  it("show help and version", async () => {
    expect((await legacy("ng_help", {})).stdout).toMatch(/^usage: gym /);
    expect(JSON.parse((await legacy("ng_version", {}, "+json=true")).stdout)).toHaveProperty("nemo_gym");
  });
});

describe("completion", () => {
  it("works in bash with the generated script", async () => {
    const cwd = await project({});
    const gym = path.join(repository, "bin/gym.js");
    const script = `
      source <(node "$0" completion bash)
      complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gym_complete; echo "\${COMPREPLY[*]}"; }
      complete_words gym env val
      complete_words gym env resolve --expl
      complete_words gym completion f`;
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", script, gym], { cwd });
    expect(stdout).toBe("validate\n--explain\nfish\n");
  });
});

it("names the limit if too few files can be open", async () => {
  const cwd = await project({});
  const gym = path.join(repository, "bin", "gym.js");
  const words = "eval run --resources-server example_single_tool_call --model-type random_model -o out.jsonl";
  const failed = await promisify(execFile)("sh", ["-c", `ulimit -n 64; exec "$0" ${words}`, gym], {
    cwd,
  }).catch((error: { code: number; stderr: string }) => error);
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.stderr).toMatch(/^Error: EMFILE.*\nThe limit on open files is too low \(`ulimit -n`\)/);
  expect(failed.stderr).not.toContain("    at ");
});
