import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { RunBoard } from "../src/run/queue/board.ts";
import { connectBroker } from "../src/run/queue/broker.ts";
import type { BrokerSettings } from "../src/run/queue/broker-settings.ts";
import { runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { makeOperator } from "./support/nats-jwt.ts";
import { EVALUATION, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();
const PASSWORD = "correct-horse-battery";

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nemo-gym-security-"));
  const openssl = (...words: string[]) => execFileSync("openssl", words, { stdio: "ignore" });
  for (const name of ["ca", "other"])
    openssl(
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`],
      ...["-keyout", file(`${name}.key`), "-out", file(`${name}.pem`)],
    );
  openssl(
    ...["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=broker", "-keyout", file("server.key")],
    ...["-out", file("server.csr")],
  );
  writeFileSync(file("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  openssl(
    ...["x509", "-req", "-in", file("server.csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key")],
    ...["-CAcreateserial", "-days", "2", "-extfile", file("names"), "-out", file("server.pem")],
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A broker with additional config. */
async function startBroker(config: string): Promise<TestBroker> {
  const path = file(`nats-${await freePort()}.conf`);
  writeFileSync(path, config, { mode: 0o600 });
  const broker = new TestBroker(await freePort(), { words: ["-c", path] });
  await broker.start();
  onTestFinished(() => broker.close());
  return broker;
}

/** The result of a login: `in`, or the code of the error. */
async function login(broker: TestBroker, settings: Partial<BrokerSettings>): Promise<string> {
  try {
    const connected = await connectBroker({ url: broker.url, ...settings }, { name: "test" });
    await connected.close();
    return "in";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const tls = () => `tls { cert_file: "${file("server.pem")}", key_file: "${file("server.key")}" }`;

/** Every file below a directory that contains one of the texts. */
function filesWith(directory: string, texts: readonly string[]): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(directory, name);
    if (!statSync(path).isFile()) return false;
    const text = readFileSync(path, "latin1");
    return texts.some((secret) => text.includes(secret));
  });
}

describe.skipIf(missing !== undefined)("a broker with authentication", { timeout: 120_000 }, () => {
  it("is reached over TLS, only with a trusted certificate", async () => {
    const broker = await startBroker(tls());
    const secure = { url: broker.url.replace("nats:", "tls:") };
    expect(await login(broker, { ...secure, caFile: file("ca.pem") })).toBe("in");
    // The broker requires TLS even without tls:// in the address.
    expect(await login(broker, { caFile: file("ca.pem") })).toBe("in");
    expect(await login(broker, secure)).toBe("QUEUE_UNTRUSTED");
    expect(await login(broker, { ...secure, caFile: file("other.pem") })).toBe("QUEUE_UNTRUSTED");
    expect(await login(broker, { ...secure, caFile: file("nowhere.pem") })).toBe("QUEUE_CREDENTIALS");
    const open = await startBroker("");
    expect(await login(open, { url: open.url.replace("nats:", "tls:") })).toBe("QUEUE_UNREACHABLE");
  });

  it("can require a client certificate", async () => {
    const mutual = `tls { cert_file: "${file("server.pem")}", key_file: "${file("server.key")}", ca_file: "${file("ca.pem")}", verify: true }`;
    const broker = await startBroker(mutual);
    const own = { certFile: file("server.pem"), keyFile: file("server.key") };
    expect(await login(broker, { caFile: file("ca.pem"), ...own })).toBe("in");
    expect(await login(broker, { caFile: file("ca.pem") })).not.toBe("in");
  });

  it("accepts user and password, a token or an nkey", async () => {
    const [user, other] = [nkeys.createUser(), nkeys.createUser()];
    for (const [name, pair] of Object.entries({ own: user, other }))
      writeFileSync(file(`${name}.nk`), `${new TextDecoder().decode(pair.getSeed())}\n`);
    const broker = await startBroker(
      `authorization { users: [ { user: gym, password: "${PASSWORD}" }, { nkey: ${user.getPublicKey()} } ] }`,
    );
    expect(await login(broker, { user: "gym", password: PASSWORD })).toBe("in");
    expect(await login(broker, { url: `nats://gym:${PASSWORD}@127.0.0.1:${broker.port}` })).toBe("in");
    expect(await login(broker, { user: "gym", password: "wrong" })).toBe("QUEUE_REFUSED");
    expect(await login(broker, {})).toBe("QUEUE_REFUSED");
    expect(await login(broker, { nkeyFile: file("own.nk") })).toBe("in");
    expect(await login(broker, { nkeyFile: file("other.nk") })).toBe("QUEUE_REFUSED");
    writeFileSync(file("bad.nk"), "not a seed");
    expect(await login(broker, { nkeyFile: file("bad.nk") })).toBe("QUEUE_CREDENTIALS");
    const tokens = await startBroker(`authorization { token: "${PASSWORD}" }`);
    expect(await login(tokens, { token: PASSWORD })).toBe("in");
    expect(await login(tokens, { token: "wrong" })).toBe("QUEUE_REFUSED");
  });

  it("accepts a JWT over TLS, and a run leaves no secret in its files", async () => {
    const { config, creds, seed } = makeOperator();
    const broker = await startBroker(`${config}\n${tls()}`);
    writeFileSync(file("user.creds"), creds);
    writeFileSync(file("foreign.creds"), makeOperator().creds);
    writeFileSync(file("bad.creds"), "nothing");
    const trusted = { caFile: file("ca.pem") };
    expect(await login(broker, { ...trusted, credsFile: file("foreign.creds") })).toBe("QUEUE_REFUSED");
    expect(await login(broker, { ...trusted, credsFile: file("bad.creds") })).toBe("QUEUE_CREDENTIALS");

    const cwd = await rows(20);
    // The worker reads its login from the environment, the collector from config keys.
    const env = { NATS_CA: file("ca.pem"), NATS_CREDS: file("user.creds") };
    const worker = startGym(["worker", "--queue", broker.url, "++policy_api_key=very-secret"], cwd, env);
    const keys = [`++queue_tls_ca_file=${file("ca.pem")}`, `++queue_creds_file=${file("user.creds")}`];
    const run = [...EVALUATION, "-i", "rows.jsonl", "-o", "out/rollouts.jsonl", "--queue", broker.url];
    const { exitCode, stderr, stdout } = await runGym(
      [...run, ...keys, "++policy_api_key=very-secret", `++queue_password=${PASSWORD}`],
      { cwd },
    );
    expect(exitCode, stderr).toBe(0);
    expect(sortedLines(join(cwd, "out/rollouts.jsonl"))).toHaveLength(20);
    const token = creds.split("\n")[1] ?? "";
    const secrets = [seed, token, PASSWORD, "very-secret"];
    expect(filesWith(cwd, secrets)).toEqual([]);
    for (const text of [stderr, stdout, worker.text()])
      for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

describe.skipIf(missing !== undefined)("the store of a run", { timeout: 120_000 }, () => {
  it("accepts from workers only results of its own rollouts", async () => {
    const broker = await startBroker("");
    const cwd = await rows(20);
    const collector = startGym(
      [...EVALUATION, "-i", "rows.jsonl", "-o", "rollouts.jsonl", "--queue", broker.url],
      cwd,
    );
    await until("the run", () => collector.text().includes("waits for workers"));
    const connected = await connectBroker({ url: broker.url }, { name: "test" });
    onTestFinished(() => connected.close());
    const [record] = await (await RunBoard.open(connected)).runs();
    const post = async (head: object, row: object | string) => {
      const lines = [JSON.stringify(head), typeof row === "string" ? row : JSON.stringify(row)];
      const answer = await fetch(`${record?.store.url}/results`, {
        method: "POST",
        headers: { authorization: `Bearer ${record?.store.token}` },
        body: lines.join("\n"),
      });
      return `${answer.status} ${await answer.text()}`;
    };
    const [agent = ""] = record?.agents.map(({ name }) => name) ?? [];
    const about = { task: 0, rollout: 0, attempt: 0, at: 0, agent, worker: "w" };
    const done = { ...about, status: "completed" };
    const row = { _ng_task_index: 0, _ng_rollout_index: 0, reward: 1 };
    const failure = { class: "agent_error", stage: "run", retryable: false, message: "" };
    expect(await post({ ...about, status: "failed" }, "")).toContain("400 failure");
    expect(await post({ ...about, status: "failed", failure, persist: true }, "{")).toMatch(
      /^500 .*not JSON/,
    );
    expect(await post(done, { ...row, _ng_task_index: 1 })).toContain("is not that of rollout 0 of task 0");
    expect(await post(done, { ...row, reward: "1" })).toContain("is not a number");
    const foreign = { ...row, _ng_task_index: 1e9 };
    expect(await post({ ...done, task: 1e9 }, foreign)).toContain("does not belong to this run");
    const worker = startGym(["worker", "--queue", broker.url], cwd);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(sortedLines(join(cwd, "rollouts.jsonl"))).toHaveLength(20);
    worker.child.kill();
  });
});
