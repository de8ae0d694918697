import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { parseJson } from "../../../base/door.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { type ProcessOutcome, runProcess } from "../../../sandbox/door.ts";
import type { ResponseOutputItem } from "../../../wire/schemas/door.ts";
import type { MaybePromise } from "../../definitions/definitions.ts";
import { killWithVariable } from "../../hosting/processes/marked-processes.ts";
import type { HarnessLaunch } from "./define-cli-agent.ts";
import { Transcript } from "./transcript.ts";

/** Maximum output of one run of a harness. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Environment variables that a program inherits. All others, including keys, are withheld. */
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

/** Environment variable with a unique value for each run of a harness. Its child processes inherit it. */
const HARNESS_MARK = "NEMO_GYM_HARNESS";

/** The folders of one rollout. */
export interface HarnessPlace {
  /** `HOME` of the program: configuration, sessions, caches. */
  home: string;
  /** Working directory of the program. */
  workspace: string;
}

export interface HarnessOutcome extends Pick<ProcessOutcome, "code" | "stderr" | "timedOut"> {
  transcript: Transcript;
}

/** The place that runs a harness for one rollout. */
export interface HarnessHost {
  /** The paths of the folders inside the place. */
  place: HarnessPlace;
  /** Writes the files of the launch. */
  prepare(launch: HarnessLaunch, signal: AbortSignal): Promise<void>;
  run(
    command: { program: string; args: readonly string[]; stdin?: string | undefined },
    options: {
      env: Readonly<Record<string, string>>;
      timeoutMs: number;
      signal: AbortSignal;
      /** Receives the lines of standard output: as they are written, or at the end from a sandbox. */
      onLine(line: string): void;
    },
  ): Promise<Pick<ProcessOutcome, "code" | "stderr" | "timedOut">>;
  /** Removes the folders and ends the processes that the harness left running. */
  close(): Promise<void>;
}

/** Runs a harness once and collects its events. */
export async function runHarness(options: {
  program: string;
  /** The Node that runs it if it is a script. */
  node: string;
  host: HarnessHost;
  timeoutMs: number;
  signal: AbortSignal;
  launch(place: HarnessPlace): MaybePromise<HarnessLaunch>;
  read(event: JsonObject, transcript: Transcript): void;
  /** Receives items as soon as the harness reports them. */
  onItems?: (items: readonly ResponseOutputItem[]) => void;
}): Promise<HarnessOutcome> {
  const { host, signal } = options;
  try {
    const launch = await options.launch(host.place);
    await host.prepare(launch, signal);
    const started = performance.now();
    const run = (args: readonly string[], onLine: (line: string) => void, stdin?: string) =>
      host.run(
        { ...commandOf(options, launch.runner, args), stdin },
        {
          env: { ...launch.env },
          timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - started)),
          signal,
          onLine,
        },
      );
    const transcript = new Transcript(options.onItems);
    for (const args of launch.before ?? []) {
      const outcome = await run(args, () => {});
      if (outcome.code !== 0) return { ...outcome, transcript };
    }
    const outcome = await run(
      launch.args,
      (line) => {
        const event = eventOf(line);
        if (event !== undefined) options.read(event, transcript);
      },
      launch.stdin,
    );
    return { ...outcome, transcript };
  } finally {
    await host.close();
  }
}

/** Runs a harness in two temporary folders of this machine, with the rights of this process. */
export async function openLocalHost(): Promise<HarnessHost> {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "nemo-gym-harness-")));
  const place = { home: path.join(folder, "home"), workspace: path.join(folder, "workspace") };
  await mkdir(place.home, { mode: 0o700 });
  await mkdir(place.workspace, { mode: 0o700 });
  return {
    place,
    async prepare(launch) {
      const copying = { recursive: true, errorOnExist: true, force: false };
      for (const [target, source] of Object.entries(launch.copies ?? {}))
        await cp(source, path.join(place.home, target), copying);
      for (const [target, text] of Object.entries(launch.files ?? {})) {
        const file = path.join(place.home, target);
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, text, { mode: 0o600 });
      }
    },
    async run({ stdin, ...command }, { env, timeoutMs, signal, onLine }) {
      const stdout = new PassThrough();
      const lines = readLines(stdout, onLine);
      // If the reader fails, it closes the stream, and the error is thrown below.
      lines.catch(() => {});
      try {
        return await runProcess({
          ...command,
          ...(stdin !== undefined && { stdin }),
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
      // Shells of harnesses have their own process groups, so their background processes still run.
      killWithVariable(HARNESS_MARK, folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Runs JavaScript programs with Node, and others directly. */
function commandOf(
  { program, node }: { program: string; node: string },
  runner: string | undefined,
  args: readonly string[],
): { program: string; args: readonly string[] } {
  if (runner !== undefined) return { program: node, args: [runner, program, ...args] };
  const isScript = /\.[cm]?js$/.test(program);
  return isScript ? { program: node, args: [program, ...args] } : { program, args };
}

function inheritedVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    INHERITED.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
}

async function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    onLine(line);
}

/** The JSON object in a line; undefined for other lines, such as warnings. */
function eventOf(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  const event = parseJson(line);
  return isObject(event) ? event : undefined;
}
