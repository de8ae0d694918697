import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import path from "node:path";
import { runCli } from "../../src/cli/main.ts";
import { ConfigError } from "../../src/config/errors.ts";
import { installRoot } from "../../src/config/paths.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { inDirectory, writeFiles } from "./case-directory.ts";
import { fillAutoPorts } from "./config-auto-ports.ts";
import { difference } from "./difference.ts";
import type { Suite } from "./suite.ts";

type Json = Record<string, unknown>;
type Files = Record<string, string>;

interface Case {
  id: string;
  mode: "parse" | "gym";
  input: {
    files?: Files;
    install_files?: Files;
    extra_roots?: Record<string, Files>;
    env_yaml?: string;
    cli?: string[];
    env?: Record<string, string | null>;
    no_model?: boolean;
    hide_secrets?: boolean;
    require_servers?: boolean;
  };
  expect: {
    config?: Json;
    key_order?: string[];
    error?: { class: string; contains: string[]; upstream_class?: string };
    exit_code?: number;
    stdout_contains?: string[];
    stderr_contains?: string[];
    stdout_not_contains?: string[];
  };
}

interface CaseFile {
  ignore_keys: string[];
  defaults: Json;
  cases: Case[];
}

/** The environment of one case. */
interface CaseEnvironment {
  cwd: string;
  install: string;
  roots: string;
  env: NodeJS.ProcessEnv;
}

interface Outcome {
  config?: Json;
  error?: unknown;
  exitCode?: number;
  stdout: string;
  stderr: string;
}

/** Values that we mask differently on purpose; docs/compatibility.md gives the reason. */
const EXPECTED_DIFFERENCES: Record<string, Json> = {
  "sec-01": { max_output_tokens: 50, monkey: "banana", empty_key: null, keys: ["a", "b"] },
};

/** Golden cases of the configuration system: resolver runs (`parse`) and whole command lines (`gym`). */
export const suite: Suite = async (file) => {
  const { cases, defaults, ignore_keys } = JSON.parse(await readFile(file, "utf8")) as CaseFile;
  return cases.map((golden) => ({
    id: golden.id,
    run: () =>
      inDirectory(async (base) => {
        const environment = await prepare(golden, base);
        const { mode, expect } = golden;
        const outcome = await (mode === "gym" ? runProgram : runResolver)(golden, environment);
        const config = expect.config && { ...expect.config, ...EXPECTED_DIFFERENCES[golden.id] };
        const expected = await fillPlaceholders({ ...expect, ...(config && { config }) }, environment);
        return (
          compareError(outcome, expected) ??
          compareConfig(outcome, expected, defaults, ignore_keys) ??
          compareOutput(outcome, expected)
        );
      }),
  }));
};

async function prepare({ input }: Case, base: string): Promise<CaseEnvironment> {
  const directories = {
    cwd: path.join(base, "cwd"),
    install: path.join(base, "install"),
    roots: path.join(base, "roots"),
  };
  await writeFiles(directories.cwd, input.files ?? {});
  await writeFiles(directories.install, input.install_files ?? {});
  if (input.env_yaml !== undefined) await writeFiles(directories.cwd, { "env.yaml": input.env_yaml });
  const extra = Object.entries(input.extra_roots ?? {});
  for (const [name, files] of extra) await writeFiles(path.join(directories.roots, name), files);
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of Object.keys(env)) if (name.startsWith("NEMO_GYM_")) delete env[name];
  if (extra.length > 0)
    env.NEMO_GYM_EXTRA_ROOTS = extra.map(([name]) => path.join(directories.roots, name)).join(path.delimiter);
  for (const [name, value] of Object.entries(input.env ?? {})) {
    if (value === null) delete env[name];
    else env[name] = value;
  }
  return { ...directories, env };
}

