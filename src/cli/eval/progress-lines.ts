import { printable } from "../../base/door.ts";
import type { ProgressSnapshot } from "../../records/light-door.ts";
import { duration } from "../render/progress.ts";
import type { Terminal } from "../render/terminal.ts";

const BAR_WIDTH = 28;
const SMALLEST_BAR = 8;
const MAX_AGENTS = 8;

/** The live display: progress, rewards, failures and slow rollouts. */
export function progressLines(
  snapshot: ProgressSnapshot,
  width: number,
  terminal: Terminal,
  label = "Collecting rollouts",
): string[] {
  const inFlight = `in flight ${snapshot.in_flight}/${snapshot.concurrency}${retryText(snapshot)}`;
  const lines = [
    headLine(snapshot, width - 1, terminal, label),
    ...flow([...rewardText(snapshot), inFlight, tokenText(snapshot), ...judgeTexts(snapshot)], width - 1),
    ...agentTexts(snapshot).map((text) => `  ${text}`),
  ];
  const failures = failureText(snapshot);
  if (failures) lines.push(`  ${terminal.yellow(failures)}`);
  const trouble = troubleText(snapshot);
  if (trouble) lines.push(`  ${terminal.yellow(trouble)}`);
  const slow = snapshot.slowest.filter(({ seconds }) => seconds >= 1).map(slowText);
  if (slow.length > 0) lines.push(terminal.dim(`  slowest: ${slow.join(" · ")}`));
  return lines.map((line) => cut(line, width - 1));
}

/** The numbers have priority: on a narrow terminal the bar shrinks, then the label is dropped, then the bar. */
function headLine(snapshot: ProgressSnapshot, width: number, terminal: Terminal, label: string): string {
  const share = snapshot.total > 0 ? Math.min(1, snapshot.done / snapshot.total) : 1;
  const numbers = `${Math.floor(share * 100)}% ${counts(snapshot)}`;
  const roomFor = (start: string) => Math.min(BAR_WIDTH, width - `${start} ${numbers}`.length);
  const start = roomFor(`${label} `) >= SMALLEST_BAR ? `${label} ` : "";
  const room = roomFor(start);
  if (room < SMALLEST_BAR) return numbers;
  const filled = Math.round(share * room);
  const bar = terminal.green("█".repeat(filled)) + terminal.dim("░".repeat(room - filled));
  return `${start}${bar} ${numbers}`;
}

/** Joins texts to indented lines of at most `width` columns. */
function flow(texts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + text.length <= width) lines[lines.length - 1] += `  ${text}`;
    else lines.push(`  ${text}`);
  }
  return lines;
}

/** Rewards of different environments have different scales, so an overall mean is not meaningful. */
function agentTexts({ by_agent }: ProgressSnapshot): string[] {
  const agents = Object.entries(by_agent);
  if (agents.length < 2) return [];
  const shown = agents.slice(0, MAX_AGENTS).map(([agent, { done, mean_reward }]) => {
    return `${printable(agent)} ${done} done, reward ${mean_reward === null ? "–" : mean_reward.toFixed(3)}`;
  });
  return agents.length > MAX_AGENTS ? [...shown, `and ${agents.length - MAX_AGENTS} more agents`] : shown;
}

/** The same in one line, for logs. */
export function progressText(snapshot: ProgressSnapshot): string {
  const failures = failureText(snapshot);
  const trouble = troubleText(snapshot);
  const share = snapshot.total > 0 ? Math.floor((100 * snapshot.done) / snapshot.total) : 100;
  const slow = snapshot.slowest.filter(({ seconds }) => seconds >= 30).map(slowText);
  return [
    `${share}% ${counts(snapshot)}`,
    ...rewardText(snapshot),
    ...agentTexts(snapshot),
    `in flight ${snapshot.in_flight}`,
    tokenText(snapshot),
    ...judgeTexts(snapshot),
    ...(failures ? [failures] : []),
    ...(trouble ? [trouble] : []),
    ...(slow.length > 0 && !trouble ? [`slowest: ${slow.join(" · ")}`] : []),
  ].join(", ");
}

/** Seconds between the lines of a log while nothing changes. */
const WAITING_SECONDS = 60;

/** Whether a log gets another line: a run that waits for its endpoint says so at once, and then once a minute. */
export function isLineDue(now: ProgressSnapshot, last: ProgressSnapshot | undefined): boolean {
  if (!last || !waits(now) || !waits(last) || now.done !== last.done) return true;
  return now.elapsed_seconds - last.elapsed_seconds >= WAITING_SECONDS;
}

