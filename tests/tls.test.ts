import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) console.info("openssl is not installed: secure connections were not tried.");

/** Sends two concurrent requests and one more, and reports the results. */
const PROGRAM = `
import { HttpClient } from ${JSON.stringify(new URL("../dist/src/base/transport/http-client.js", import.meta.url).href)};
const client = new HttpClient({ maxConnections: 2, keepAliveMs: 5000, connectTimeoutMs: 5000 });
const ask = () => client.request(process.argv[1], { method: "POST", path: "/", headers: {}, body: "When?", maxBytes: 1000 })
  .then(({ status, text }) => status + " " + text, (error) => error.code);
const first = await ask();
const both = await Promise.all([ask(), ask()]);
console.log(JSON.stringify([first, ...both]));
`;

const directory = mkdtempSync(join(tmpdir(), "tls-"));
const file = (name: string) => join(directory, name);
let server: Server | undefined;
let port = 0;
const seen: { name: string | false; reused: boolean; protocol: string | false | null }[] = [];

beforeAll(async () => {
  if (!hasOpenssl && !process.env["CI"]) return;
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...kind, ...subject, "-keyout", file("key"), "-out", file("cert")], {
    stdio: "ignore",
  });
  const created = createServer({ key: readFileSync(file("key")), cert: readFileSync(file("cert")) });
  created.on("request", (request, response) => request.resume().on("end", () => response.end("at noon")));
  created.on("secureConnection", (socket: TLSSocket & { servername?: string | false }) =>
    seen.push({
      name: socket.servername ?? false,
      reused: socket.isSessionReused(),
      protocol: socket.alpnProtocol,
    }),
  );
  await new Promise<void>((resolve) => created.listen(0, resolve));
  port = (created.address() as AddressInfo).port;
  server = created;
});

afterAll(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** In a separate process, because trust is configured when a process starts. */
async function asked(origin: string, trust: Record<string, string> = {}): Promise<string[]> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM, origin], {
    env: { ...process.env, ...trust },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  for await (const part of child.stdout.setEncoding("utf8")) said += part;
  return JSON.parse(said) as string[];
}

describe.skipIf(!hasOpenssl && !process.env["CI"])("secure connections", () => {
  it("are made to a server with a trusted certificate, and are reused", async () => {
    const answers = await asked(`https://localhost:${port}`, { NODE_EXTRA_CA_CERTS: file("cert") });
    expect(answers).toEqual(Array(3).fill("200 at noon"));
    expect(seen.map(({ reused }) => reused)).toEqual([false, true]);
    expect(seen).toContainEqual({ name: "localhost", reused: false, protocol: "http/1.1" });
  });

  it("are refused to a server with an untrusted certificate or another name", async () => {
    expect(await asked(`https://localhost:${port}`)).toEqual(Array(3).fill("DEPTH_ZERO_SELF_SIGNED_CERT"));
    expect(await asked(`https://127.0.0.1:${port}`, { NODE_EXTRA_CA_CERTS: file("cert") })).toEqual(
      Array(3).fill("ERR_TLS_CERT_ALTNAME_INVALID"),
    );
  });
});
