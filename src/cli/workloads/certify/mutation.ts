import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { ServerDefinition } from "../../../servers/definitions/door.ts";
import { Audit, type AuditTarget, type Check } from "../audit/audit.ts";
import { startServer } from "../audit/audited-server.ts";
import { nearMissCheck, rewritingCheck } from "../audit/checks/edited-answers.ts";
import { injectionCheck, judgeFailureCheck } from "../audit/checks/judge.ts";
import { malformedCheck } from "../audit/checks/malformed.ts";
import { goldCheck, nonsenseCheck, rewardRangeCheck } from "../audit/checks/rewards.ts";
import { GOLDEN_FILE, type VerifierCase } from "../verifier-cases/cases.ts";
import { MutableServer } from "./mutable-server.ts";
import type { Mutant } from "./mutants.ts";
import { casesOf, failsCase, replay, sameValue } from "./verifier-cases-check.ts";

/** The checks that a fault must fail, the cheapest first. */
const CHECKS: readonly Check[] = [
  goldCheck,
  nearMissCheck,
  nonsenseCheck,
  rewritingCheck,
  rewardRangeCheck,
  judgeFailureCheck,
  injectionCheck,
];
const MAX_GOLDEN = 300;
/** How many times the turns of all loops without a fault are allowed with one. */
const TURN_FACTOR = 20;
const SPARE_TURNS = 1_000_000;

export interface MutationOptions {
  readonly target: AuditTarget;
  /** The file of the server's definition. */
  readonly entry: string;
  readonly installRoot: string;
  /** Maximum number of faults. */
  readonly limit: number;
  /** Indexes of faults that made an earlier try hang. */
  readonly hanging: readonly number[];
  readonly onProgress?: (what: string) => void;
}

export interface MutationResult {
  /** Faults that the code has places for. */
  readonly possible: number;
  readonly tried: number;
  readonly killed: number;
  /** Survivors that `audit.yaml` calls equivalent. */
  readonly waived: number;
  /** Killed faults of those that are not equivalent, from 0 to 1. */
  readonly score: number | null;
  /** How many faults each part of the tests found first. */
  readonly killedBy: Readonly<Record<string, number>>;
  readonly cases: number;
  readonly goldenRows: number;
  readonly survivors: readonly Survivor[];
}

export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  readonly from: string;
  readonly to: string;
  /** The line of the source without and with the fault. */
  readonly diff: readonly [before: string, after: string];
}

/** Puts faults into the verifier, one at a time and in memory, and counts those that its tests find. */
export async function measureMutants(options: MutationOptions): Promise<MutationResult> {
  const { target, limit, onProgress } = options;
  const code = await MutableServer.open(options.entry, options.installRoot);
  const suite = await Suite.create(target, code, options.installRoot);
  const chosen = sample(code.mutants, limit);
  const killedBy: Record<string, number> = {};
  const survivors: Survivor[] = [];
  let waived = 0;
  for (const [index, mutant] of chosen.entries()) {
    onProgress?.(`mutant ${index}: ${mutant.file}:${mutant.line} of ${chosen.length}`);
    const killer = options.hanging.includes(index) ? "endless" : await suite.kill(mutant);
    if (killer !== undefined) killedBy[killer] = (killedBy[killer] ?? 0) + 1;
    else if (isWaived(mutant, target)) waived++;
    else survivors.push(survivorOf(mutant, options.entry));
  }
  const killed = Object.values(killedBy).reduce((sum, count) => sum + count, 0);
  const counted = chosen.length - waived;
  return {
    possible: code.mutants.length,
    tried: chosen.length,
    killed,
    waived,
    score: counted === 0 ? null : Math.round((killed / counted) * 1000) / 1000,
    killedBy,
    cases: suite.cases.length,
    goldenRows: suite.golden.length,
    survivors,
  };
}

/** The same faults every time, from all parts of the code. */
function sample(mutants: readonly Mutant[], limit: number): Mutant[] {
  const keyed = mutants.map((mutant) => {
    const { file, operator, from, to } = mutant;
    return { mutant, key: createHash("sha256").update(`${file} ${operator} ${from} ${to}`).digest("hex") };
  });
  const chosen = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
  return chosen
    .map(({ mutant }) => mutant)
    .sort((a, b) => a.file.localeCompare(b.file) || a.start - b.start || a.end - b.end);
}

function isWaived({ file, from, to }: Mutant, { settings }: AuditTarget): boolean {
  return settings.equivalent_mutants.some(
    (waiver) => waiver.file === file && waiver.from === from && waiver.to === to,
  );
}

function survivorOf({ file, line, start, end, operator, from, to }: Mutant, entry: string): Survivor {
  const source = readFileSync(path.join(path.dirname(entry), file), "utf8");
  const lineStart = source.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = source.indexOf("\n", end);
  const stop = lineEnd === -1 ? source.length : lineEnd;
  const before = source.slice(lineStart, stop).trim();
  const after = (source.slice(lineStart, start) + to + source.slice(end, stop)).trim();
  return { file, line, operator, from, to, diff: [before, after] };
}

