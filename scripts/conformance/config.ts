import { lookup } from "node:dns/promises";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, hostname, tmpdir } from "node:os";
import path from "node:path";
import { runCli } from "../../src/cli/main.ts";
import { ConfigError } from "../../src/config/errors.ts";
import { installRoot } from "../../src/config/paths.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { errorMessage } from "../../src/errors.ts";
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
interface Place {
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
  const results = [];
  for (const golden of cases) {
    const error = await runCase(golden, defaults, ignore_keys);
    results.push(error === undefined ? { id: golden.id } : { id: golden.id, error });
  }
  return results;
};

async function runCase(golden: Case, defaults: Json, ignored: string[]): Promise<string | undefined> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "config-case-")));
  try {
    const place = await prepare(golden, base);
    const outcome = await (golden.mode === "gym" ? runProgram(golden, place) : runResolver(golden, place));
    const different = EXPECTED_DIFFERENCES[golden.id];
    const expected = await fillPlaces(
      different ? { ...golden.expect, config: { ...golden.expect.config, ...different } } : golden.expect,
      place,
    );
    return (
      compareError(outcome, expected) ??
      compareConfig(outcome, expected, defaults, ignored) ??
      compareOutput(outcome, expected)
    );
  } catch (error) {
    return `the case could not be run: ${errorMessage(error)}`;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

async function prepare({ input }: Case, base: string): Promise<Place> {
  const place = {
    cwd: path.join(base, "cwd"),
    install: path.join(base, "install"),
    roots: path.join(base, "roots"),
  };
  await writeFiles(place.cwd, input.files ?? {});
  await writeFiles(place.install, input.install_files ?? {});
  if (input.env_yaml !== undefined) await writeFiles(place.cwd, { "env.yaml": input.env_yaml });
  const extra = Object.entries(input.extra_roots ?? {});
  for (const [name, files] of extra) await writeFiles(path.join(place.roots, name), files);
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of Object.keys(env)) if (name.startsWith("NEMO_GYM_")) delete env[name];
  if (extra.length > 0)
    env.NEMO_GYM_EXTRA_ROOTS = extra.map(([name]) => path.join(place.roots, name)).join(path.delimiter);
  for (const [name, value] of Object.entries(input.env ?? {})) {
    if (value === null) delete env[name];
    else env[name] = value;
  }
  return { ...place, env };
}

async function writeFiles(directory: string, files: Files): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

async function runResolver({ input }: Case, { cwd, env, install }: Place): Promise<Outcome> {
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

async function runProgram({ input }: Case, { cwd, env }: Place): Promise<Outcome> {
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
async function fillPlaces(expect: Case["expect"], place: Place): Promise<Case["expect"]> {
  let text = JSON.stringify(expect);
  const places: Record<string, () => string | Promise<string>> = {
    "<cwd>": () => place.cwd,
    "<install>": () => (expect.exit_code === undefined ? place.install : installRoot()),
    "<roots>": () => place.roots,
    "<home>": () => place.env.HOME ?? homedir(),
    "<host-ip>": async () => (await lookup(hostname(), { family: 4 })).address,
  };
  for (const [name, value] of Object.entries(places)) {
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