const waits = (snapshot: ProgressSnapshot): boolean => troubleText(snapshot) !== "";

function counts({ done, total, elapsed_seconds, eta_seconds, rate }: ProgressSnapshot): string {
  const left = eta_seconds === null ? "" : `, ${duration(eta_seconds * 1000)} left`;
  return `${done}/${total} [${duration(elapsed_seconds * 1000)}${left}, ${rate.toFixed(1)}/s]`;
}

/** The mean of the run, unless it would mix environments: then one per agent. */
function rewardText({ mean_reward, reward_interval, by_agent }: ProgressSnapshot): string[] {
  if (Object.keys(by_agent).length > 1) return [];
  if (mean_reward === null) return ["reward –"];
  const interval =
    reward_interval === null ? "" : ` [${reward_interval.map((end) => end.toFixed(3)).join(", ")}]`;
  return [`reward ${mean_reward.toFixed(3)}${interval}`];
}

function retryText({ retrying }: ProgressSnapshot): string {
  return retrying > 0 ? `, ${retrying} waiting to retry` : "";
}

/** Calls are those of this session; retries, tokens and cost are those of all completed rollouts. */
function tokenText(snapshot: ProgressSnapshot): string {
  const { model_calls, model_retries, input_tokens, output_tokens, cost, resumed } = snapshot;
  const all = resumed ? " (all sessions)" : "";
  return [
    ...(model_calls > 0 ? [`model calls ${short(model_calls)}${resumed ? " (this session)" : ""}`] : []),
    ...(model_retries > 0 ? [`${short(model_retries)} retried${all}`] : []),
    `tokens ${tokenCounts(input_tokens, output_tokens)}${all}`,
    ...(cost === null ? [] : [`$${cost.toFixed(2)}`]),
  ].join(", ");
}

function judgeTexts({ judge }: ProgressSnapshot): string[] {
  if (!judge) return [];
  const unreadable = judge.unreadable > 0 ? `, ${short(judge.unreadable)} verdicts unreadable` : "";
  const judges = judge.judges.map(({ server, model }) =>
    printable(model === null ? server : `${server} ${model}`),
  );
  const by = judges.length > 0 ? ` (${judges.join(", ")})` : "";
  return [
    `judge calls ${short(judge.calls)}${by}, tokens ${tokenCounts(judge.input_tokens, judge.output_tokens)}${unreadable}`,
  ];
}

function tokenCounts(input: number, output: number): string {
  return `${short(input)} in, ${short(output)} out`;
}

function failureText({ failures_by_class }: ProgressSnapshot): string {
  const entries = Object.entries(failures_by_class);
  if (entries.length === 0) return "";
  return `failures: ${entries.map(([name, count]) => `${name} ${count}`).join(", ")}`;
}

const MAX_TROUBLE = 200;

/** Why no rollout completes, in one line. */
function troubleText({ trouble, in_flight, retrying }: ProgressSnapshot): string {
  if (!trouble || in_flight + retrying === 0) return "";
  // Each rollout counts its own attempts, so the number of one says nothing about the run.
  const message = printable(
    trouble.message
      .replace(/\s+/g, " ")
      .replace(/^warning: /, "")
      .replace(/ \(attempt \d+(?: of \d+)? failed, after [\d.]+ s\)$/, ""),
  );
  const cause = message.length > MAX_TROUBLE ? `${message.slice(0, MAX_TROUBLE)}…` : message;
  return `waiting for ${duration(trouble.seconds * 1000)}: (${trouble.server}) ${cause}; Ctrl-C and --resume continue later`;
}

function slowText({ id, seconds, stage, what, model_calls }: ProgressSnapshot["slowest"][number]): string {
  const calls = model_calls > 1 ? `, ${short(model_calls)} model calls` : "";
  return `${id} in ${stage}${what ? ` (${what})` : ""} ${duration(seconds * 1000)}${calls}`;
}

function short(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Truncates a line that may contain colour codes to the visible width. */
function cut(line: string, width: number): string {
  let visible = 0;
  let result = "";
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    if (part.startsWith("\u001b[")) result += part;
    else {
      result += part.slice(0, Math.max(0, width - visible));
      visible += part.length;
    }
  }
  return result;
}
