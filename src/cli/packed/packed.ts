import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { withTemporaryDirectory } from "../../base/files/door.ts";
import {
  PACKED_SUFFIX,
  packedRunOf,
  packRun,
  rolloutsInside,
  runFileExists,
  type VerifiedPack,
  verifyPacked,
} from "../../records/door.ts";
import { artifactPaths, findRuns, readLines } from "../../records/files/door.ts";
import { type ChangedReward, changedRewards, readRunTasks } from "../../records/results/door.ts";
import { gymVersion } from "../../run/light-door.ts";
import { reverify } from "../../run/reverify/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { estimateText } from "../eval/report.ts";
import { createRunView, followRun } from "../eval/run-view.ts";
import { THRESHOLD_MISSED } from "../eval/thresholds.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { countText } from "../render/progress.ts";

const REPORT_EVERY_MS = 2_000;
const MAX_LISTED = 20;

/** Runs `gym run pack`. */
export async function pack(
  context: CommandContext,
  given: string,
  output: string | undefined,
): Promise<number> {
  const { io, out, json, signal, installRoot } = context;
  const named = await rolloutFile(context, given, "RUN", { directory: true });
  const isDirectory = (await stat(named)).isDirectory();
  const rollouts = isDirectory ? await onlyRun(context, named) : named;
  if (named.endsWith(PACKED_SUFFIX)) throw new UsageError(`argument RUN: '${given}' is packed already`);
  const target = path.resolve(io.cwd, output ?? `${named.replace(/\.jsonl$/, "")}${PACKED_SUFFIX}`);
  if (!target.endsWith(PACKED_SUFFIX))
    throw new UsageError(`argument --output: the name must end with ${PACKED_SUFFIX}`);
  const onProgress = progress(context, (bytes) => `${megabytes(bytes)} packed`);
  const packed = await packRun(rollouts, target, {
    gymVersion: gymVersion(installRoot),
    onProgress,
    signal,
  });
  if (json) {
    out(JSON.stringify(packed));
    return 0;
  }
  const read = packed.files.reduce((sum, file) => sum + file.bytes, 0);
  out(`Packed:  ${shownPath(context, target)}`);
  out(`Files:   ${packed.files.length}, ${megabytes(read)}, packed ${megabytes(packed.bytes)}`);
  out(`Digest:  ${packed.digest}`);
  out(`Read it: gym eval view ${shownPath(context, target)}`);
  return 0;
}

/** The rollouts of the run in a directory, which must be its only one. */
async function onlyRun(context: CommandContext, directory: string): Promise<string> {
  const { runs } = await findRuns([directory]);
  const [first, ...more] = runs.filter(({ rollouts }) => packedRunOf(rollouts) === undefined);
  if (first === undefined)
    throw new UsageError(`argument RUN: the runs in '${shownPath(context, directory)}' are packed already`);
  if (more.length === 0) return first.rollouts;
  const names = [first, ...more].slice(0, MAX_LISTED).map(({ rollouts }) => shownPath(context, rollouts));
  throw new UsageError(
    `argument RUN: '${shownPath(context, directory)}' holds ${more.length + 1} runs. Name one: ${names.join(", ")}`,
  );
}

/** Runs `gym run verify`. */
export async function verify(
  context: CommandContext,
  given: string,
  flags: { reverify: boolean; force: boolean; digest: string | undefined },
): Promise<number> {
  const { out, err, json, signal } = context;
  const file = await rolloutFile(context, given, "FILE");
  const verified = await verifyPacked(file, {
    onProgress: progress(context, (bytes) => `${megabytes(bytes)} checked`),
    signal,
  });
  const expected = flags.digest?.toLowerCase().replace(/^sha256:/, "");
  if (expected !== undefined && expected !== verified.digest) {
    err(`The digest is ${verified.digest}, not ${expected}: this is another run.`);
    return 1;
  }
  if (!json) printVerified(verified, context);
  const changed = flags.reverify ? await scoredAgain(context, file, flags.force) : undefined;
  if (json) out(JSON.stringify({ ...verified, ...(changed && { reverified: changed }) }));
  else if (changed) printScored(changed, context);
  return changed === undefined || changed.changed.length + changed.unscored === 0 ? 0 : THRESHOLD_MISSED;
}