async function runResolver({ input }: Case, { cwd, env, install }: CaseEnvironment): Promise<Outcome> {
  const output = { stdout: "", stderr: "" };
  try {
    const config = await resolveConfig({
      overrides: input.cli ?? [],
      noModel: input.no_model ?? false,
      hideSecrets: input.hide_secrets ?? false,
      requireServers: input.require_servers ?? false,
      requireDomain: true,
      cwd,
      env,
      installRoot: install,
      onNotice: (text, stream) => {
        output[stream] += `${text}\n`;
      },
    });
    return { ...output, config: config.toObject() };
  } catch (error) {
    return { ...output, error };
  }
}

async function runProgram({ input }: Case, { cwd, env }: CaseEnvironment): Promise<Outcome> {
  const output = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      output[name] += text;
      return true;
    },
  });
  const io = { cwd, env: { ...env, NO_COLOR: "1" }, stdout: stream("stdout"), stderr: stream("stderr") };
  const exitCode = await runCli(input.cli ?? [], io);
  return { ...output, exitCode };
}

/** Replaces `<cwd>`, `<install>`, `<roots>`, `<home>` and `<host-ip>` in every expected text. */
async function fillPlaceholders(
  expect: Case["expect"],
  { cwd, install, roots, env }: CaseEnvironment,
): Promise<Case["expect"]> {
  let text = JSON.stringify(expect);
  const values: Record<string, () => string | Promise<string>> = {
    "<cwd>": () => cwd,
    "<install>": () => (expect.exit_code === undefined ? install : installRoot()),
    "<roots>": () => roots,
    "<home>": () => env.HOME ?? homedir(),
    "<host-ip>": async () => (await lookup(hostname(), { family: 4 })).address,
  };
  for (const [name, value] of Object.entries(values)) {
    if (text.includes(name)) text = text.replaceAll(name, JSON.stringify(await value()).slice(1, -1));
  }
  return JSON.parse(text) as Case["expect"];
}

function compareError({ error }: Outcome, { error: expected }: Case["expect"]): string | undefined {
  if (expected === undefined) return error === undefined ? undefined : `failed: ${describe(error)}`;
  if (error === undefined) return `did not fail; expected ${expected.class}`;
  if (!(error instanceof ConfigError)) return `expected ${expected.class}, but ${describe(error)}`;
  if (expected.upstream_class === undefined && error.name !== expected.class)
    return `expected ${expected.class}, but ${describe(error)}`;
  return firstMissing("the message", error.message, expected.contains);
}

function compareConfig(
  { config }: Outcome,
  { config: expected, key_order }: Case["expect"],
  defaults: Json,
  ignored: string[],
): string | undefined {
  if (expected === undefined) return undefined;
  if (config === undefined) return "no config came back";
  const compared = Object.fromEntries(
    Object.entries(config).filter(([key]) => !ignored.includes(key) || Object.hasOwn(expected, key)),
  );
  const wanted = { ...defaults, ...expected };
  const ports = fillAutoPorts(compared, wanted);
  if ("problem" in ports) return ports.problem;
  const found = difference(compared, ports.expected);
  if (found !== undefined || key_order === undefined) return found;
  const order = Object.keys(compared).filter(
    (key) => !Object.hasOwn(defaults, key) && !ignored.includes(key),
  );
  return difference(order, key_order, "key order");
}

function compareOutput(outcome: Outcome, expected: Case["expect"]): string | undefined {
  if (expected.exit_code !== undefined && outcome.exitCode !== expected.exit_code)
    return `expected exit code ${expected.exit_code}, got ${outcome.exitCode}; stderr: ${outcome.stderr}`;
  const unwanted = expected.stdout_not_contains?.find((text) => outcome.stdout.includes(text));
  if (unwanted !== undefined) return `stdout contains '${unwanted}'`;
  return (
    firstMissing("stdout", outcome.stdout, expected.stdout_contains ?? []) ??
    firstMissing("stderr", outcome.stderr, expected.stderr_contains ?? [])
  );
}

function firstMissing(where: string, text: string, parts: string[]): string | undefined {
  const missing = parts.find((part) => !text.includes(part));
  return missing === undefined
    ? undefined
    : `${where} lacks ${JSON.stringify(missing)}: ${JSON.stringify(text)}`;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
