import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { StoreClient } from "../src/run/queue/store-client.ts";
import { missingBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { EVALUATION, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const OWN = 12_345;
const STRANGER = 12_346;
/** Only root can run programs as two other users. */
const missing = missingBroker() ?? (process.getuid?.() === 0 ? undefined : "this needs root");

/** What a broker says first. */
const GREETING =
  'INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576,"headers":true,"jetstream":true}\r\n';

/** Says the greeting, and prints what it is sent. */
const LISTENER = `
require("node:net").createServer((socket) => {
  socket.on("error", () => {}).on("data", (data) => process.stdout.write("HEARD " + data));
  socket.write(process.argv[2]);
}).listen(Number(process.argv[1]), "127.0.0.1", () => console.log("LISTENS"));
`;

/** Another user takes the port. */
function startStranger(
  port: number,
  greeting = GREETING,
): { child: ChildProcess; text(): string; close(): Promise<void> } {
  const child = spawn(process.execPath, ["-e", LISTENER, String(port), greeting], {
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "ignore"],
    uid: STRANGER,
    gid: STRANGER,
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const close = () => {
    child.kill("SIGKILL");
    return ended;
  };
  onTestFinished(close);
  return { child, text: () => text, close };
}

/** A home of the user, which also holds the directory for logins. */
function home(): string {
  const directory = mkdtempSync(join(tmpdir(), "nemo-gym-home-"));
  chownSync(directory, OWN, OWN);
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it.skipIf(missing !== undefined)(
  "sends nothing to a broker of another user of the machine, and logs in again to its own",
  { timeout: 180_000 },
  async () => {
    const port = await freePort();
    const queue = ["--queue", `nats://127.0.0.1:${port}`];
    const cwd = await rows(20);
    chownSync(cwd, OWN, OWN);
    const directory = home();
    const env = { TMPDIR: directory };
    const own = (...words: string[]) => startGym(words, cwd, env, OWN);

    // No broker of the user runs yet.
    let stranger = startStranger(port);
    await until("the stranger", () => stranger.text().includes("LISTENS"));
    const early = startGym(
      ["worker", ...queue],
      cwd,
      { ...env, NATS_USER: "gym", NATS_PASSWORD: "secret" },
      OWN,
    );
    expect(await early.ended).not.toBe(0);
    expect(early.text()).toContain(`User ${STRANGER} of this machine listens at 127.0.0.1:${port}`);
    expect(stranger.text()).toBe("LISTENS\n");
    await stranger.close();

    const up = ["queue", "up", "--port", String(port), "--directory", join(directory, "nats")];
    const first = own(...up);
    await until("the broker", () => first.text().includes("Broker at"));
    const worker = own("worker", ...queue);
    await until("the worker", () => worker.text().includes("waits for runs"));
    expect(worker.text()).not.toContain("requires no login");

    // The broker ends, and the stranger takes its port.
    first.child.kill("SIGTERM");
    await first.ended;
    stranger = startStranger(port);
    await until("the refusal", () => worker.text().includes(`User ${STRANGER} of this machine listens`));
    expect(stranger.text()).toBe("LISTENS\n");
    await stranger.close();

    // The new broker has another password.
    const second = own(...up);
    await until("the new connection", () => worker.text().includes("again after"));
    const run = own(...EVALUATION, "-i", "rows.jsonl", "-o", "rollouts.jsonl", ...queue);
    expect(await run.ended, run.text()).toBe(0);
    expect(sortedLines(join(cwd, "rollouts.jsonl"))).toHaveLength(20);
    second.child.kill("SIGTERM");
    await second.ended;
  },
);

it.skipIf(missing !== undefined)(
  "sends no token to a stranger who listens where the collector was",
  async () => {
    const port = await freePort();
    const stranger = startStranger(port, "");
    await until("the stranger", () => stranger.text().includes("LISTENS"));
    const address = () => ({ url: `http://127.0.0.1:${port}`, token: "secret" });
    const careful = new StoreClient(address);
    await expect(careful.row([0, 0, 0, 0])).rejects.toThrow(`User ${STRANGER} of this machine listens`);
    await careful.close();
    expect(stranger.text()).toBe("LISTENS\n");

    const trusting = new StoreClient(address, { owner: STRANGER });
    const row = expect(trusting.row([0, 0, 0, 0])).rejects.toThrow();
    await until("the request", () => stranger.text().includes("Bearer secret"));
    await trusting.close();
    await row;
  },
);

it.skipIf(missing !== undefined)(
  "does not let a run switch the sandbox of a worker off, unless the worker allows it",
  { timeout: 180_000 },
  async () => {
    const port = await freePort();
    const queue = ["--queue", `nats://127.0.0.1:${port}`];
    const cwd = await rows(1);
    const env = { TMPDIR: home(), NATS_USER: "gym", NATS_PASSWORD: "secret" };
    const broker = startGym(["queue", "up", "--port", String(port), "--directory", "nats"], cwd, env);
    await until("the broker", () => broker.text().includes("Broker at"));
    const none = "++code_gen.resources_servers.code_gen.sandbox=none";
    const run = startGym(
      [
        "eval",
        "run",
        "--resources-server",
        "code_gen",
        "--model-type",
        "random_model",
        "--limit",
        "1",
      ].concat(["-o", "rollouts.jsonl", ...queue, none]),
      cwd,
      env,
    );
    const rejecting = startGym(["worker", ...queue], cwd, env);
    await until("the refusal", () => rejecting.text().includes("code_gen.sandbox: none). Start the worker"));
    rejecting.child.kill("SIGTERM");
    startGym(["worker", ...queue, "--allow-no-sandbox"], cwd, env);
    expect(await run.ended, run.text()).toBe(0);
    broker.child.kill("SIGTERM");
    await broker.ended;
  },
);
