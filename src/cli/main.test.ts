import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type CaptureOptions, captureRun } from "../../tests/support/captured-run.ts";
import { GymError } from "../base/errors.ts";
import { type CliProgram, defineCommand } from "./command.ts";
import { UsageError } from "./errors.ts";

const failures: Record<string, () => unknown> = {
  gym: () => new GymError("THING_BROKEN", "the thing broke"),
  config: () => new GymError("CONFIG_INVALID", "a key is wrong"),
  override: () => new GymError("CONFIG_OVERRIDE", "Could not override 'a'"),
  usage: () => new UsageError("no such thing"),
  bug: () => new TypeError("undefined is not a function"),
};

const start = defineCommand({
  words: "env start",
  summary: "start the servers",
  legacy: ["run", "run_few --limit 1"],
  flags: { limit: { kind: "value", key: "limit", metavar: "N", help: "at most this many" } },
  keys: { limit: { type: "int", help: "at most this many", default: 3 } },
  examples: ["gym env start --limit 5"],
  resolve: { requireServers: true, offline: true },
  async run({ flags, overrides, verbose, envFile, out }) {
    out(JSON.stringify({ flags, overrides, verbose, envFile }));
    return 0;
  },
});

const status = defineCommand({
  words: "env status",
  summary: "show the servers",
  flags: {},
  run: async () => 7,
});

const fail = defineCommand({
  words: "fail",
  summary: "fail in a chosen way",
  flags: {},
  positionals: { WAY: { help: "how" } },
  async run({ positionals }) {
    throw failures[positionals.WAY]?.();
  },
});

const program: CliProgram = {
  groups: [
    { name: "env", summary: "develop and run environments" },
    { name: "eval", summary: "nothing here works yet" },
  ],
  commands: [start, status, fail],
};

const gym = (line: string, options: CaptureOptions = {}) =>
  captureRun(line.split(" ").filter(Boolean), { program, ...options });

