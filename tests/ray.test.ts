import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { RunningServers } from "../src/servers/hosting/processes/run-servers.ts";
import { instance, startInstances } from "./support/run-instances.ts";

/** An interpreter with the real Ray; without it the tests use a double with the same relevant behaviour. */
const realRay = process.env["TEST_RAY_PYTHON"];

let root: string;
let servers: RunningServers | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nemo-gym-ray-"));
});
afterEach(async () => {
  await servers?.close();
  servers = undefined;
  rmSync(root, { recursive: true, force: true });
});

/** A Python program with a module `ray` whose clusters are files: a cluster is up as long as the process that started it runs. */
function pythonWithRay(version: string): string {
  const packages = join(root, `packages-${version}`);
  mkdirSync(join(packages, "ray"), { recursive: true });
  mkdirSync(join(packages, `ray-${version}.dist-info`));
  writeFileSync(join(packages, `ray-${version}.dist-info`, "METADATA"), `Name: ray\nVersion: ${version}\n`);
  writeFileSync(join(packages, "ray", "__init__.py"), RAY_DOUBLE);
  return interpreter(`python-${version}`, packages);
}

function interpreter(name: string, packages: string): string {
  const file = join(root, name);
  writeFileSync(file, `#!/bin/sh\nexport CLUSTERS=${root} PYTHONPATH=${packages}\nexec python3 "$@"\n`, {
    mode: 0o755,
  });
  return file;
}

async function pythonServer(name: string, python: string) {
  const folder = join(root, "resources_servers", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "app.py"), "");
  const config = { entrypoint: "app.py", python_executable: python };
  const made = await instance(name, "resources_servers", name, config, [root]);
  writeFileSync(join(folder, "app.py"), SERVER.replace("PORT", String(made.port)));
  return made;
}

async function start(...names: [name: string, python: string][]): Promise<(string | null)[]> {
  const instances = await Promise.all(names.map(([name, python]) => pythonServer(name, python)));
  ({ servers } = await startInstances(instances, {}));
  const replies = names.map(async ([name]) => (await servers?.client.get(name, "/"))?.json());
  return (await Promise.all(replies)).map((reply) => (reply as { address: string | null }).address);
}

const clusters = () =>
  execFileSync("sh", ["-c", 'ls | grep "^cluster-" || true'], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter(Boolean);

it("Python servers share one Ray cluster, which ends with the run", { timeout: 120_000 }, async () => {
  const python = realRay ?? pythonWithRay("2.9.0");
  const addresses = await start(["first", python], ["second", python], ["third", python]);
  expect(new Set(addresses).size).toBe(1);
  expect(addresses[0]).toMatch(/:\d+$/);
  if (realRay) return;
  const [holder] = clusters();
  expect(clusters()).toHaveLength(1);
  await servers?.close();
  expect(existsSync(`/proc/${readFileSync(join(root, holder ?? ""), "utf8")}`)).toBe(false);
});

it.skipIf(realRay)("other versions get their own cluster, and servers without Ray get none", async () => {
  const [older, newer] = [pythonWithRay("2.9.0"), pythonWithRay("2.40.0")];
  const without = interpreter("python-without", join(root, "nothing"));
  const addresses = await start(["a", older], ["b", newer], ["c", without], ["d", older]);
  expect(addresses[0]).toBe(addresses[3]);
  expect(addresses[1]).not.toBe(addresses[0]);
  expect(addresses[1]).toMatch(/:\d+$/);
  expect(addresses[2]).toBeNull();
  expect(clusters()).toHaveLength(2);
});

it.skipIf(realRay)("a single Python server gets no cluster", async () => {
  expect(await start(["only", pythonWithRay("2.9.0")])).toEqual([null]);
  expect(clusters()).toEqual([]);
});

const RAY_DOUBLE = `
import os, random
def init(address=None, **options):
    global current
    current = address
    if address is None:
        current = "127.0.0.1:%d" % random.randint(10000, 60000)
        open(os.path.join(os.environ["CLUSTERS"], "cluster-" + current), "w").write(str(os.getpid()))
def get_runtime_context():
    class Context:
        gcs_address = current
    return Context
def shutdown():
    pass
`;

/** Like the original's servers: with an address in the config they join that cluster. */
const SERVER = `
import json, os, re
from http.server import BaseHTTPRequestHandler, HTTPServer

found = re.search(r'^ray_head_node_address: "?([^"\\n]+)', os.environ["NEMO_GYM_CONFIG_DICT"], re.M)
address = found and found.group(1)
if address:
    import ray
    ray.init(address=address)
    assert ray.get_runtime_context().gcs_address == address

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"address": address}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
`;
