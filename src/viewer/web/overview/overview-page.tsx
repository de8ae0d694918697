import { intervalCaveats } from "../../../records/metrics/door.ts";
import type { Overview, ViewerStatus } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { Histogram, LineChart } from "../shared/charts.tsx";
import { ChosenNotice, EmptyState, Fact, FileGone, TableHead } from "../shared/elements.tsx";
import {
  countLabel,
  dollarText,
  estimateLabel,
  fixedText,
  percentText,
  rateText,
  rateUnit,
  rewardText,
  secondsText,
  shareText,
  shortCount,
} from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";
import { QueryBar } from "../shared/query-bar.tsx";
import type { Parameters } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { figuresVersion } from "../shared/use-status.ts";
import { Plain } from "../text/plain.tsx";
import { CoverageLine, Failures, Groups, Slowest } from "./overview-parts.tsx";
import { meanRate, ratesOver } from "./throughput.ts";

interface Props {
  run: RunId;
  parameters: Parameters;
  status: ViewerStatus;
  go: Go;
}

/** Rewards, coverage, lengths, costs and failures of the rollouts that match the query. */
export function OverviewPage({ run, parameters, status, go }: Props) {
  const { q, pass } = parameters;
  const key = JSON.stringify([run, q, pass, figuresVersion(status)]);
  const loaded = useLoaded(key, (signal) =>
    untilSearched((own) => api.overview(run, { q, pass }, own), signal),
  );
  const { value: overview, error } = loaded;
  useScrollFocus();
  return (
    <article className="overview page" aria-label="Overview">
      <h1 className="hidden">Overview of {status.run.name}</h1>
      {/* A static copy has only the figures of all its rollouts, because it has no server to compute others. */}
      {!api.isStatic && <QueryBar q={q} pass={pass} status={status} go={go} />}
      <ChosenNotice />
      {error && <p className="problem-box">{error}</p>}
      {holdsNothing(status) ? (
        <NoRollouts status={status} />
      ) : overview ? (
        <Figures overview={overview} status={status} go={go} q={q} />
      ) : (
        !error && <p className="note">Loading…</p>
      )}
    </article>
  );
}

/** Whether the files are read and contain neither rollouts nor failed attempts. A run in progress may still get some. */
function holdsNothing({ indexing, error, rollouts, failures, unreadable, run }: ViewerStatus): boolean {
  const isCollected = run.state === "running" || run.state === "paused";
  return !indexing && !isCollected && error === null && rollouts.rows + failures.rows === unreadable;
}

function NoRollouts({ status: { rollouts, unreadable } }: { status: ViewerStatus }) {
  if (!rollouts.exists) return <FileGone name={rollouts.name} />;
  return (
    <EmptyState
      title="No rollouts"
      action={
        unreadable > 0 && (
          <a className="button" href={addressOf({ view: { name: "rollouts" }, parameters: { q: "is:bad" } })}>
            List the lines
          </a>
        )
      }
    >
      <Plain text={rollouts.name} /> holds no rollouts
      {unreadable > 0 ? `: ${countLabel(unreadable, "line")} could not be read.` : "."}
    </EmptyState>
  );
}

const SEARCH_POLL_MS = 200;

/** Polls until the search in the server is done, so that no partial figure is shown as final. */
async function untilSearched(
  ask: (signal: AbortSignal) => Promise<Overview>,
  signal: AbortSignal,
): Promise<Overview> {
  for (;;) {
    const overview = await ask(signal);
    if (overview.search === null || overview.search.done) return overview;
    await new Promise((resolve) => window.setTimeout(resolve, SEARCH_POLL_MS));
    signal.throwIfAborted();
  }
}