function printVerified(verified: VerifiedPack, context: CommandContext): void {
  const { out } = context;
  const { coverage, files, reward } = verified;
  const { ok, expected, failed, masked, missing } = coverage;
  out(
    `Whole:    ${shownPath(context, verified.path)}, ${megabytes(verified.bytes)}, ${countText(files.length, "file")}`,
  );
  out(`Digest:   ${verified.digest}`);
  out(`Packed:   ${verified.packed_at} by version ${verified.gym_version}`);
  out(`Rollouts: ${ok} of ${expected} scored (${failed} failed, ${masked} masked, ${missing} missing)`);
  if (reward !== null) out(`Reward:   ${estimateText(reward)} over ${countText(verified.tasks, "task")}`);
}

interface Scored {
  compared: number;
  /** Rollouts that got no new reward, for example because their judge failed. */
  unscored: number;
  changed: ChangedReward[];
}

/** Scores the rollouts again, and compares the rewards. */
async function scoredAgain(context: CommandContext, packed: string, force: boolean): Promise<Scored> {
  const { io, env, installRoot, roots, signal } = context;
  const config = await context.resolve();
  const inside = rolloutsInside(packed);
  const inputs = artifactPaths(inside).materializedInputs;
  if (!runFileExists(inputs))
    throw new UsageError(`'${shownPath(context, packed)}' holds no inputs, so it cannot be scored again`);
  return withTemporaryDirectory("reverify", async (directory) => {
    const copied = path.join(directory, "rollouts.jsonl");
    for (const [from, to] of [
      [inside, copied],
      [inputs, artifactPaths(copied).materializedInputs],
    ] as const)
      await pipeline(Readable.from(unpackedLines(from)), createWriteStream(to), { signal });
    const run = reverify(config, {
      rollouts: copied,
      output: path.join(directory, "again.jsonl"),
      force,
      aggregate: false,
      drain: signal,
      signal: io.stopSignal,
      roots,
      installRoot,
      cwd: io.cwd,
      env,
    });
    const view = createRunView({ ...context, json: false, out: context.err }, "Verifying rollouts");
    try {
      const { paths } = await followRun(run, view);
      const [before, after] = [await readRunTasks(copied), await readRunTasks(paths.output)];
      const changed = changedRewards(before, after);
      return { compared: after.rollouts, unscored: before.rollouts - after.rollouts, changed };
    } finally {
      view.close();
    }
  });
}

/** The lines of a file of rows, with their images. */
async function* unpackedLines(file: string): AsyncGenerator<string> {
  for await (const { text, terminated } of readLines(file)) yield terminated ? `${text}\n` : text;
}

function printScored({ compared, unscored, changed }: Scored, { out, terminal }: CommandContext): void {
  out(
    `Scored:   ${countText(compared, "rollout")} again, ${countText(changed.length, "task")} with other rewards`,
  );
  if (unscored > 0) out(terminal.yellow(`          ${countText(unscored, "rollout")} got no reward`));
  for (const { task, before, after } of changed.slice(0, MAX_LISTED))
    out(`  task ${task}: ${before.join(" ")} then, ${after.join(" ")} now`);
  if (changed.length > MAX_LISTED) out(`  … ${changed.length - MAX_LISTED} more (--json)`);
}

function progress({ err, json }: CommandContext, text: (bytes: number) => string): (bytes: number) => void {
  let reportedAt = performance.now();
  return (bytes) => {
    if (json || performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    err(text(bytes));
  };
}

function megabytes(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
