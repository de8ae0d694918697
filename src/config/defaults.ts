import { homedir } from "node:os";
import path from "node:path";
import { pyRepr } from "../base/python/door.ts";
import { ConfigError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import {
  type ConfigNode,
  DEFAULT_ORIGIN,
  type DictNode,
  dict,
  isNull,
  isTruthyNode,
  numberOfNode,
  positionOf,
  type ScalarValue,
  scalar,
  textOfNode,
} from "./node.ts";
import { workingRoot } from "./paths.ts";
import { nodeFromPlain, plainFromNode } from "./plain-data.ts";
import { integerFrom } from "./schema-problems.ts";
import { defaultHost, HEAD_SERVER_PORT, type NetworkDefaults } from "./servers/addresses.ts";

const READINESS_TIMEOUT_SECONDS = 600;

interface DefaultsContext {
  env: NodeJS.ProcessEnv;
  cwd: string;
  installRoot: string;
}

/** Sets the defaults that servers need for their addresses, and reads them. */
export async function fillNetworkDefaults(
  root: DictNode,
  env: NodeJS.ProcessEnv,
  offline = false,
): Promise<NetworkDefaults> {
  setDefault(root, "use_absolute_ip", false);
  setDefault(root, "port_range_low", 10001);
  setDefault(root, "port_range_high", 20000);
  const useAbsoluteIp = isTruthyNode(topLevelValue(root, "use_absolute_ip", env));
  const host = await defaultHost(useAbsoluteIp, topLevelValue(root, "default_host", env), offline);
  const range = { low: port(root, "port_range_low", env), high: port(root, "port_range_high", env) };
  if (range.low > range.high)
    throw badValue(
      "port_range_low",
      root.entries.get("port_range_low"),
      `at most port_range_high (${range.high})`,
    );
  return { host, range, headPort: headServerPort(root, host, env) };
}

/** Sets the remaining defaults, in the order they are printed. */
export function fillDefaults(root: DictNode, context: DefaultsContext): void {
  const { env, cwd, installRoot } = context;
  setDefault(root, "allow_openai_version_skew", false);
  const skew = topLevelValue(root, "allow_openai_version_skew", env);
  if (skew?.kind !== "scalar" || typeof skew.value !== "boolean")
    throw badValue("allow_openai_version_skew", skew, "a boolean");
  setDefault(root, "skip_venv_if_present", false);
  setDefault(root, "dry_run", false);
  readinessTimeout(root, env);
  const base = workingRoot(cwd, installRoot);
  absolutePath(root, "results_dir", path.join(base, "results"), context);
  const cache = absolutePath(root, "cache_dir", path.join(base, "cache"), context);
  setDefault(root, "uv_cache_dir", path.join(cache, "uv"));
  setDefault(root, "uv_venv_dir", base);
}

/** Copies `skip_verification` and its reward to every agent that does not set them. */
export function passSkipVerification(
  root: DictNode,
  agents: readonly DictNode[],
  env: NodeJS.ProcessEnv,
): void {
  for (const key of ["skip_verification", "skip_verification_reward"]) {
    const value = topLevelValue(root, key, env);
    if (value === undefined || isNull(value)) continue;
    for (const agent of agents) if (!agent.entries.has(key)) agent.entries.set(key, value);
  }
}

/** The value of a top-level key with its interpolation resolved. */
export function topLevelValue(root: DictNode, key: string, env: NodeJS.ProcessEnv): ConfigNode | undefined {
  const node = root.entries.get(key);
  return node && new Interpolator(root, env).resolve(node, [key]).node;
}

function setDefault(root: DictNode, key: string, value: ScalarValue): void {
  if (!root.entries.has(key)) root.entries.set(key, scalar(value, DEFAULT_ORIGIN));
}

function headServerPort(root: DictNode, host: string, env: NodeJS.ProcessEnv): number | undefined {
  const given = topLevelValue(root, "head_server", env);
  if (given === undefined || (given.kind === "dict" && given.entries.size === 0)) {
    root.entries.set("head_server", nodeFromPlain({ host, port: HEAD_SERVER_PORT }, DEFAULT_ORIGIN));
    return HEAD_SERVER_PORT;
  }
  if (given.kind !== "dict") throw badValue("head_server", given, "a mapping with host and port");
  // Python servers also read the host.
  if (!given.entries.has("host"))
    root.entries.set(
      "head_server",
      dict(given.origin, [["host", scalar(host, DEFAULT_ORIGIN)], ...given.entries]),
    );
  const node = given.entries.get("port");
  if (node === undefined) return HEAD_SERVER_PORT;
  const value = new Interpolator(root, env).resolve(node, ["head_server", "port"]).node;
  if (isNull(value)) return undefined;
  const number = integerFrom(value);
  if (number === undefined) throw badValue("head_server.port", value, "an integer");
  return number;
}

function port(root: DictNode, key: string, env: NodeJS.ProcessEnv): number {
  const node = topLevelValue(root, key, env);
  const number = integerFrom(node);
  if (number === undefined || number < 1 || number > 65535)
    throw badValue(key, node, "a port between 1 and 65535");
  return number;
}

function readinessTimeout(root: DictNode, env: NodeJS.ProcessEnv): void {
  const key = "model_endpoint_readiness_timeout_seconds";
  const node = topLevelValue(root, key, env);
  if (node === undefined || isNull(node))
    root.entries.set(key, scalar(READINESS_TIMEOUT_SECONDS, DEFAULT_ORIGIN));
  else if (numberOfNode(node) === undefined) throw badValue(key, node, "a number of seconds");
}

function absolutePath(root: DictNode, key: string, fallback: string, context: DefaultsContext): string {
  setDefault(root, key, fallback);
  const node = topLevelValue(root, key, context.env);
  const text = textOfNode(node);
  if (text === undefined || text.trim() === "") throw badValue(key, node, "a non-empty path string");
  const home = context.env.HOME ?? homedir();
  const expanded = /^~(?=\/|$)/.test(text) ? path.join(home, text.slice(1)) : text;
  const absolute = path.resolve(context.cwd, expanded);
  if (absolute !== text) root.entries.set(key, scalar(absolute, node?.origin ?? DEFAULT_ORIGIN));
  return absolute;
}

function badValue(key: string, node: ConfigNode | undefined, expected: string): ConfigError {
  const found = node === undefined ? "nothing" : pyRepr(plainFromNode(node));
  return new ConfigError(`${key} must be ${expected}, but it is ${found}.`, { position: positionOf(node) });
}
