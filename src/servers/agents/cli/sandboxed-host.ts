import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import os from "node:os";
import path from "node:path";
import { z } from "zod";
import { createSandboxProvider, Sandbox, type SandboxProvider } from "../../../sandbox/door.ts";
import { laxFloat, laxInt } from "../../../wire/schemas/lax.ts";
import { type HarnessHost, type HarnessPlace, MAX_OUTPUT_BYTES } from "./harness-run.ts";

/** `sandbox` of a command-line agent: a boolean, or the limits of a sandbox. Harnesses are large programs. */
export const harnessSandbox = z.union([
  z.boolean(),
  z.strictObject({
    cpu: laxFloat().default(1),
    memory_mib: laxInt().default(4096),
    disk_mib: laxInt().default(1024),
    processes: laxInt().default(256),
  }),
]);
export type HarnessSandbox = z.output<typeof harnessSandbox>;

const PLACE: HarnessPlace = { home: "/work/home", workspace: "/work/workspace" };
const RELAY = "/work/relay.mjs";

/**
 * Runs in the sandbox, which has only its own loopback interface. Forwards connections to the ports of the model and
 * resources servers to one socket each, and starts the harness.
 */
const RELAY_SOURCE = `import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
const { routes, program, args, stdin } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { port, socket } of routes) {
  const server = createServer((client) => {
    const outside = connect(socket);
    client.on("error", () => outside.destroy());
    outside.on("error", () => client.destroy());
    client.pipe(outside).pipe(client);
  });
  await new Promise((resolve, reject) => server.on("error", reject).listen(port, "127.0.0.1", resolve));
}
const child = spawn(program, args, { stdio: [stdin === undefined ? "ignore" : "pipe", "inherit", "inherit"] });
child.stdin?.on("error", () => {}).end(stdin);
child.on("error", ({ message }) => { console.error(message); process.exit(127); });
child.on("exit", (code) => process.exit(code ?? 128));
`;

/** A server that a harness may reach, and the allowed paths. */
interface ReachableServer {
  origin: string;
  routes: RegExp;
}

/** A harness may call the model and tools. Other routes, such as that of the verifier, are not forwarded. */
export const MODEL_ROUTES = /^(\/ng-rollout\/[^/]+(\/training-token-capture)?)?\/v1\//;
export const TOOL_ROUTES = /^\/mcp(?![^/?])/;

/** The sandboxes of one agent server. */
export interface HarnessSandboxes {
  /** Creates the sandbox of one rollout. */
  host(): HarnessHost;
  close(): Promise<void>;
}

/**
 * Opens a socket for each reachable server, and the provider of sandboxes that can use them. `readable` are the folders
 * of the harness.
 */
export async function openSandboxes(
  settings: HarnessSandbox,
  reachable: readonly ReachableServer[],
  readable: readonly string[],
): Promise<HarnessSandboxes> {
  // The users of the sandboxes need access. The sockets allow no more than the ports of the servers.
  const directory = await mkdtemp(path.join(os.tmpdir(), "nemo-gym-way-out-"));
  await chmod(directory, 0o711);
  const servers: Server[] = [];
  const routes: { port: number; socket: string }[] = [];
  for (const server of reachable) {
    const { port } = new URL(server.origin);
    const socket = path.join(directory, port);
    servers.push(await forward(server, socket));
    await chmod(socket, 0o666);
    routes.push({ port: Number(port), socket });
  }
  const provider = await createSandboxProvider({
    name: "bubblewrap",
    settings: {
      limits: typeof settings === "object" ? settings : harnessSandbox.parse({}),
      exec: { max_output_bytes: MAX_OUTPUT_BYTES },
      read_only_paths: [directory, path.dirname(path.dirname(process.execPath)), ...readable].filter(
        (folder) => !/^\/(usr|bin|lib)(\/|$)/.test(folder),
      ),
    },
  });
  return {
    host: () => sandboxedHost(provider, routes),
    async close() {
      for (const server of servers) server.close();
      await rm(directory, { recursive: true, force: true });
      await provider.aclose();
    },
  };
}

function sandboxedHost(
  provider: SandboxProvider,
  routes: readonly { port: number; socket: string }[],
): HarnessHost {
  let sandbox: Sandbox | undefined;
  return {
    place: PLACE,
    async prepare(launch, signal) {
      const files: Record<string, string> = { [RELAY]: RELAY_SOURCE };
      for (const [target, source] of Object.entries(launch.copies ?? {}))
        Object.assign(files, await textsBelow(source, `${PLACE.home}/${target}`));
      for (const [target, text] of Object.entries(launch.files ?? {}))
        files[`${PLACE.home}/${target}`] = text;
      sandbox = new Sandbox(provider, { workdir: PLACE.workspace, files }, { ownsProvider: false });
      await sandbox.start(undefined, { signal });
    },
    async run({ program, args, stdin }, { env, timeoutMs, signal, onLine }) {
      if (sandbox === undefined) throw new Error("the sandbox was not prepared");
      const request = `${PLACE.home}/.gym-run.json`;
      await sandbox.writeText(request, JSON.stringify({ routes, program, args, stdin }), { signal });
      const result = await sandbox.exec(`exec "$NODE" ${RELAY} ${request}`, {
        env: { ...env, HOME: PLACE.home, NODE: process.execPath },
        timeoutSeconds: timeoutMs / 1000,
        signal,
      });
      // A sandbox returns its output at the end.
      for (const line of (result.stdout ?? "").split("\n")) onLine(line);
      const timedOut = result.error_type === "timeout";
      return { code: result.return_code, stderr: result.stderr ?? "", timedOut };
    },
    close: async () => sandbox?.stop(),
  };
}

/** The address of a server inside the sandbox. */
export function insideUrl(url: string): string {
  const address = new URL(url);
  address.hostname = "127.0.0.1";
  return address.href.replace(/\/$/, "");
}

/** Forwards requests for allowed routes from a socket to a server. */
async function forward({ origin, routes }: ReachableServer, socket: string): Promise<Server> {
  const { hostname: host, port } = new URL(origin);
  const server = createServer((incoming, outgoing) => {
    const { method, url = "", headers } = incoming;
    if (!routes.test(url)) {
      outgoing.writeHead(404).end();
      return;
    }
    const upstream = request({ host, port, method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });
  await once(server.listen(socket), "listening");
  return server;
}

async function textsBelow(folder: string, target: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    texts[path.posix.join(target, path.relative(folder, file))] = await readFile(file, "utf8");
  }
  return texts;
}
