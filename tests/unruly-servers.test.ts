import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repository, runGym } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";

let folder: string;
const started: ChildProcess[] = [];
const strays: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-unruly-"));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const pid of strays.splice(0).filter(isRunning)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A zombie process does not count as running. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

const ready = { timeout: 60_000, interval: 100 };

const TOOLS = `
import { spawn } from "node:child_process";
import { defineResourcesServer } from "nemo-gym";
const started = (detached) => {
  const child = spawn("sleep", ["600"], { stdio: "ignore", detached });
  child.unref();
  return child.pid;
};
export default defineResourcesServer({
  tools: {
    spin: { run() { for (;;) Math.sqrt(2); } },
    say: {
      run() {
        console.log("said out");
        console.error("said err");
        process.stdout.write("without an end");
        setTimeout(() => { throw new Error("thrown late"); }, 5);
        return {};
      },
    },
    processes: { run: () => ({ pids: [started(false), started(true)] }) },
  },
  verify: () => ({ reward: 1 }),
});
`;

async function startServer(code: string, words: string[] = []) {
  const directory = join(folder, "resources_servers", "unruly");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "app.ts"), code);
  const [port, headPort] = [await freePort(), await freePort()];
  const config = `unruly: {resources_servers: {unruly: {entrypoint: app.ts, port: ${port}}}}\n`;
  writeFileSync(join(folder, "config.yaml"), config);
  const head = `++head_server.port=${headPort}`;
  const argv = ["env", "start", "--config", "config.yaml", head, ...words];
  const child = spawn(process.execPath, [join(repository, "bin/gym.js"), ...argv], { cwd: folder });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (exitCode, signal) => resolve(exitCode ?? signal)),
  );
  const call = async (tool: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}/${tool}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    return (await reply.json()) as { pids: number[] };
  };
  return { child, call, head, ended, output: () => output };
}

async function startTools(words: string[] = []) {
  const gym = await startServer(TOOLS, words);
  await expect.poll(gym.output, ready).toContain("All 1 / 1 servers ready");
  return gym;
}

describe("a co-hosted server with an endless loop", { timeout: 60_000 }, () => {
  it("is named, and ends with all its processes at the limit", async () => {
    const gym = await startTools(["++blocked_loop_warn_seconds=1", "++blocked_loop_limit_seconds=3"]);
    const { pids } = await gym.call("processes");
    strays.push(...pids);
    void gym.call("spin").catch(() => {});
    expect(await gym.ended).toBe("SIGKILL");
    expect(gym.output()).toMatch(
      /Server 'unruly' hangs: .* in run \(.*unruly\/app\.ts:\d+\)\. .*Ctrl-\\ ends/,
    );
    await expect.poll(() => pids.filter(isRunning), { timeout: 5_000 }).toEqual([]);
  });

  it("ends at once on SIGQUIT, which has no handler", async () => {
    const gym = await startTools();
    void gym.call("spin").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    gym.child.kill("SIGQUIT");
    expect(await gym.ended).toBe("SIGQUIT");
  });

  it("makes gym env status fail with the message that the head server is busy", async () => {
    const gym = await startTools();
    void gym.call("spin").catch(() => {});
    const { exitCode, stderr } = await runGym(["env", "status", gym.head], { cwd: folder });
    expect(stderr).toContain("does not answer within 5 s");
    expect(exitCode).toBe(1);
  });
});

describe("a server file with an endless loop", { timeout: 60_000 }, () => {
  const limits = ["++blocked_loop_warn_seconds=1", "++blocked_loop_limit_seconds=3"];

  it.each([
    ["co-hosted", [], "SIGKILL"],
    ["in its own process", ["++hosting=process"], 1],
  ])("is named, and ends at the limit (%s)", async (_mode, words, ending) => {
    const gym = await startServer("for (;;) Math.sqrt(2);\n", [...limits, ...words]);
    expect(await gym.ended).toBe(ending);
    expect(gym.output()).toMatch(/Server 'unruly' hangs: .* blocked for 1 s in .*unruly\/app\.ts:1\)/);
    expect(gym.output()).toContain("That is the limit (blocked_loop_limit_seconds: 3)");
  });
});