describe("help", () => {
  it("of the program lists the commands that exist", async () => {
    const { exitCode, stdout, stderr } = await gym("--help");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "usage: gym [-h] [--version] [--json] [-v] COMMAND ...

      NeMo Gym: build environments for language-model agents, run them, score what
      happened.

      commands:
        env                     develop and run environments
          start                 start the servers
          status                show the servers
        fail                    fail in a chosen way

      options:
        -h, --help              show this help message and exit
        --version               show the version, the main dependencies and the
                                system, then exit
        --json                  print JSON; the same as --json after the command
        -v, --verbose           log at debug level, here and in the servers

      Run \`gym COMMAND --help\` for the flags of a command.
      "
    `);
  });

  it("of a group and of a command", async () => {
    expect((await gym("env -h")).stdout).toMatchInlineSnapshot(`
      "usage: gym env [-h] COMMAND ...

      develop and run environments

      commands:
        start                   start the servers
        status                  show the servers

      options:
        -h, --help              show this help message and exit
      "
    `);
    expect((await gym("env start --he")).stdout).toMatchInlineSnapshot(`
      "usage: gym env start [-h] [-v] [--env-yaml PATH|none] [--limit N]
                           [key=value ...]

      Start the servers.

      options:
        -h, --help              show this help message and exit
        -v, --verbose           log at debug level, here and in the servers
        --env-yaml PATH|none    read this file instead of env.yaml; none: read no
                                env.yaml at all
        --limit N               at most this many

      config keys (set with +key=value):
        limit (int)             at most this many [default: 3]

      examples:
        gym env start --limit 5
      "
    `);
  });

  it("is wrapped to COLUMNS", async () => {
    const { stdout } = await gym("env start -h", { env: { COLUMNS: "40" } });
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it("accepts --json before a command that has it", async () => {
    const after = await captureRun(["list", "models", "--json"]);
    expect(await captureRun(["--json", "list", "models"])).toEqual(after);
    expect(JSON.parse(after.stdout)).toBeInstanceOf(Array);
    const refused = await captureRun(["--json", "env", "schema", "mcqa"]);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain("argument --json: this command has no JSON output");
  });

  it("is shown with exit code 1 when no command is given", async () => {
    const help = await gym("--help");
    for (const line of ["", "-v", "--json"]) expect(await gym(line)).toEqual({ ...help, exitCode: 1 });
    expect(await gym("env")).toEqual({ ...(await gym("env -h")), exitCode: 1 });
  });
});

describe("commands", () => {
  it("receive flags and overrides, and set the exit code", async () => {
    const { stdout } = await gym("env start --limit 5 +a=1");
    expect(JSON.parse(stdout)).toEqual({
      flags: { limit: "5" },
      overrides: ["+limit=5", "+a=1"],
      verbose: false,
      envFile: {},
    });
    expect((await gym("env status")).exitCode).toBe(7);
  });

  it("accept common flags and overrides anywhere", async () => {
    for (const line of ["-v env start", "env -v start", "env start -v"]) {
      expect(JSON.parse((await gym(line)).stdout)).toMatchObject({ verbose: true });
    }
    for (const line of ["--env-yaml=none env start", "env --env-yaml=none start"]) {
      expect(JSON.parse((await gym(line)).stdout)).toMatchObject({ envFile: { skipEnvYaml: true } });
    }
    expect(JSON.parse((await gym("+a=1 env start")).stdout)).toMatchObject({ overrides: ["+a=1"] });
  });

  it("that do not exist print the usage and the nearest name", async () => {
    expect(await gym("evn start")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "usage: gym [-h] [--version] [--json] [-v] COMMAND ...\n" +
        "gym: error: argument COMMAND: invalid choice: 'evn' (choose from 'env', 'fail') Did you mean `env`?\n",
    });
    expect((await gym("env strat")).stderr).toBe(
      "usage: gym env [-h] COMMAND ...\n" +
        "gym env: error: argument COMMAND: invalid choice: 'strat' (choose from 'start', 'status') Did you mean `start`?\n",
    );
    expect((await gym("eval run")).exitCode).toBe(2);
  });

  it("also run under their older names", async () => {
    const { exitCode, stdout, stderr } = await gym("ng_run --limit 5");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).flags).toEqual({ limit: "5" });
    expect(stderr).toContain("`ng_run` is deprecated");
  });

  it("read the file of --env-yaml instead of env.yaml, or no file", async () => {
    const cwd = await mkdtemp(path.join(os.tmpdir(), "env-yaml-"));
    try {
      await writeFile(path.join(cwd, "env.yaml"), "spoken: default\n");
      await writeFile(path.join(cwd, "mine.yaml"), "spoken: mine\n");
      const show = defineCommand({
        words: "show",
        summary: "show a key",
        flags: {},
        run: async (context) => {
          const config = await context.resolve({ requireServers: false, noModel: true, offline: true });
          context.out(String(config.get("spoken")));
          return 0;
        },
      });
      const own: CliProgram = { groups: [], commands: [show] };
      const spoken = async (line: string) => (await gym(line, { program: own, cwd })).stdout.trim();
      expect(await spoken("show")).toBe("default");
      expect(await spoken("show --env-yaml mine.yaml")).toBe("mine");
      expect(await spoken("show --env-yaml none")).toBe("undefined");
      expect(await spoken("show --env-file none")).toBe("undefined");
      const gone = await gym("show --env-yaml gone.yaml", { program: own, cwd });
      expect(gone.exitCode).toBe(1);
      expect(gone.stdout + gone.stderr).toContain("gone.yaml");
    } finally {
      await rm(cwd, { recursive: true });
    }
  });

  it("report errors to programs as JSON, with their code", async () => {
    const { stdout, stderr, exitCode } = await gym("env start --json --limt 5");
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      event: "error",
      code: "CLI_USAGE",
      message: expect.stringContaining("--limt"),
    });
    expect(stderr).toContain("--limt");
  });

  it("reject flags they do not have", async () => {
    const { exitCode, stderr } = await gym("env start --limt 5");
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "usage: gym env start [-h] [-v] [--env-yaml PATH|none] [--limit N]\n                     [key=value ...]\n" +
        "gym env start: error: unrecognized arguments: --limt. Did you mean `--limit`?\n",
    );
    expect((await gym("--verison")).stderr).toContain(
      "gym: error: unrecognized arguments: --verison. Did you mean `--version`?",
    );
    expect((await gym("--json env start")).exitCode).toBe(2);
  });
});

