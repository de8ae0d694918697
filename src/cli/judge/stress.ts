import path from "node:path";
import { printable } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { Semaphore } from "../../base/transport/light-door.ts";
import type { ResolvedConfig, ServerInstance } from "../../config/door.ts";
import { findExistingPath } from "../../config/paths.ts";
import { RolloutError } from "../../records/errors.ts";
import { readRows } from "../../records/files/door.ts";
import { wilson } from "../../records/metrics/door.ts";
import { startServers } from "../../run/door.ts";
import type { ServerClient } from "../../servers/calls/door.ts";
import { locateServer, messageItem, verifyBody } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { THRESHOLD_MISSED } from "../eval/thresholds.ts";
import { rolloutFile } from "../files.ts";
import { countText } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";
import { goldAttempts, rightAnswerOf } from "../workloads/audit/policies.ts";
import { type AuditSettings, readAuditSettings } from "../workloads/audit/settings.ts";
import { exampleEntries } from "../workloads/audit/targets.ts";
import { type ProbeTools, probes, type StressAnswer } from "./stress-probes.ts";

const AT_ONCE = 8;
const ACCEPTED = 0.5;
const WRONG = "Perhaps it is 7.";

interface StressFlags {
  run: string | undefined;
  answers: number;
  votes: number;
  "max-flips": number | undefined;
}

/** How often the verdict changed in one probe. */
interface ProbeResult {
  probe: string;
  title: string;
  counts: "gains" | "all changes";
  /** Answers about which the judge was asked with and without the change. */
  answers: number;
  /** From rejected to accepted, and the other way round. */
  gained: number;
  lost: number;
  /** Verifications that failed; they are not verdicts. */
  failed: number;
  /** Share of the answers whose verdict changed, as `counts` says; null without answers. */
  share: { value: number; low: number; high: number } | null;
}

/** Runs `gym judge stress`. */
export async function stressJudge(context: CommandContext, flags: StressFlags): Promise<number> {
  const { out, err, json, installRoot, roots, signal } = context;
  const config = await context.resolve();
  const server = judgedServer(config);
  const settings = settingsOf(context, config, server);
  const answers = await answersFor(context, config, server, settings, flags);
  const servers = await startServers(config, { roots, installRoot, head: false, ownsProcess: true, signal });
  try {
    const asked = new Asked(servers.client, server.name, signal);
    const work = stress(asked, answers, { flags, settings, onStep: json ? () => {} : err });
    const { judge, results } = await Promise.race([work, servers.crashed]);
    if (json) out(JSON.stringify({ environment: server.name, judge, answers: answers.length, results }));
    else print(context, server.name, judge, results);
    const limit = flags["max-flips"];
    const missed = results.filter(
      ({ share }) => limit !== undefined && share !== null && share.value > limit,
    );
    for (const { probe, share } of missed)
      err(`${probe}: ${percent(share?.value ?? 0)} of the verdicts change, more than --max-flips ${limit}.`);
    return missed.length > 0 ? THRESHOLD_MISSED : 0;
  } finally {
    await servers.close();
  }
}

/** The only resources server of the config. */
function judgedServer(config: ResolvedConfig): ServerInstance {
  const found = config.servers.filter(({ type }) => type === "resources_servers");
  const [server] = found;
  if (server === undefined || found.length > 1)
    throw new UsageError(
      `the config has ${countText(found.length, "resources server")}: name an environment with exactly one`,
    );
  return server;
}

function settingsOf(context: CommandContext, config: ResolvedConfig, server: ServerInstance): AuditSettings {
  const { name, type, implementation, entrypoint } = server;
  const { directory } = locateServer({ name, type, implementation, entrypoint }, context.roots);
  const [entry] = exampleEntries(config, name);
  return readAuditSettings(directory, path.parse(String(entry?.["jsonl_fpath"] ?? name)).name);
}

