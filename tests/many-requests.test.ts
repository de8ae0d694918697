import { spawn, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { silentLogger } from "../src/base/logger.ts";
import { ServerApp } from "../src/servers/hosting/app.ts";
import { HttpEdge } from "../src/servers/hosting/http-edge.ts";
import { freePort } from "./support/free-port.ts";

const REQUESTS = 16_000;
/** Each request needs a file descriptor on both sides, and each side has others. */
const DESCRIPTORS_NEEDED = REQUESTS + 1_000;

const allowed = Number(spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
const enough = !(allowed < DESCRIPTORS_NEEDED);
if (!enough) console.log(`The test of ${REQUESTS} open requests is skipped: ulimit -n is ${allowed}.`);

/** Opens the requests from a separate process and reports the number of responses. */
const CLIENT = `
const net = require("node:net");
const [port, count] = process.argv.slice(1).map(Number);
let answered = 0, failed = 0;
const done = () => { if (answered + failed === count) { console.log(JSON.stringify({ answered, failed })); process.exit(0); } };
const open = (left) => {
  for (let i = 0; i < Math.min(200, left); i++) {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("connect", () => socket.write("POST /run HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nContent-Length: 2\\r\\n\\r\\n{}"));
    let text = "";
    socket.on("data", (chunk) => { text += chunk; });
    socket.on("error", () => { failed++; done(); });
    socket.on("end", () => { text.startsWith("HTTP/1.1 200") ? answered++ : failed++; socket.destroy(); done(); });
  }
  if (left > 200) setTimeout(open, 5, left - 200);
};
open(count);
`;

it.skipIf(!enough)(
  `keeps ${REQUESTS} requests open at once and answers all of them`,
  { timeout: 120_000 },
  async () => {
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let open = 0;
    const app = new ServerApp({
      name: "agent",
      type: "responses_api_agents",
      className: "Agent",
      get: {},
      post: {
        "/run": async () => {
          open++;
          await released;
          return { reward: 1 };
        },
      },
      log: silentLogger,
    });
    const port = await freePort();
    const edge = await HttpEdge.listen(app, { host: "127.0.0.1", port });
    const client = spawn(process.execPath, ["-e", CLIENT, String(port), String(REQUESTS)]);
    let output = "";
    client.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const ended = new Promise((resolve) => client.once("exit", resolve));
    await expect.poll(() => open, { timeout: 90_000, interval: 100 }).toBe(REQUESTS);
    release?.();
    await ended;
    await edge.close();
    expect(JSON.parse(output)).toEqual({ answered: REQUESTS, failed: 0 });
  },
);