interface GoldenRow {
  readonly request: JsonObject;
  readonly expected: JsonObject;
  /** Keys of the server's config that the row was recorded with. */
  readonly config?: JsonObject;
}

/** What a verifier is tested with: its cases, golden rows and the checks of the audit. */
class Suite {
  readonly cases: VerifierCase[] = [];
  readonly golden: GoldenRow[] = [];
  readonly #target: AuditTarget;
  readonly #code: MutableServer;
  /** The findings without a fault, by check. */
  readonly #known = new Map<Check, Set<string>>();

  private constructor(target: AuditTarget, code: MutableServer) {
    this.#target = target;
    this.#code = code;
  }

  static async create(target: AuditTarget, code: MutableServer, installRoot: string): Promise<Suite> {
    const { directory, implementation } = target.server;
    const definition = code.load();
    const suite = new Suite(target, code);
    // Those that fail are findings of another check.
    for (const found of casesOf(directory))
      if (!(await suite.#failsCase(definition, found))) suite.cases.push(found);
    const candidates = goldenRows([
      path.join(directory, GOLDEN_FILE),
      path.join(installRoot, "tests/golden/fixtures", implementation, "parity.jsonl"),
    ]);
    for (const row of candidates) {
      const expected = await suite.#metExpectations(definition, row);
      if ("reward" in expected) suite.golden.push({ ...row, expected });
    }
    for (const check of CHECKS) suite.#known.set(check, await suite.#findings(definition, check));
    suite.#known.set(malformedCheck, await suite.#findings(definition, malformedCheck));
    code.turns.limit = code.turns.count * TURN_FACTOR + SPARE_TURNS;
    return suite;
  }

  /** What finds the fault first. */
  async kill(mutant: Mutant): Promise<string | undefined> {
    this.#code.turns.count = 0;
    let definition: ServerDefinition;
    try {
      definition = this.#code.load(mutant);
    } catch {
      return "load";
    }
    try {
      for (const found of this.cases) if (await this.#failsCase(definition, found)) return "verifier cases";
      for (const row of this.golden) if (await this.#failsRow(definition, row)) return "golden rows";
      for (const check of [...CHECKS, malformedCheck]) {
        const known = this.#known.get(check);
        const findings = await this.#findings(definition, check);
        if ([...findings].some((finding) => !known?.has(finding))) return check.name;
      }
    } catch {
      // A server that does not start, or a loop that does not end outside of a request.
      return "load";
    }
    return undefined;
  }

  async #failsCase(definition: ServerDefinition, found: VerifierCase): Promise<boolean> {
    return failsCase(found, await replay({ ...this.#target.server, definition }, found));
  }

  async #failsRow(definition: ServerDefinition, row: GoldenRow): Promise<boolean> {
    const met = await this.#metExpectations(definition, row);
    return Object.keys(row.expected).some((key) => !(key in met));
  }

  /** The expectations of a row that the server meets. Recorded rows may say more about a reply than is in it. */
  async #metExpectations(definition: ServerDefinition, { request, expected, config }: GoldenRow) {
    const server = await this.#start(definition, "accept", config);
    try {
      const { status, body } = await server.verify(request);
      if (status !== (expected["status"] ?? 200)) return {};
      const reply: JsonObject = { ...(body as JsonObject), status };
      return Object.fromEntries(
        Object.entries(expected).filter(([key, value]) => sameValue(reply[key], value)),
      );
    } catch {
      return {};
    } finally {
      await server.close();
    }
  }

  async #findings(definition: ServerDefinition, check: Check): Promise<Set<string>> {
    const { rows } = this.#target;
    // Large outputs take long, and one row is enough.
    const used = check === malformedCheck ? rows.slice(0, 1) : rows;
    const server = { ...this.#target.server, definition };
    const audit = new Audit({ ...this.#target, server, rows: used }, () => {});
    const { findings } = await check.run(audit);
    return new Set(findings.map(({ row, policy, message }) => `${row} ${policy} ${message}`));
  }

  #start(definition: ServerDefinition, judge: "accept" | "reject", config?: JsonObject) {
    const { server } = this.#target;
    return startServer({ ...server, definition, config: { ...server.config, ...config } }, judge, () => {});
  }
}

/** The rows of the files that exist, as far as they are requests to `/verify` with their replies. */
function goldenRows(files: readonly string[]): GoldenRow[] {
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Partial<GoldenRow>)
    .filter(
      (row): row is GoldenRow =>
        isObject(row.request) &&
        "response" in row.request &&
        isObject(row.expected) &&
        "reward" in row.expected,
    )
    .slice(0, MAX_GOLDEN);
}
