import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isLoopback } from "../../base/door.ts";
import { userDirectory } from "../../base/files/door.ts";
import type { BrokerSettings } from "../../run/queue/door.ts";
import type { KeyValues } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import type { brokerKeys } from "./keys.ts";

const LOCAL_BROKER = "nats://127.0.0.1:4222";

/** The broker of a command. */
export function brokerOf(
  keys: KeyValues<typeof brokerKeys>,
  env: Readonly<Record<string, string | undefined>>,
): BrokerSettings {
  const url = keys.queue_url ?? env["NATS_URL"] ?? LOCAL_BROKER;
  return {
    url,
    user: keys.queue_user ?? env["NATS_USER"],
    password: keys.queue_password ?? env["NATS_PASSWORD"],
    token: env["NATS_TOKEN"],
    credsFile: keys.queue_creds_file ?? env["NATS_CREDS"],
    nkeyFile: keys.queue_nkey_file ?? env["NATS_NKEY"],
    caFile: keys.queue_tls_ca_file ?? env["NATS_CA"],
    certFile: keys.queue_tls_cert_file ?? env["NATS_CERT"],
    keyFile: keys.queue_tls_key_file ?? env["NATS_KEY"],
    findSeed: () => findLocalSeed(url),
    owner: ownerOf(keys.queue_owner),
  };
}

function ownerOf(given: unknown): BrokerSettings["owner"] {
  if (given === undefined || given === "any") return given;
  const uid = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof uid === "number" && Number.isSafeInteger(uid) && uid >= 0) return uid;
  throw new UsageError("queue_owner must be a uid, or 'any'");
}

/**
 * Keeps the seed of the nkey that opens a broker on loopback. Every user of the machine can reach the port, and workers run
 * what a logged-in client sends, with their keys. Only this user can read the file.
 */
export function keepLocalSeed(port: number, seed: string): void {
  writeFileSync(fileOf(port), seed, { mode: 0o600 });
}

export function removeLocalSeed(port: number): void {
  rmSync(fileOf(port), { force: true });
}

/** The seed for a broker that this user started on this machine; undefined for others. */
export function findLocalSeed(url: string): string | undefined {
  const address = url.includes("://") ? url : `nats://${url}`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, port, username } = new URL(address);
  if (!isLoopback(hostname) || username !== "") return undefined;
  try {
    return readFileSync(fileOf(Number(port || 4222)), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function fileOf(port: number): string {
  return path.join(userDirectory(), `broker-${port}.nk`);
}