describe.each([
  ["co-hosted", []],
  ["in its own process", ["++hosting=process"]],
])("a server %s", (_mode, words) => {
  it("has its name on its output, and a log file", { timeout: 60_000 }, async () => {
    const gym = await startTools(words);
    await gym.call("say");
    await expect.poll(gym.output, ready).toContain("thrown late");
    gym.child.kill("SIGINT");
    expect(await gym.ended).toBe(0);
    const [run = ""] = readdirSync(join(folder, "results", "logs"));
    // Two runs that start in the same second do not share a directory.
    expect(run).toMatch(new RegExp(`-${gym.child.pid}$`));
    const log = readFileSync(join(folder, "results", "logs", run, "unruly.log"), "utf8").split("\n");
    const said = [
      "said out",
      "said err",
      "without an end",
      "error: thrown outside of a request: Error: thrown late",
    ];
    for (const line of said) {
      expect(gym.output().split("\n")).toContain(`(unruly) ${line}`);
      // Each line of the file begins with its time.
      const written = log.find((text) => text.endsWith(` ${line}`));
      expect(written?.slice(0, -line.length)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z $/);
    }
    expect(gym.output()).not.toContain("dist/src");
  });

  it("that throws at its start is named, without a stack trace of the gym", { timeout: 60_000 }, async () => {
    const gym = await startServer(
      `import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({ start() { throw new Error("no fuel"); }, verify: () => ({ reward: 1 }) });`,
      words,
    );
    expect(await gym.ended).toBe(1);
    expect(gym.output()).toMatch(
      /Error: Server 'unruly' could not start: Error: no fuel\n +at .*unruly\/app\.ts:2/,
    );
    expect(gym.output()).not.toContain("dist/src");
  });

  it("that imports a missing package shows how to install it", { timeout: 60_000 }, async () => {
    const gym = await startServer('import "no-such-package";\n', words);
    expect(await gym.ended).toBe(1);
    expect(gym.output()).toContain("npm install no-such-package");
    expect(gym.output()).not.toMatch(/dist\/src|jiti/);
  });
});

describe("processes that a tool started", { timeout: 60_000 }, () => {
  const processHosted = ["++hosting=process"];
  const workers = ["++unruly.resources_servers.unruly.num_workers=2"];

  it.each([
    ["Ctrl-C, in its own process", processHosted, "SIGINT"],
    ["Ctrl-C, with workers", workers, "SIGINT"],
    ["gym killed, in its own process", processHosted, "SIGKILL"],
    ["gym killed, with workers", workers, "SIGKILL"],
  ] as const)("end with their server, even outside its process group: %s", async (_case, words, signal) => {
    const gym = await startTools([...words]);
    const { pids } = await gym.call("processes");
    strays.push(...pids);
    expect(pids.map(isRunning)).toEqual([true, true]);
    gym.child.kill(signal);
    await gym.ended;
    await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });

  it("end when the server is killed", async () => {
    const gym = await startTools(processHosted);
    const { pids } = await gym.call("processes");
    strays.push(...pids);
    const { stdout } = await runGym(["env", "status", "--json", gym.head], { cwd: folder });
    const [server] = JSON.parse(stdout) as { pid: number }[];
    process.kill(server?.pid ?? 0, "SIGKILL");
    expect(await gym.ended).toBe(1);
    expect(gym.output()).toContain("Server 'unruly' was killed by SIGKILL");
    await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });

  it("end with a server in an endless loop when gym is killed", async () => {
    const gym = await startTools(processHosted);
    const { pids } = await gym.call("processes");
    strays.push(...pids);
    const { stdout } = await runGym(["env", "status", "--json", gym.head], { cwd: folder });
    const servers = (JSON.parse(stdout) as { pid: number }[]).map(({ pid }) => pid);
    strays.push(...servers);
    void gym.call("spin").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    gym.child.kill("SIGKILL");
    await expect.poll(() => [...pids, ...servers].filter(isRunning), { timeout: 20_000 }).toEqual([]);
  });
});

