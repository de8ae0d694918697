import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { repository, runGym } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";

let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-start-"));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function startGym(words: string[]) {
  const port = await freePort();
  const head = `++head_server={host: 127.0.0.1, port: ${port}}`;
  const child = spawn(process.execPath, [join(repository, "bin/gym.js"), "env", "start", ...words, head], {
    cwd: folder,
  });
  started.push(child);
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { child, head, ended, output: () => output };
}

const example = ["--resources-server", "example_single_tool_call", "--model-type", "random_model"];
const ready = { timeout: 60_000, interval: 100 };

/** A zombie process does not count as running. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

async function pids(head: string): Promise<number[]> {
  const { stdout } = await runGym(["env", "status", "--json", head], { cwd: folder });
  return (JSON.parse(stdout) as { pid: number }[]).map(({ pid }) => pid);
}

it("starts, answers and stops on Ctrl-C with exit code 0", async () => {
  const gym = await startGym(example);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  const status = await runGym(["env", "status", gym.head], { cwd: folder });
  expect(status.stdout).toContain("3 servers found (3 healthy, 0 unhealthy)");
  expect(status.stdout).toContain(
    "✓ example_single_tool_call_simple_agent (responses_api_agents/simple_agent)",
  );
  const query = await runGym(["env", "query", "--json", "How is Oslo?", gym.head], { cwd: folder });
  expect(JSON.parse(query.stdout)).toMatchObject({ object: "response", model: "random_model" });
  const wrong = await runGym(
    ["env", "query", "--agent", "example_single_tool_call_simple_agnt", "x", gym.head],
    { cwd: folder },
  );
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain("Did you mean `example_single_tool_call_simple_agent`?");
  gym.child.kill("SIGINT");
  expect(await gym.ended).toBe(0);
  expect(gym.output()).toContain("NeMo Gym finished!");
});

it.each(["SIGINT", "SIGKILL"] as const)("leaves no server process behind after %s", async (signal) => {
  const gym = await startGym([...example, "++hosting=process"]);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  const servers = await pids(gym.head);
  expect(new Set(servers).size).toBe(3);
  expect(servers.every(isRunning)).toBe(true);
  gym.child.kill(signal);
  await gym.ended;
  await expect.poll(() => servers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

it("exits despite timers and processes of a server, and ends these processes", async () => {
  const server = join(folder, "resources_servers", "parent");
  mkdirSync(server, { recursive: true });
  writeFileSync(
    join(server, "app.ts"),
    `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { defineResourcesServer } from "nemo-gym";
setInterval(() => {}, 1_000);
export default defineResourcesServer({
  start() {
    const child = spawn("bash", ["-c", "sleep 600 & echo $!; wait"]);
    child.stdout.once("data", (text) => writeFileSync("pids", child.pid + " " + text));
  },
  verify: () => ({ reward: 1 }),
});
`,
  );
  writeFileSync(join(folder, "a.yaml"), "parent: {resources_servers: {parent: {entrypoint: app.ts}}}\n");
  const gym = await startGym(["--config", "a.yaml"]);
  await expect.poll(gym.output, ready).toContain("All 1 / 1 servers ready");
  await expect.poll(() => existsSync(join(folder, "pids")), ready).toBe(true);
  const left = readFileSync(join(folder, "pids"), "utf8").trim().split(" ").map(Number);
  expect(left.map(isRunning)).toEqual([true, true]);
  gym.child.kill("SIGTERM");
  expect(await gym.ended).toBe(0);
  expect(left.filter(isRunning)).toEqual([]);
});

it("shows the provider's message about the key before it reports that it is ready", async () => {
  const provider = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"message":"this key was revoked"}}');
  });
  const port = await freePort();
  await new Promise<void>((resolve) => provider.listen(port, "127.0.0.1", () => resolve()));
  const model = ["--model-url", `http://127.0.0.1:${port}/v1`, "--model-api-key", "sk-1", "--model", "m"];
  const gym = await startGym([
    "--resources-server",
    "example_single_tool_call",
    "--model-type",
    "openai_model",
    ...model,
  ]);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  expect(gym.output()).toContain("401 from 127.0.0.1: this key was revoked");
  expect(gym.output().indexOf("401 from")).toBeLessThan(gym.output().indexOf("servers ready"));
  gym.child.kill("SIGINT");
  expect(await gym.ended).toBe(0);
  provider.close();
});

it("writes the logs under the working directory", async () => {
  const gym = await startGym(example);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  const [run] = readdirSync(join(folder, "results", "logs"));
  expect(readdirSync(join(folder, "results", "logs", run ?? ""))).toContain("policy_model.log");
  gym.child.kill("SIGINT");
  await gym.ended;
});

it("names a server that dies, shows its last lines and stops the others", async () => {
  const gym = await startGym([...example, "++hosting=process"]);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  const servers = await pids(gym.head);
  process.kill(servers[2] ?? 0, "SIGKILL");
  expect(await gym.ended).toBe(1);
  expect(gym.output()).toContain("Server 'policy_model' was killed by SIGKILL");
  await expect.poll(() => servers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

it("restarts a server when its file changes", { timeout: 180_000 }, async () => {
  const server = join(folder, "resources_servers", "greeter");
  mkdirSync(join(server, "configs"), { recursive: true });
  const code = (word: string) => `
import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({
  tools: { greet: { run: () => ({ word: "${word}" }) } },
  verify: () => ({ reward: 1 }),
});
`;
  writeFileSync(join(server, "app.ts"), code("hello"));
  const port = await freePort();
  writeFileSync(
    join(server, "configs", "greeter.yaml"),
    `greeter:\n  resources_servers:\n    greeter:\n      entrypoint: app.ts\n      domain: other\n      port: ${port}\n`,
  );
  const gym = await startGym(["--resources-server", "greeter", "--watch"]);
  await expect.poll(gym.output, ready).toContain("watching 1 server folders");
  const greet = async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/greet`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    return ((await reply.json()) as { word: string }).word;
  };
  expect(await greet()).toBe("hello");
  writeFileSync(join(server, "app.ts"), code("good evening"));
  await expect.poll(gym.output, ready).toContain("greeter restarted");
  expect(await greet()).toBe("good evening");
  writeFileSync(join(server, "app.ts"), "export default ;");
  await expect.poll(gym.output, ready).toContain("greeter could not be restarted");
  writeFileSync(join(server, "app.ts"), code("back"));
  await expect.poll(async () => greet().catch(() => "down"), ready).toBe("back");
  gym.child.kill("SIGINT");
  expect(await gym.ended).toBe(0);
});

it("names the command to run if there is nothing to start", async () => {
  const { exitCode, stdout } = await runGym(["env", "start"], { cwd: folder });
  expect(exitCode).toBe(1);
  expect(stdout).toContain("Error:");
});

it("stops from another terminal, and reports if nothing runs", async () => {
  const { head, ended, output } = await startGym(example);
  await expect.poll(output, ready).toContain("ready");
  await expect.poll(async () => (await pids(head)).length, ready).toBe(3);
  const stopped = await runGym(["env", "stop", head], { cwd: folder });
  expect(stopped, stopped.stderr).toMatchObject({ exitCode: 0 });
  expect(stopped.stdout).toMatch(/^Stopped process \d+ with 3 servers: example_single_tool_call, /);
  expect(await ended).toBe(0);
  const again = await runGym(["env", "stop", "--json", head], { cwd: folder });
  expect(again).toMatchObject({ exitCode: 0, stdout: '{"stopped":false,"pid":null,"servers":[]}\n' });
});

it("answers the client of the documents for any agent and for old agent names", async () => {
  const { head, output } = await startGym(example);
  await expect.poll(output, ready).toContain("ready");
  const [, port = ""] = /port: (\d+)/.exec(head) ?? [];
  const ask = (...words: string[]) =>
    new Promise<{ code: number | null; text: string }>((resolve) => {
      const file = join(repository, "responses_api_agents/simple_agent/client.ts");
      const child = spawn(process.execPath, ["--import", "jiti/register", file, ...words], {
        cwd: repository,
        env: { ...process.env, NEMO_GYM_HEAD_URL: `http://127.0.0.1:${port}` },
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          text += chunk;
        });
      child.on("close", (code) => resolve({ code, text }));
    });
  expect(await ask()).toMatchObject({ code: 0, text: expect.stringMatching(/^reward: [01]$/m) });
  expect(await ask("simple_weather_simple_agent")).toMatchObject({ code: 0 });
  const unknown = await ask("nobody");
  expect(unknown).toMatchObject({
    code: 1,
    text: expect.stringMatching(/^Error: There is no server 'nobody'/),
  });
  const query = await runGym(["env", "query", "-a", "simple_weather_simple_agent", "hi", head], {
    cwd: folder,
  });
  expect(query, query.stderr).toMatchObject({ exitCode: 0 });
});

it("--exit-with-parent: stops when the pipe from its parent closes", async () => {
  const gym = await startGym([...example, "--exit-with-parent"]);
  await expect.poll(gym.output, ready).toContain("All 3 / 3 servers ready");
  gym.child.stdin?.destroy();
  expect(await gym.ended).toBe(0);
});
