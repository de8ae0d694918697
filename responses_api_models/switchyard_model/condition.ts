import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage, type ServerContext } from "nemo-gym";
import { parse } from "smol-toml";
import { request } from "undici";
import type { SwitchyardConfig } from "./app.ts";
import type { HostedProxy } from "./hosted-proxy.ts";

/** The proxy is asked while the server stops, so it may not take long. */
const STATS_TIMEOUT_MS = 500;

interface Proxy {
  rootUrl: string;
  hosted: HostedProxy | undefined;
  log: ServerContext["log"];
}

/** Writes which route, on which proxy, a run measured. A failure is logged: the calls matter more. */
export async function recordCondition(
  config: SwitchyardConfig,
  { rootUrl, hosted, log }: Proxy,
): Promise<void> {
  await record(config, "switchyard-condition.json", log, async () => {
    const { deployment, proxy_provenance: provenance } = config;
    const file = hosted && deployment ? await readFile(deployment) : undefined;
    return {
      route: config.switchyard_model,
      mode: modeOf(hosted),
      proxy_root_url: rootUrl,
      nemo_switchyard_version: hosted?.version ?? null,
      proxy_provenance: Object.keys(provenance).length > 0 ? provenance : null,
      deployment_path: deployment ?? null,
      deployment_sha256: file ? createHash("sha256").update(file).digest("hex") : null,
      deployment_toml: file ? withoutSecrets(file.toString(), log) : null,
      session_id_headers: config.session_id_headers,
      written_at: new Date().toISOString(),
    };
  });
}

/** Writes what the proxy counted. */
export async function recordStats(config: SwitchyardConfig, { rootUrl, hosted, log }: Proxy): Promise<void> {
  await record(config, "switchyard-stats.json", log, async () => {
    const { statusCode, body } = await request(`${rootUrl}/v1/stats`, {
      headers: { ...config.default_headers, authorization: `Bearer ${config.switchyard_api_key}` },
      signal: AbortSignal.timeout(STATS_TIMEOUT_MS),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET ${rootUrl}/v1/stats answered ${statusCode}`);
    const scope = hosted ? "this run (the proxy runs only for it)" : "since the start of the proxy";
    return { scope, mode: modeOf(hosted), written_at: new Date().toISOString(), stats: JSON.parse(text) };
  });
}

const modeOf = (hosted: HostedProxy | undefined) => (hosted ? "hosted" : "attached");

async function record(
  { condition_dir: directory }: SwitchyardConfig,
  name: string,
  log: Proxy["log"],
  content: () => Promise<object>,
): Promise<void> {
  if (!directory) return;
  try {
    const text = JSON.stringify(await content(), null, 2);
    await mkdir(directory, { recursive: true });
    await writeFile(path.join(directory, name), `${text}\n`);
  } catch (error) {
    log.warn(`${name} was not written: ${errorMessage(error)}`);
  }
}

/** The deployment without keys and without the values of `extra_headers`; null if it cannot be searched for them. */
function withoutSecrets(toml: string, log: Proxy["log"]): string | null {
  const secrets: string[] = [];
  const collect = (node: unknown, isHeader: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === "string" && (isHeader || key === "api_key")) secrets.push(value);
      else collect(value, isHeader || key === "extra_headers");
    }
  };
  try {
    collect(parse(toml), false);
  } catch (error) {
    log.warn(
      `The deployment is not recorded, because it cannot be searched for secrets: ${errorMessage(error)}`,
    );
    return null;
  }
  // The longest first: one secret may be a part of another.
  const found = secrets
    .filter((secret) => secret !== "")
    .toSorted((left, right) => right.length - left.length);
  return found.reduce((text, secret) => text.replaceAll(secret, "<redacted>"), toml);
}