describe("errors", () => {
  it("use the stream and the exit code of their kind", async () => {
    expect(await gym("fail gym")).toEqual({ exitCode: 1, stdout: "", stderr: "Error: the thing broke\n" });
    expect(await gym("fail config")).toEqual({ exitCode: 1, stdout: "Error: a key is wrong\n", stderr: "" });
    expect(await gym("fail override")).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Could not override 'a'\n",
    });
    expect(await gym("fail usage")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("gym fail: error: no such"),
    });
  });

  it("show a stack only if they are unexpected", async () => {
    const { exitCode, stderr } = await gym("fail bug");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("TypeError: undefined is not a function\n    at ");
  });

  it("after an interrupt are not reported as failures", async () => {
    const stopped = await gym("fail bug", { signal: AbortSignal.abort() });
    expect(stopped).toEqual({ exitCode: 130, stdout: "", stderr: "Interrupted.\n" });
  });
});

describe("help of a command's config", () => {
  it("lists its keys, even if the command requires servers", async () => {
    const { exitCode, stdout } = await gym("env start +h=true --limit 5", { cwd: os.tmpdir() });
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Displaying help for gym env start

      Start the servers.

      Parameters
      - limit (int)   at most this many [default: 3]

      Its flags are listed by \`gym env start --help\`.
      "
    `);
  });

  it("is not shown for a false value", async () => {
    expect((await gym("env status +h=false")).exitCode).toBe(7);
  });
});

describe("older commands", () => {
  it("print a notice on stderr and run the new one", async () => {
    const { exitCode, stdout, stderr } = await gym("+a=1", { startedAs: "/usr/bin/ng_run" });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ overrides: ["+a=1"] });
    expect(stderr).toBe(
      "⚠  `ng_run` is deprecated and will be removed in a future release; use `gym env start` instead.\n",
    );
  });

  it("have a longer prefix and may add words", async () => {
    const { stdout, stderr } = await gym("", { startedAs: "nemo_gym_run_few" });
    expect(stderr).toContain("use `gym env start --limit 1` instead");
    expect(JSON.parse(stdout)).toMatchObject({ overrides: ["+limit=1"] });
  });

  it("without an equivalent print a message", async () => {
    expect(await gym("", { startedAs: "ng_nothing" })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "`ng_nothing`: no equivalent command is known; see `gym --help`.\n",
    });
  });
});

describe("version", () => {
  it("names the program, Node.js, dependencies and the system", async () => {
    const { exitCode, stdout } = await gym("--version");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^NeMo Gym v\d+\.\d+\.\d+\nNode\.js \d.* \(.*\)\nInstallation: .*\n\nKey Dependencies:\n {2}\S+: \S/,
    );
    expect(stdout).toMatch(
      /\n\nSystem:\n {2}OS: .*\n {2}Platform: .*\n {2}Architecture: .*\n {2}Processor: .*\n {2}CPUs: \d+\n/,
    );
    expect(stdout).toMatch(/ {2}Memory: [\d.]+ GB\n$/);
  });

  it("is JSON with every spelling, including older ones", async () => {
    for (const line of ["--version --json", "--json --version", "--version +json=true"]) {
      const report = JSON.parse((await gym(line)).stdout) as Record<string, unknown>;
      expect(Object.keys(report)).toEqual([
        "nemo_gym",
        "node",
        "node_path",
        "python",
        "python_path",
        "installation_path",
        "dependencies",
        "system",
      ]);
      expect(report["system"]).toMatchObject({ cpus: expect.any(Number), memory_gb: expect.any(Number) });
      expect(report["dependencies"]).toMatchObject({ undici: expect.stringMatching(/^\d/) });
    }
    const legacy = await gym("+json=true", { startedAs: "ng_version" });
    expect(JSON.parse(legacy.stdout)).toHaveProperty("nemo_gym");
    expect(legacy.stderr).toContain("use `gym --version` instead");
  });
});
