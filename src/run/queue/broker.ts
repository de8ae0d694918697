import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import {
  type Auth,
  AuthorizationError,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  nkeys,
} from "@nats-io/transport-node";
import { errorMessage } from "../../base/errors.ts";
import { MASK } from "../../base/secrets.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { connectChecked } from "./checked-transport.ts";
import { QueueError } from "./errors.ts";

/** Ping interval; a dead connection is detected after two of them. */
const PING_MS = 5_000;
const CONNECT_MS = 5_000;
const RECONNECT_MS = 500;
const FLUSH_MS = 5_000;

/** A connection to NATS that reconnects automatically. */
export interface Broker {
  connection: NatsConnection;
  js: JetStreamClient;
  jsm: JetStreamManager;
  kvm: Kvm;
  /** The address, without credentials. */
  name: string;
  /** Whether the broker accepts everybody. */
  isOpen: boolean;
  /** How long the connection has been lost; 0 while connected. */
  awayMs(): number;
  close(): Promise<void>;
}

export async function connectBroker(
  settings: BrokerSettings,
  options: { name: string; onNotice?: (text: string) => void },
): Promise<Broker> {
  const { servers, tls, user, password } = readUrl(settings.url);
  const name = servers.join(",");
  let connection: NatsConnection;
  let rejected: (error: Error) => void = () => {};
  try {
    connection = await connectChecked({
      servers,
      name: options.name,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      // A broker that is started again may reject the login until its settings are right again.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      noAsyncTraces: true,
      ...(await credentials({
        ...settings,
        user: user ?? settings.user,
        password: password ?? settings.password,
      })),
      ...(await tlsOptions(settings, tls)),
      trustedOwner: settings.owner,
      onStranger: (error) => rejected(error),
    });
  } catch (error) {
    throw connectError(name, error);
  }
  const { awayMs, onRejected } = watch(connection, name, options.onNotice);
  rejected = onRejected;
  try {
    const jsm = await jetstreamManager(connection);
    const js = jetstream(connection);
    const { auth_required: asksLogin, tls_verify: asksCertificate } = connection.info ?? {};
    const isOpen = !asksLogin && !asksCertificate;
    return { connection, js, jsm, kvm: new Kvm(js), name, isOpen, awayMs, close: () => close(connection) };
  } catch (error) {
    await connection.close();
    throw new QueueError(
      "QUEUE_NO_JETSTREAM",
      `The broker at ${name} has no JetStream: ${errorMessage(error)}. Start it with \`nats-server -js\`, or use \`gym queue up\`.`,
      { cause: error },
    );
  }
}

/** Resolves when the broker has received everything that was sent. Rejects if it does not answer. */
export async function flush({ connection }: Broker): Promise<void> {
  const limit = new AbortController();
  const late = async () => {
    await sleep(FLUSH_MS, undefined, { signal: limit.signal });
    throw new Error("the broker does not answer");
  };
  try {
    await Promise.race([connection.flush(), late()]);
  } finally {
    limit.abort();
  }
}

/** Flushes buffered messages; an unreachable broker does not delay the end of the process. */
async function close(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  await Promise.race([connection.drain().catch(() => {}), sleep(CONNECT_MS, undefined, { ref: false })]);
  await connection.close();
}

function readUrl(text: string): { servers: string[]; tls: boolean; user?: string; password?: string } {
  const urls = text.split(",").map((part) => readAddress(part.trim()));
  const lastGiven = (field: "username" | "password") => {
    const given = urls.findLast((url) => url[field] !== "");
    return given && decodeURIComponent(given[field]);
  };
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || "4222"}`),
    tls: urls.some(({ protocol }) => protocol === "tls:"),
    user: lastGiven("username"),
    password: lastGiven("password"),
  };
}

function readAddress(given: string): URL {
  const text = given.includes("://") ? given : `nats://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "") return url;
  throw new QueueError(
    "QUEUE_URL",
    `'${hidden(given)}' is not the address of a broker; it looks like nats://host:4222.`,
  );
}

function hidden(url: string): string {
  return url.replace(/\/\/[^@/]*@/, `//${MASK}@`);
}

