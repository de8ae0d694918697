import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import type { MaybePromise } from "../../definitions/definitions.ts";
import { killWithVariable } from "../../marked-processes.ts";
import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { type ProcessOutcome, runProcess } from "../../sandbox/processes/run-process.ts";
import type { ResponseOutputItem } from "../../wire/schemas/responses.ts";
import type { HarnessLaunch } from "./define-cli-agent.ts";
import { Transcript } from "./transcript.ts";

/** What one run of a harness may print. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Variables of the user's that a program needs to run at all. Everything else, keys included, stays outside. */
const INHERITED = [
  "PATH",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
  "SystemRoot",
];

/** Set for a harness, each time to another value; whatever it starts inherits it. */
const HARNESS_MARK = "NEMO_GYM_HARNESS";

/** The folders of one rollout. */
export interface HarnessPlace {
  /** `HOME` of the program: configuration, sessions, caches. */
  home: string;
  /** Where the program works. */
  workspace: string;
}

export interface HarnessOutcome extends Pick<ProcessOutcome, "code" | "stderr" | "timedOut"> {
  transcript: Transcript;
}

/** Where a harness runs for one rollout. */
export interface HarnessHost {
  /** The folders as the program sees them. */
  place: HarnessPlace;
  /** Writes what the launch needs. */
  prepare(launch: HarnessLaunch, signal: AbortSignal): Promise<void>;
  run(
    command: { program: string; args: readonly string[] },
    options: {
      env: Readonly<Record<string, string>>;
      timeoutMs: number;
      signal: AbortSignal;
      /** Gets the lines of standard output, as they come where the host can. */
      onLine(line: string): void;
    },
  ): Promise<Pick<ProcessOutcome, "code" | "stderr" | "timedOut">>;
  /** Removes everything. */
  close(): Promise<void>;
}

/** Runs a harness once and collects what it did. */
export async function runHarness(options: {
  program: string;
  host: HarnessHost;
  timeoutMs: number;
  signal: AbortSignal;
  launch(place: HarnessPlace): MaybePromise<HarnessLaunch>;
  read(event: JsonObject, transcript: Transcript): void;
  /** Told of items as the harness reports them. */
  onItems?: (items: readonly ResponseOutputItem[]) => void;
}): Promise<HarnessOutcome> {
  const { host, signal } = options;
  try {
    const launch = await options.launch(host.place);
    await host.prepare(launch, signal);
    const started = performance.now();
    const run = (args: readonly string[], onLine: (line: string) => void) =>
      host.run(commandOf(options.program, args), {
        env: { ...launch.env },
        timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - started)),
        signal,
        onLine,
      });
    const transcript = new Transcript(options.onItems);
    for (const args of launch.before ?? []) {
      const outcome = await run(args, () => {});
      if (outcome.code !== 0) return { ...outcome, transcript };
    }
    const outcome = await run(launch.args, (line) => {
      const event = eventOf(line);
      if (event !== undefined) options.read(event, transcript);
    });
    return { ...outcome, transcript };
  } finally {
    await host.close();
  }
}

/** Two folders of this machine that are removed afterwards; the program has the rights of this process. */
export async function openLocalHost(): Promise<HarnessHost> {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "nemo-gym-harness-")));
  const place = { home: path.join(folder, "home"), workspace: path.join(folder, "workspace") };
  await mkdir(place.home, { mode: 0o700 });
  await mkdir(place.workspace, { mode: 0o700 });
  return {
    place,
    async prepare(launch) {
      for (const [target, source] of Object.entries(launch.copies ?? {}))
        await cp(source, path.join(place.home, target), {
          recursive: true,
          errorOnExist: true,
          force: false,
        });
      for (const [target, text] of Object.entries(launch.files ?? {})) {
        const file = path.join(place.home, target);
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, text, { mode: 0o600 });
      }
    },
    async run(command, { env, timeoutMs, signal, onLine }) {
      const stdout = new PassThrough();
      const lines = readLines(stdout, onLine);
      // A reader that fails closes the stream; the program then has nobody to write to and the failure is thrown below.
      lines.catch(() => {});
      try {
        return await runProcess({
          ...command,
          cwd: place.workspace,
          env: { ...inheritedVariables(), HOME: place.home, ...env, [HARNESS_MARK]: folder },
          timeoutMs,
          maxOutputBytes: MAX_OUTPUT_BYTES,
          stdoutTo: stdout,
          signal,
        });
      } finally {
        stdout.end();
        await lines;
      }
    },
    async close() {
      // Shells of harnesses have process groups of their own; what they left in the background still runs.
      killWithVariable(HARNESS_MARK, folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** JavaScript programs run with this Node; others are started as they are. */
function commandOf(program: string, args: readonly string[]): { program: string; args: readonly string[] } {
  return /\.[cm]?js$/.test(program)
    ? { program: process.execPath, args: [program, ...args] }
    : { program, args };
}

function inheritedVariables(): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {};
  for (const name of INHERITED) if (process.env[name] !== undefined) kept[name] = process.env[name];
  return kept;
}

async function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    onLine(line);
}

/** The JSON object in a line; undefined for others: harnesses also print warnings. */
function eventOf(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const event: unknown = JSON.parse(line);
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