/** Right and wrong answers to the example rows, or those of a run. */
async function answersFor(
  context: CommandContext,
  config: ResolvedConfig,
  server: ServerInstance,
  settings: AuditSettings,
  { run, answers: most }: StressFlags,
): Promise<StressAnswer[]> {
  const found: StressAnswer[] = [];
  const rowsOf = async (file: string, limit?: number) => {
    const rows: JsonObject[] = [];
    for await (const { row } of readRows(file, { signal: context.signal, onTornLine: () => {}, limit }))
      rows.push(row);
    return rows;
  };
  if (run !== undefined) {
    const given = await rolloutFile(context, run, "--run", { directory: true });
    const file = given.endsWith(".jsonl") ? given : path.join(given, "rollouts.jsonl");
    for (const { response, ...row } of await rowsOf(file, most)) {
      const answer = lastText(response);
      if (answer !== "") found.push({ row: ownFields(row), answer });
    }
  } else {
    const [entry] = exampleEntries(config, server.name);
    const examples =
      entry?.["jsonl_fpath"] ?? `resources_servers/${server.implementation}/data/example.jsonl`;
    const file = findExistingPath(String(examples), context.roots);
    if (file === undefined)
      throw new UsageError(`${server.name} has no example rows: take answers from a run, with --run RUN`);
    for (const [index, row] of (await rowsOf(file)).entries()) {
      const texts = goldAttempts(row, index, settings.gold).flatMap(
        (attempt) => rightAnswerOf(attempt, true).text ?? [],
      );
      for (const answer of new Set([...texts.slice(0, 1), WRONG])) found.push({ row, answer });
    }
  }
  if (found.length === 0)
    throw new RolloutError("ROLLOUT_NOT_JUDGED", `'${run}' has no rollouts with an answer.`);
  return found.slice(0, most);
}

/** A row of a rollout without what the framework added. */
function ownFields(row: JsonObject): JsonObject {
  const added = /^_ng_|^(?:reward|mask_sample|failure_kind|failure_reason|agent_ref)$/;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !added.test(name)));
}

function lastText(response: unknown): string {
  const output =
    isObject(response) && Array.isArray(response["output"]) ? response["output"].filter(isObject) : [];
  const message = output.findLast((item) => (item["type"] ?? "message") === "message");
  const content = message?.["content"];
  if (typeof content === "string") return content;
  return Array.isArray(content)
    ? content.map((part) => (isObject(part) ? String(part["text"] ?? "") : "")).join("")
    : "";
}

interface Reply {
  accepts: boolean;
  judges: { server: string; model: string | null }[];
}

/** Verifies answers, each in its own session. */
class Asked {
  readonly #client: ServerClient;
  readonly #server: string;
  readonly #signal: AbortSignal;
  readonly #slots = new Semaphore(AT_ONCE);
  /** The message of the first verification that failed. */
  problem: string | undefined;

  constructor(client: ServerClient, server: string, signal: AbortSignal) {
    this.#client = client;
    this.#server = server;
    this.#signal = signal;
  }

  /** The verdict; `failed` if there is none, undefined if the verifier decided without its judge. */
  verdict(given: StressAnswer): Promise<Reply | "failed" | undefined> {
    return this.#slots.run(() => this.#verify(given), this.#signal);
  }

  async #verify({ row, answer }: StressAnswer): Promise<Reply | "failed" | undefined> {
    // Calls of judges are counted by the signal of the request.
    const options = { signal: AbortSignal.any([this.#signal]) };
    try {
      const body = verifyBody(row, messageItem(answer));
      const seeded = await this.#client.post(this.#server, "/seed_session", row, options);
      const reply = await this.#client.post(this.#server, "/verify", body, {
        ...options,
        cookies: seeded.cookies,
      });
      const result = reply.ok ? reply.json() : undefined;
      if (!isObject(result) || result["_ng_failure_class"] !== undefined) {
        const reason = isObject(result) ? result["_ng_failure_judge_error"] : reply.text();
        this.problem ??= String(reason).slice(0, 300);
        return "failed";
      }
      const judged = result["_ng_judge"];
      if (!isObject(judged)) return undefined;
      const judges = Array.isArray(judged["judges"]) ? judged["judges"].filter(isObject) : [];
      return {
        accepts: Number(result["reward"]) >= ACCEPTED,
        judges: judges.map(({ server, model }) => ({
          server: String(server),
          model: typeof model === "string" ? model : null,
        })),
      };
    } catch (error) {
      this.#signal.throwIfAborted();
      this.problem ??= errorMessage(error);
      return "failed";
    }
  }

  async rewrite(server: string, answer: string): Promise<string> {
    const input = `Say the following in your own words. Do not add or correct anything. Reply with the text only.\n\n${answer}`;
    const reply = await this.#client.post(server, "/v1/responses", { input }, { signal: this.#signal });
    return reply.ok ? lastText(reply.json()) : "";
  }
}

