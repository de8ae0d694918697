import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { GymError } from "nemo-gym";

const STOP_GRACE_MS = 5_000;
const ERROR_LINES = 20;

/** Serves the deployment until its input ends, which it also does when this process is killed. */
const SERVE = `
import json, sys
from importlib.metadata import version
from switchyard_rust.server import Server
server = Server(sys.argv[1], port=int(sys.argv[2]))
print(json.dumps({"root": server.base_url, "version": version("nemo-switchyard")}), flush=True)
sys.stdin.read()
server.close()
`;

/** A proxy that this server started. */
export interface HostedProxy {
  rootUrl: string;
  /** Of the package nemo-switchyard. */
  version: string;
  stop(): Promise<void>;
}

/** Starts the proxy of a deployment on the loopback interface. */
export async function startProxy(
  {
    python_executable: python,
    proxy_port: port,
  }: { python_executable: string; proxy_port?: number | null | undefined },
  deployment: string,
): Promise<HostedProxy> {
  const child = spawn(python, ["-c", SERVE, deployment, String(port ?? 0)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (errors.push(line) > ERROR_LINES) errors.shift();
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", (error) => reject(failure(`${python} cannot be started: ${error.message}`)));
    child.once("close", (code) => reject(failure(`it ended with code ${code}:\n${errors.join("\n")}`)));
  });
  const output = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(output, "line") as Promise<[string]>, ended]);
  ended.catch(() => {});
  const { root, version } = JSON.parse(line) as { root: string; version: string };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
    await exit;
    clearTimeout(timer);
  };
  return { rootUrl: root, version, stop };
}

function failure(problem: string): GymError {
  return new GymError(
    "SWITCHYARD_PROXY",
    `The Switchyard proxy did not start: ${problem}\nInstall it with \`pip install nemo-switchyard\`, name its Python in python_executable, or set switchyard_base_url.`,
  );
}
