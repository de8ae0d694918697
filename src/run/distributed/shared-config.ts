import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { hidesContents, isSecretName, MASK, maskUserInfo } from "../../base/secrets.ts";
import {
  type ResolvedConfig,
  type ResolveOptions,
  readConfigText,
  resolveConfig,
  serverBlocks,
} from "../../config/door.ts";
import { type ConfigNode, type DictNode, scalar } from "../../config/light-door.ts";
import { writeYaml } from "../../config/yaml/door.ts";
import { QueueError } from "../queue/errors.ts";

/** Keys that are specific to the collector's machine. */
const OWN_KEYS = [
  "config_paths",
  "disallowed_ports",
  "head_server",
  "results_dir",
  "cache_dir",
  "uv_cache_dir",
  "uv_venv_dir",
  "nemo_gym_log_dir",
];

/** The config of a run for workers: interpolations unresolved, without addresses, local paths and secrets. */
export function configForWorkers(config: Pick<ResolvedConfig, "toYaml">): string {
  const root = readConfigText(config.toYaml(), { kind: "environment", name: "the config of the run" });
  for (const key of OWN_KEYS) root.entries.delete(key);
  // The connection to the broker: a worker has its own address and credentials.
  for (const key of [...root.entries.keys()]) if (String(key).startsWith("queue_")) root.entries.delete(key);
  for (const { block } of serverBlocks(root)) {
    block.entries.delete("host");
    block.entries.delete("port");
  }
  hideSecrets(root, undefined, false);
  return writeYaml(root);
}

/** Masks literal secrets. Interpolations stay; the worker resolves them. */
function hideSecrets(
  node: ConfigNode,
  name: string | undefined,
  inside: boolean,
  parent?: string,
): ConfigNode {
  const hidden = inside || (name !== undefined && hidesContents(name));
  if (node.kind === "dict") {
    for (const [key, member] of node.entries)
      node.entries.set(key, hideSecrets(member, String(key), hidden, name));
    return node;
  }
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries())
      node.items[index] = hideSecrets(item, name, hidden, parent);
    return node;
  }
  if (typeof node.value !== "string" || node.value === "" || node.value.includes("${")) return node;
  const secret = hidden || isSecretName(name, parent);
  const text = secret ? MASK : maskUserInfo(node.value);
  return text === node.value ? node : scalar(text, node.origin);
}

/** Resolves the config of a run on a worker. The worker's env.yaml and overrides apply and supply the secrets. */
export async function resolveForWorker(text: string, options: ResolveOptions): Promise<ResolvedConfig> {
  const root = readConfigText(text, { kind: "environment", name: "the config of the run" });
  const secrets: string[] = [];
  removeMasked(root, "", secrets);
  const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-run-config-"));
  try {
    const file = path.join(directory, "run.yaml");
    await writeFile(file, writeYaml(root), { mode: 0o600 });
    const config = await resolveConfig({
      ...options,
      initial: { config_paths: [file] },
      requireServers: true,
    }).catch((error: unknown) => {
      throw secrets.length === 0 ? error : missingSecrets(secrets, error);
    });
    const missing = secrets.filter((key) => config.get(key) === undefined);
    if (missing.length > 0) throw missingSecrets(missing);
    return config;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A run must not decide that code of models runs on this machine without a sandbox. */
export function rejectNoSandbox(config: ResolvedConfig): void {
  const places = config.servers.flatMap(({ name, type, implementation, config: settings }) =>
    findNoSandbox(settings, `${name}.${type}.${implementation}`),
  );
  if (places.length === 0) return;
  throw new QueueError(
    "QUEUE_SANDBOX",
    `The run would execute code without a sandbox (${places.map((place) => `${place}: none`).join(", ")}). Start the worker with --allow-no-sandbox if it may.`,
  );
}

function findNoSandbox(settings: unknown, at: string): string[] {
  if (typeof settings !== "object" || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]) =>
    key === "sandbox" && value === "none" ? [`${at}.${key}`] : findNoSandbox(value, `${at}.${key}`),
  );
}

function removeMasked(node: DictNode, prefix: string, found: string[]): void {
  for (const [key, member] of node.entries) {
    const at = prefix === "" ? String(key) : `${prefix}.${key}`;
    if (member.kind === "dict") removeMasked(member, at, found);
    else if (member.kind === "scalar" && member.value === MASK) {
      node.entries.delete(key);
      found.push(at);
    }
  }
}

function missingSecrets(keys: readonly string[], cause?: unknown): QueueError {
  const message = cause instanceof Error ? ` (${cause.message})` : "";
  return new QueueError(
    "QUEUE_CREDENTIALS",
    `Secrets of the run's config are not sent to workers${message}. Set them on this machine, in env.yaml or as overrides: ${keys.map((key) => `++${key}=...`).join(" ")}`,
    { cause },
  );
}