function Figures({
  overview,
  status,
  go,
  q = "",
}: {
  overview: Overview;
  status: ViewerStatus;
  go: Go;
  q: string | undefined;
}) {
  const { totals, pass } = overview;
  const rate = meanRate(overview.history, totals.elapsed_seconds);
  const narrow = (terms: string) =>
    go({ view: { name: "rollouts" }, parameters: { q: [q, terms].filter(Boolean).join(" ") } });
  const range = (field: string) => (from: number, to: number, isLast: boolean) =>
    narrow(`${field}>=${exact(from)} ${field}${isLast ? "<=" : "<"}${exact(to)}`);
  return (
    <>
      {!overview.complete && (
        <p className="notice" role="status">
          The file is still being read. These figures cover the{" "}
          {percentText(status.rollouts.indexed_bytes, status.rollouts.bytes)} read so far.
        </p>
      )}
      <section className="facts-row" aria-label="Rewards">
        <Fact
          name="mean reward, 95 % interval"
          value={overview.reward === null ? "–" : fixedText(overview.reward.value, 4)}
          about={
            overview.reward?.low != null && overview.reward.high !== null
              ? `[${fixedText(overview.reward.low, 4)}, ${fixedText(overview.reward.high, 4)}]`
              : ""
          }
          title={estimateLabel(overview.reward)}
        />
        <Fact
          name={`pass@1 (reward ≥ ${rewardText(overview.pass_threshold)})`}
          value={pass[0] ? `${(100 * pass[0].pass_at_k.value).toFixed(2)} %` : "–"}
          about={pass[0] ? (shareText(pass[0].pass_at_k).match(/\[.*\]/)?.[0] ?? "") : ""}
        />
        <Fact
          name="scored"
          value={overview.rewarded.toLocaleString("en")}
          about={`${countLabel(overview.tasks, "task")}${overview.without_reward > 0 ? `, ${overview.without_reward} without a reward` : ""}`}
        />
        <Fact
          name="tokens in / out"
          value={`${shortCount(totals.input_tokens)} / ${shortCount(totals.output_tokens)}`}
          about={
            totals.model_calls
              ? countLabel(totals.model_calls, "model call")
              : `${countLabel(totals.tool_calls, "tool call")}`
          }
        />
        {(totals.cost !== null || (totals.spent ?? 0) > 0) && (
          <Fact
            name="cost"
            value={dollarText(totals.cost)}
            about={
              totals.spent !== null && totals.spent > 0
                ? `${dollarText(totals.spent)} with failed attempts`
                : ""
            }
          />
        )}
        <Fact
          name="time"
          value={secondsText(totals.elapsed_seconds)}
          about={
            rate !== null
              ? rateText(rate, "rollouts")
              : overview.durations
                ? `median ${secondsText(overview.durations.median)} per rollout`
                : ""
          }
        />
        {overview.turn_boundaries && <TokenDrift {...overview.turn_boundaries} />}
      </section>
      {intervalCaveats({ ...overview, unscored: overview.coverage.expected - overview.coverage.ok }).map(
        (caveat) => (
          <p key={caveat} className="note">
            {caveat}
          </p>
        ),
      )}
      <CoverageLine coverage={overview.coverage} />
      {overview.without_task > 0 && (
        <p className="note">
          {countLabel(overview.without_task, "row")} without a task index. Each counts as its own task.
        </p>
      )}
      <section className="charts" aria-label="Distributions">
        {overview.rewards && (
          <Histogram title="Rewards" data={overview.rewards} format={rewardText} onChoose={range("reward")} />
        )}
        {pass.length > 1 && (
          // At equal distances, because most k are powers of two.
          <LineChart
            title="pass@k and pass^k"
            top={1}
            axis="k"
            isTabled
            x={(place) => `k=${pass[place]?.k}`}
            y={(share) => `${Math.round(share * 100)}%`}
            ticks={[...pass.keys()]}
            series={[
              {
                name: "pass@k",
                className: "series-a",
                points: pass.map(({ pass_at_k: e }, x) => ({ x, y: e.value, low: e.low, high: e.high })),
              },
              {
                name: "pass^k",
                className: "series-b",
                points: pass.map(({ pass_hat_k: e }, x) => ({ x, y: e.value, low: e.low, high: e.high })),
              },
            ]}
          />
        )}
        {overview.tokens && (
          <Histogram
            title="Output tokens"
            data={overview.tokens}
            format={shortCount}
            onChoose={range("tokens")}
          />
        )}
        {overview.turns && (
          <Histogram title="Turns" data={overview.turns} format={shortCount} onChoose={range("turns")} />
        )}
        {overview.durations && (
          <Histogram
            title="Duration"
            data={overview.durations}
            format={secondsText}
            onChoose={range("seconds")}
          />
        )}
        {overview.history.length > 1 && <Throughput history={overview.history} />}
      </section>
      {pass.length > 0 && (
        <section aria-label="pass@k">
          <table className="numbers-table">
            <TableHead names={["k", "pass@k", "pass^k", "tasks"]} />
            <tbody>
              {pass.map(({ k, pass_at_k, pass_hat_k }) => (
                <tr key={k}>
                  <th scope="row">{k}</th>
                  <td>{shareText(pass_at_k)}</td>
                  <td>{shareText(pass_hat_k)}</td>
                  <td>
                    {pass_at_k.tasks.toLocaleString("en")}
                    {overview.reward !== null &&
                      pass_at_k.tasks < overview.reward.tasks &&
                      ` of ${overview.reward.tasks.toLocaleString("en")}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Groups groups={overview.groups} onChoose={(agent) => narrow(`agent:"${agent}"`)} />
      <div className="two">
        <Failures failures={overview.failures} onChoose={(name) => narrow(`error:"${name}"`)} />
        <Slowest slowest={overview.slowest} />
      </div>
    </>
  );
}

/** Twelve significant digits, which hides rounding errors, without trailing zeros. */
function exact(value: number): string {
  return String(Number(value.toPrecision(12)));
}

function TokenDrift({ extend, fork, lost }: NonNullable<Overview["turn_boundaries"]>) {
  const total = extend + fork + lost;
  if (total === 0) return null;
  return (
    <Fact
      name="token drift"
      value={percentText(fork + lost, total)}
      about={`${fork} forked, ${lost} lost of ${countLabel(total, "turn boundary", "turn boundaries")}`}
      title="Turns whose prompt does not continue the tokens of the turn before"
    />
  );
}

function Throughput({ history }: { history: Overview["history"] }) {
  const rates = ratesOver(history);
  const { seconds, name } = rateUnit(Math.max(0, ...rates.map(({ y }) => y)));
  return (
    <>
      {rates.length > 1 && (
        <LineChart
          title={`Rollouts per ${name}`}
          axis="time"
          x={secondsText}
          y={(value) => (value < 10 ? String(Number(value.toPrecision(2))) : shortCount(value))}
          series={[
            {
              name: `completed per ${name}`,
              className: "series-a",
              points: rates.map(({ x, y }) => ({ x, y: y * seconds })),
            },
          ]}
        />
      )}
      {/* A short run may have samples only before its start and after its end. */}
      {history.some(([, , inFlight]) => inFlight > 0) && (
        <LineChart
          title="In flight"
          axis="time"
          x={secondsText}
          y={(value) => shortCount(value)}
          series={[
            { name: "in flight", className: "series-b", points: history.map(([x, , y]) => ({ x, y })) },
          ]}
        />
      )}
    </>
  );
}