it("names the worker that was killed", { timeout: 60_000 }, async () => {
  const gym = await startTools(["++unruly.resources_servers.unruly.num_workers=2"]);
  const { stdout } = await runGym(["env", "status", "--json", gym.head], { cwd: folder });
  const [server] = JSON.parse(stdout) as { pid: number }[];
  const [worker] = readFileSync(`/proc/${server?.pid}/task/${server?.pid}/children`, "utf8")
    .trim()
    .split(" ");
  process.kill(Number(worker), "SIGKILL");
  expect(await gym.ended).toBe(1);
  expect(gym.output()).toMatch(/Server 'unruly' has failed: its worker \d was killed by SIGKILL\./);
});

it("prints only JSON events with --json", { timeout: 60_000 }, async () => {
  const gym = await startServer(TOOLS, ["--json"]);
  const events = () =>
    gym
      .output()
      .split("\n")
      .filter(Boolean)
      .map(
        (line) => JSON.parse(line) as { event: string; servers?: { process_name: string }[]; line?: string },
      );
  await expect.poll(() => events().map(({ event }) => event), ready).toContain("ready");
  await gym.call("say");
  await expect.poll(() => events().map(({ line }) => line), ready).toContain("said out");
  gym.child.kill("SIGINT");
  expect(await gym.ended, gym.output()).toBe(0);
  expect(events().find(({ event }) => event === "ready")?.servers).toMatchObject([
    { process_name: "unruly" },
  ]);
  expect(events().at(-1)).toEqual({ event: "finished" });
  const argv = ["env", "prefetch", "--config", "config.yaml", "--json"];
  const { stdout } = await runGym(argv, { cwd: folder });
  expect(JSON.parse(stdout)).toMatchObject({
    prepared: [{ server: "resources_servers/unruly", has_own_packages: false }],
  });
});

it("names the exit code of a Python server", { timeout: 60_000 }, async () => {
  const directory = join(folder, "resources_servers", "unruly");
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  writeFileSync(
    join(directory, "app.py"),
    `import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def do_POST(self):
        os._exit(7)
http.server.HTTPServer(("127.0.0.1", ${port}), Handler).serve_forever()
`,
  );
  const config = `unruly: {resources_servers: {unruly: {entrypoint: app.py, port: ${port}}}}\n`;
  writeFileSync(join(folder, "python.yaml"), config);
  const words = ["env", "start", "--config", "python.yaml", `++head_server.port=${await freePort()}`];
  const ended = runGym(words, { cwd: folder });
  await expect
    .poll(
      () =>
        fetch(`http://127.0.0.1:${port}/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ready,
    )
    .toBe(true);
  // An exit before it is ready is a failed start.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await fetch(`http://127.0.0.1:${port}/`, { method: "POST" }).catch(() => {});
  const { exitCode, stderr } = await ended;
  expect(stderr).toMatch(/Server 'unruly' has failed: .*app\.py ended with code 7\./);
  expect(exitCode).toBe(1);
});

it("detects every change of a watched file, however it is saved", { timeout: 120_000 }, async () => {
  const code = (word: string) =>
    `import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({ tools: { greet: { run: () => ({ word: "${word}" }) } }, verify: () => ({ reward: 1 }) });`;
  const gym = await startServer(code("first"), ["--watch"]);
  await expect.poll(gym.output, ready).toContain("watching 1 server folders");
  const file = join(folder, "resources_servers", "unruly", "app.ts");
  const greet = async () => {
    const reply = (await gym.call("greet").catch(() => ({}))) as { word?: string };
    return reply.word;
  };
  for (const word of ["second", "third"]) {
    writeFileSync(`${file}.tmp`, code(word));
    renameSync(`${file}.tmp`, file);
    await expect.poll(greet, ready).toBe(word);
    writeFileSync(file, code(`${word} in place`));
    await expect.poll(greet, ready).toBe(`${word} in place`);
  }
});