async function stress(
  asked: Asked,
  answers: readonly StressAnswer[],
  {
    flags,
    settings,
    onStep,
  }: { flags: StressFlags; settings: AuditSettings; onStep: (line: string) => void },
): Promise<{ judge: string | null; results: ProbeResult[] }> {
  const times = Array.from({ length: flags.votes }, (_, vote) => vote);
  onStep(`Asking about ${countText(answers.length, "answer")}, ${flags.votes} times each`);
  const baseline = await Promise.all(
    answers.map((answer) => Promise.all(times.map(() => asked.verdict(answer)))),
  );
  const replies = baseline.flat().filter((reply): reply is Reply => typeof reply === "object");
  const judge = replies.flatMap(({ judges }) => judges)[0];
  if (judge === undefined)
    throw new RolloutError(
      "ROLLOUT_NOT_JUDGED",
      asked.problem === undefined
        ? "The verifier asked no judge about any of these answers."
        : `No verification gave a verdict: ${asked.problem}`,
    );
  const tools: ProbeTools = {
    judge: judge.model ?? judge.server,
    accept: settings.judge?.accept,
    rewrite: (answer) => asked.rewrite(judge.server, answer),
  };
  const results = [consistency(baseline)];
  for (const probe of probes) {
    onStep(`Probe ${probe.name}`);
    const pairs = await Promise.all(
      answers.map(async (answer, place) => {
        const given = await probe.change(answer, tools);
        if (!given) return undefined;
        const before = given.base ? await asked.verdict(given.base) : majority(baseline[place] ?? []);
        return { before, after: await asked.verdict(given.changed) };
      }),
    );
    results.push(
      resultOf(
        probe,
        pairs.filter((pair) => pair !== undefined),
      ),
    );
  }
  return { judge: tools.judge, results };
}

type Verdict = Awaited<ReturnType<Asked["verdict"]>>;

/** Most of the verdicts about one answer, so that chance does not look like an effect of the change. */
function majority(verdicts: readonly Verdict[]): Verdict {
  const replies = verdicts.filter((verdict): verdict is Reply => typeof verdict === "object");
  const [first] = replies;
  if (first === undefined) return verdicts[0];
  const accepted = replies.filter(({ accepts }) => accepts).length;
  return { ...first, accepts: accepted * 2 > replies.length };
}

function consistency(baseline: readonly (readonly Verdict[])[]): ProbeResult {
  const asked = baseline.map((verdicts) =>
    verdicts.filter((verdict): verdict is Reply => typeof verdict === "object"),
  );
  const several = asked.filter((replies) => replies.length > 1);
  const differing = several.filter(
    (replies) => new Set(replies.map(({ accepts }) => accepts)).size > 1,
  ).length;
  return {
    probe: "consistency",
    title: "nothing: the same answer again",
    counts: "all changes",
    answers: several.length,
    gained: differing,
    lost: 0,
    failed: baseline.flat().filter((verdict) => verdict === "failed").length,
    share: several.length === 0 ? null : wilson(differing / several.length, several.length),
  };
}

function resultOf(
  { name, title, counts }: (typeof probes)[number],
  pairs: readonly { before: Verdict; after: Verdict }[],
): ProbeResult {
  const known = pairs.flatMap(({ before, after }) =>
    typeof before === "object" && typeof after === "object"
      ? [{ before: before.accepts, after: after.accepts }]
      : [],
  );
  const gained = known.filter(({ before, after }) => !before && after).length;
  const lost = known.filter(({ before, after }) => before && !after).length;
  const changed = counts === "gains" ? gained : gained + lost;
  return {
    probe: name,
    title,
    counts,
    answers: known.length,
    gained,
    lost,
    failed: pairs.filter(({ before, after }) => before === "failed" || after === "failed").length,
    share: known.length === 0 ? null : wilson(changed / known.length, known.length),
  };
}

function print(
  { out, terminal }: CommandContext,
  environment: string,
  judge: string | null,
  results: readonly ProbeResult[],
): void {
  out(terminal.bold(`Judge of ${printable(environment)}: ${printable(judge ?? "a model without a name")}`));
  const rows = results.map(({ probe, answers, gained, lost, failed, share, counts }) => [
    probe,
    String(answers),
    probe === "consistency" ? String(gained) : `+${gained} −${lost}`,
    share === null
      ? "does not apply"
      : `${percent(share.value)} [${percent(share.low)}, ${percent(share.high)}]`,
    counts === "gains" ? "+" : "+ −",
    failed === 0 ? "" : String(failed),
  ]);
  const columns = ["Probe", "Answers", "Changed", "Share, 95 %", "Counts", "Failed"];
  out(renderTable({ columns, rows, optional: ["Failed", "Counts"] }, terminal));
  out("+: rejected answers that are accepted after the change; −: the other way round.");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
