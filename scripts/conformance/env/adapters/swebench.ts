import type { SandboxExecResult, SandboxProvider } from "../../../../src/sandbox/provider.ts";
import { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import type { SandboxSpecInput } from "../../../../src/sandbox/spec.ts";
import { createTestServer } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject } from "../rows.ts";
import { responseOf } from "../scripted-servers.ts";

/** A provider that answers from the script of a row, and records what it is asked for. */
class ScriptedProvider {
  readonly name = "scripted";
  readonly log: JsonObject[] = [];
  readonly #script: JsonObject;
  readonly #applied: unknown[];

  constructor(script: JsonObject) {
    this.#script = script;
    this.#applied = Array.isArray(script["apply"]) ? [...script["apply"]] : [];
  }

  async create({ image, resources }: { image?: string; resources: { cpu?: number } }) {
    const number = this.log.filter(({ start }) => start !== undefined).length + 1;
    this.log.push({ start: number, image, cpu: resources.cpu ?? null });
    return { sandboxId: `sb-${number}`, providerName: this.name, raw: number };
  }

  async exec(
    { raw }: { raw: number },
    command: string,
    { cwd, user, timeoutSeconds }: { cwd?: string; user?: string; timeoutSeconds?: number | null },
  ): Promise<SandboxExecResult> {
    const isTest = command.includes("/eval.sh");
    this.log.push({
      exec: raw,
      cmd: command,
      cwd: cwd ?? null,
      user: user ?? null,
      timeout_s: timeoutSeconds ?? null,
    });
    const reply = (return_code: number, stdout = "") => ({
      stdout,
      stderr: "",
      return_code,
      error_type: null,
    });
    if (/^(git apply|patch )/.test(command)) return reply(Number(this.#applied.shift() ?? 0));
    if (command.includes("--no-pager diff")) return reply(0, "diff --git a/x b/x\n");
    if (!isTest) return reply(0);
    const isLate = this.#script["timeout"] === true;
    return {
      ...reply(isLate ? 125 : 0, String(this.#script["stdout"])),
      error_type: isLate ? "timeout" : null,
    };
  }

  async writeFile({ raw }: { raw: number }, to: string) {
    this.log.push({ upload: raw, to });
  }

  async close({ raw }: { raw: number }) {
    this.log.push({ stop: raw });
  }

  async aclose() {}
}

async function runRow(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const provider = new ScriptedProvider(isObject(row["sandbox_script"]) ? row["sandbox_script"] : {});
  const open = (_server: unknown, spec: SandboxSpecInput) =>
    // The directory of the commands is not recorded where it is that of the sandbox.
    new Sandbox(provider as unknown as SandboxProvider, { ...spec, workdir: undefined }).start();
  const { module } = environment;
  const definition = (module["swebench"] as (open: unknown) => never)(open);
  const server = await createTestServer(
    { ...definitionOf(environment, row), ...(definition as object) } as never,
    {
      config: row.config ?? {},
      directory: environment.directory,
    },
  );
  try {
    const jar = server.newJar();
    const instance = row["instance"] as JsonObject;
    const { seed, verify, sandbox_log } = row.expected as Record<string, JsonObject>;
    if (row["seed_first"] === true) {
      const seeded = await server.post("/seed_session", instance, jar);
      if (seed?.["status"] !== 200) return isNoReward(seeded, instance);
      const found = difference(seeded.body, seed["body"], "seed", { subset: true });
      if (seeded.status !== 200 || found !== undefined) return found ?? `seed: ${show(seeded.body)}`;
    }
    const body = { ...instance, responses_create_params: { input: [] }, response: responseOf([]) };
    const reply = await server.post("/verify", body, jar);
    if (verify?.["status"] === 500) return isNoReward(reply, instance);
    if (reply.status !== 200 || !isObject(reply.body)) return `verify: ${reply.status} ${show(reply.body)}`;
    const { status: _, test_output_empty, log_dir_empty, ...fields } = verify ?? {};
    return (
      difference(reply.body, fields, "verify", { subset: true }) ??
      difference(reply.body["test_output"] === "", test_output_empty, "test_output_empty") ??
      difference(reply.body["log_dir"] === "", log_dir_empty, "log_dir_empty") ??
      difference(cut(provider.log, sandbox_log), sandbox_log, "sandbox_log")
    );
  } finally {
    await server.close();
  }
}

/** Some commands of the fixtures are cut. */
function cut(log: readonly JsonObject[], wanted: unknown): JsonObject[] {
  return log.map((entry, index) => {
    const full = Array.isArray(wanted) ? wanted[index]?.cmd : undefined;
    const isCut = typeof full === "string" && full.endsWith("…");
    return isCut ? { ...entry, cmd: `${String(entry["cmd"]).slice(0, full.length - 1)}…` } : entry;
  });
}

/** The original has to fetch files of these repositories from the internet before it can start; ours does not. */
const FETCHED = new Set(["pylint-dev/pylint"]);

function isNoReward(
  { status, body }: { status: number; body: unknown },
  { repo }: JsonObject,
): string | undefined {
  return status >= 400 || FETCHED.has(String(repo)) ? undefined : `expected an error, got ${show(body)}`;
}

export const adapter: Adapter = { caseOf: (row, environment) => () => runRow(row, environment) };
