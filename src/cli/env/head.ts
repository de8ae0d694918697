import { withDeadline } from "../../client/deadline.ts";
import { requestOnce } from "../../client/http-pools.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { errorMessage, GymError } from "../../errors.ts";
import type { InstanceRecord } from "../../server/run/head-server.ts";

const HEAD_TIMEOUT_MS = 5_000;

/** Address of the head server a config points at. */
export function headUrl(config: ResolvedConfig): string {
  const head = (config.get("head_server") ?? {}) as { host?: unknown; port?: unknown };
  return `http://${head.host ?? "127.0.0.1"}:${head.port ?? 11000}`;
}

/** The head server cannot be asked. */
export class HeadServerError extends GymError {
  constructor(url: string, cause: unknown) {
    super(
      "HEAD_SERVER",
      `There is no head server at ${url} (${errorMessage(cause)}). Start the servers with \`gym env start\`, or point at the right address with ++head_server.port=….`,
      { cause },
    );
  }
}

/** The servers of the run behind a head server. */
export async function runningServers(url: string, signal: AbortSignal): Promise<InstanceRecord[]> {
  return (await ask(url, "/server_instances", signal)) as InstanceRecord[];
}

/** The config the servers behind a head server were started with; secrets are masked. */
export async function runningConfig(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const text = await ask(url, "/global_config_dict_yaml", signal);
  const { readYaml } = await import("../../config/yaml-read.ts");
  const { plainFromNode } = await import("../../config/plain-data.ts");
  return plainFromNode(readYaml(String(text), { kind: "initial", name: url })) as Record<string, unknown>;
}

async function ask(url: string, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await withDeadline(HEAD_TIMEOUT_MS, signal, async (stop) => {
      const { status, text } = await requestOnce(`${url}${path}`, { signal: stop });
      if (status !== 200) throw new Error(`status ${status}`);
      return JSON.parse(text) as unknown;
    });
  } catch (error) {
    throw new HeadServerError(url, error);
  }
}