async function credentials(settings: BrokerSettings): Promise<Partial<NodeConnectionOptions>> {
  const { user, password, token, credsFile, nkeyFile } = settings;
  if (credsFile !== undefined) {
    const creds = await bytes(credsFile);
    const seed = /^S[A-Z2-7]{50,}\s*$/m.exec(creds.toString("utf8"))?.[0].trim() ?? "";
    checkSeed(seed, credsFile, "a JWT and its seed");
    return { authenticator: credsAuthenticator(creds) };
  }
  if (nkeyFile !== undefined) {
    const seed = (await bytes(nkeyFile)).toString("utf8").trim();
    checkSeed(seed, nkeyFile, "an nkey seed");
    return { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) };
  }
  if (user !== undefined) return { user, pass: password ?? "" };
  if (token !== undefined) return { token };
  const { findSeed } = settings;
  if (findSeed === undefined) return {};
  findSeed();
  return { authenticator: (nonce) => currentLogin(findSeed, nonce) };
}

/** A broker that was started again has a new key. A file that cannot be read now may be readable at the next attempt. */
function currentLogin(findSeed: NonNullable<BrokerSettings["findSeed"]>, nonce: string | undefined): Auth {
  try {
    const seed = findSeed();
    return seed === undefined ? undefined : nkeyAuthenticator(new TextEncoder().encode(seed))(nonce);
  } catch {
    return undefined;
  }
}

function checkSeed(seed: string, file: string, what: string): void {
  try {
    nkeys.fromSeed(new TextEncoder().encode(seed));
  } catch {
    // The message does not quote the content, because it may be another secret.
    throw new QueueError("QUEUE_CREDENTIALS", `'${file}' does not hold ${what}.`);
  }
}

async function tlsOptions(
  settings: BrokerSettings,
  required: boolean,
): Promise<Partial<NodeConnectionOptions>> {
  const { caFile, certFile, keyFile } = settings;
  if (!required && caFile === undefined && certFile === undefined) return {};
  for (const file of [caFile, certFile, keyFile]) if (file !== undefined) await bytes(file);
  return { tls: { caFile, certFile, keyFile } };
}

async function bytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new QueueError(
      "QUEUE_CREDENTIALS",
      `The credentials of the broker cannot be read: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

function connectError(name: string, error: unknown): QueueError {
  if (error instanceof QueueError) return error;
  const message = errorMessage(error);
  if (isUntrusted(error))
    return new QueueError(
      "QUEUE_UNTRUSTED",
      `The certificate of the broker at ${name} is not trusted: ${message}. Set NATS_CA to the certificate of its authority (PEM), and use a name or address that the certificate holds.`,
      { cause: error },
    );
  if (/authorization|authentication|permission/i.test(message))
    return new QueueError(
      "QUEUE_REFUSED",
      `The broker at ${name} rejected the login: ${message}. Set NATS_USER and NATS_PASSWORD, NATS_CREDS or NATS_NKEY.`,
      { cause: error },
    );
  return new QueueError(
    "QUEUE_UNREACHABLE",
    `The broker at ${name} cannot be reached: ${message}. \`gym queue up\` starts one on this machine.`,
    { cause: error },
  );
}

/** Whether TLS rejected the peer's certificate. */
function isUntrusted(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (/certificate|altname/i.test(`${(cause as NodeJS.ErrnoException).code} ${cause.message}`)) return true;
  return false;
}

function watch(
  connection: NatsConnection,
  name: string,
  onNotice: ((text: string) => void) | undefined,
): { awayMs: () => number; onRejected: (error: Error) => void } {
  let since: number | undefined;
  /** Each attempt to connect again may fail for the same reason. */
  let reported = "";
  const report = (text: string) => {
    if (text !== reported) onNotice?.(text);
    reported = text;
  };
  const onRejected = (error: Error) => {
    if (since !== undefined) report(`${connectError(name, error).message} Trying again.`);
  };
  const follow = async () => {
    for await (const status of connection.status()) {
      if (status.type === "disconnect" && since === undefined) {
        since = performance.now();
        report(`The connection to the broker at ${name} is lost; trying again.`);
      } else if (status.type === "error" && status.error instanceof AuthorizationError) {
        onRejected(status.error);
      } else if (status.type === "reconnect" && since !== undefined) {
        report(
          `Connected to the broker at ${name} again after ${((performance.now() - since) / 1000).toFixed(0)} s.`,
        );
        since = undefined;
      }
    }
  };
  void follow().catch(() => {});
  return { awayMs: () => (since === undefined ? 0 : performance.now() - since), onRejected };
}

/** The error of a process that waited too long for its broker. */
export function awayTooLong({ name }: Broker, seconds: number): QueueError {
  return new QueueError(
    "QUEUE_UNREACHABLE",
    `The broker at ${name} was away for more than ${seconds} s (queue_outage_seconds).`,
  );
}
