import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { openCatalog } from "../catalog/listing.ts";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { namedConfig } from "../selectors.ts";
import { discoverResourcesServers } from "../workloads/catalog/components.ts";
import {
  type Certificate,
  readCertificates,
  staleParts,
  writeCertificate,
} from "../workloads/certify/certificate.ts";
import type { Certified } from "../workloads/certify/certify.ts";
import { certifyInProcess } from "../workloads/certify/certify-process.ts";
import type { Level } from "../workloads/certify/levels.ts";
import type { Survivor } from "../workloads/certify/mutation.ts";
import { currentDigests } from "../workloads/certify/stale.ts";
import { certifyKeys } from "./keys.ts";

export interface CertifyFlags {
  readonly level?: string;
  readonly against: readonly string[];
  readonly run: readonly string[];
  readonly mutants?: number;
  readonly output?: string;
  readonly stale: boolean;
  readonly lower: boolean;
}

interface Entry extends Partial<Certified> {
  readonly name: string;
  readonly file?: string;
  readonly problem?: string;
}

const MARKS = { passed: "✓", failed: "✗", waived: "~", skipped: "-" } as const;
const SHOWN = 5;
const WIDTH = 80;
/** By how much the mutation score may fall unnoticed. */
const FALL = 0.01;
const DEFAULT_MUTANTS = 200;
/** A verification with a fault in it that takes longer counts as endless. */
const MUTANT_HANG_MS = 60_000;

/** Runs `gym env certify`. */
export async function certifyEnvironments(context: CommandContext, flags: CertifyFlags): Promise<number> {
  const { component_name: name, limit } = await listingKeys(context, certifyKeys);
  if (name === undefined && !flags.stale)
    throw new UsageError("argument NAME: name an environment, or give --stale to certify all that changed");
  if (flags.run.length > 0 && flags.level !== "statistical")
    throw new UsageError("argument --run: it needs --level statistical");
  const { io, env, installRoot, signal, err, terminal, json } = context;
  const resolved = (files: readonly string[]) => files.map((file) => path.resolve(io.cwd, file));
  for (const file of [...resolved(flags.against), ...resolved(flags.run)])
    if (!existsSync(file)) throw new UsageError(`${file} does not exist`);
  if (
    flags.output !== undefined &&
    !statSync(path.resolve(io.cwd, flags.output), { throwIfNoEntry: false })?.isDirectory()
  )
    throw new UsageError(`argument --output: ${flags.output} is not a folder`);
  const all =
    name === undefined
      ? discoverResourcesServers(openCatalog(context))
      : [{ name, configFile: await namedConfig(context, name) }];
  const entries: Entry[] = [];
  for (const { name: each, configFile } of all) {
    signal.throwIfAborted();
    const places = { configFile, cwd: io.cwd, env: { ...env }, installRoot, limit };
    try {
      if (flags.stale && !isStale(places)) continue;
      const certified = await certifyInProcess(
        {
          ...places,
          level: (flags.level ?? "semantic") as Level,
          against: resolved(flags.against),
          runs: resolved(flags.run),
          mutants: flags.mutants ?? DEFAULT_MUTANTS,
          hanging: [],
        },
        {
          signal,
          env,
          hangLimitMs: MUTANT_HANG_MS,
          onProgress: context.verbose ? (what) => err(terminal.dim(what)) : undefined,
        },
      );
      if (certified.length === 0 && name === undefined) continue;
      if (certified.length === 0) throw new UsageError("its config has no agent with example data");
      for (const found of certified) {
        const folder = flags.output === undefined ? found.directory : path.resolve(io.cwd, flags.output);
        const problem = flags.lower ? undefined : fallOf(found, readCertificates(folder)[found.config]);
        const file =
          problem === undefined ? writeCertificate(folder, found.config, found.certificate) : undefined;
        entries.push({ name: each, ...found, problem, file });
      }
    } catch (error) {
      signal.throwIfAborted();
      entries.push({ name: each, problem: errorMessage(error) });
    }
    const latest = entries.at(-1);
    if (!json && latest !== undefined) show(context, latest);
  }
  const passed = entries.every(
    ({ certificate, problem }) => certificate?.passed === true && problem === undefined,
  );
  if (json) context.out(JSON.stringify({ passed, environments: entries }));
  else if (name === undefined) context.out(`${entries.length} environments certified.`);
  return passed ? 0 : 1;
}

/** A score that fell. Changed code has other places for faults, so it may differ a little. */
function fallOf({ certificate }: Certified, before: Certificate | undefined): string | undefined {
  const [old, now] = [before?.mutation_score ?? 0, certificate.mutation_score];
  if (now === null || now >= old - FALL) return undefined;
  const [from, to] = [old, now].map((score) => `${(score * 100).toFixed(1)} %`);
  return `not written: the mutation score fell from ${from} to ${to}; --lower accepts it`;
}

function isStale(places: Parameters<typeof currentDigests>[0]): boolean {
  return currentDigests(places).some(({ directory, config, digests }) => {
    const certificate = readCertificates(directory)[config];
    return certificate === undefined || staleParts(certificate, digests).length > 0;
  });
}

function show({ out, terminal, io }: CommandContext, entry: Entry): void {
  const { name, certificate, reports = [], mutation, file, problem } = entry;
  if (certificate === undefined) {
    out(`${terminal.bold(name)}\n  ${terminal.red("✗")} not certified: ${problem}\n`);
    return;
  }
  out(`${terminal.bold(name)} (level ${certificate.level})`);
  for (const { check, status, reason, remedy } of certificate.checks) {
    const report = reports.find((each) => each.check === check);
    const aside = reason ?? report?.note;
    const colour = {
      passed: terminal.green,
      failed: terminal.red,
      waived: terminal.yellow,
      skipped: terminal.dim,
    }[status];
    const room = WIDTH - check.length - 6;
    out(
      `  ${colour(MARKS[status])} ${check}${aside === undefined ? "" : terminal.dim(`: ${cut(aside, room)}`)}`,
    );
    if (status !== "failed") continue;
    if (check !== "mutation-score") {
      for (const { row, policy, message } of report?.findings.slice(0, SHOWN) ?? []) {
        const where = [row === undefined ? undefined : `row ${row}`, policy].filter(
          (part) => part !== undefined,
        );
        out(cut(`      ${where.join(", ")}${where.length > 0 ? ": " : ""}${message}`, WIDTH));
      }
    }
    out(`      ${terminal.dim(cut(`→ ${remedy}`, WIDTH - 6))}`);
  }
  for (const survivor of mutation?.survivors.slice(0, SHOWN) ?? []) showSurvivor(out, survivor);
  const hidden = (mutation?.survivors.length ?? 0) - SHOWN;
  if (hidden > 0) out(`      … and ${hidden} more; --json lists all`);
  if (problem !== undefined) out(`  ${terminal.red("✗")} ${problem}`);
  if (file !== undefined) out(`  written to ${path.relative(io.cwd, file)}`);
  out("");
}

function showSurvivor(out: (text: string) => void, { file, line, operator, diff }: Survivor): void {
  out(cut(`      ${file}:${line} survives (${operator})`, WIDTH));
  out(cut(`        - ${diff[0].replaceAll(/\s+/g, " ")}`, WIDTH));
  out(cut(`        + ${diff[1].replaceAll(/\s+/g, " ")}`, WIDTH));
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
