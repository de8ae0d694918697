import type { BoardCell, BoardEnvironment, BoardTest, ShownBoard } from "../../api-types.ts";
import { api } from "../shared/api-client.ts";
import { LineChart } from "../shared/charts.tsx";
import { EmptyState, Scrolls, TableHead } from "../shared/elements.tsx";
import { countLabel, dollarText, fixedText, whenText } from "../shared/format.ts";
import { Interval, IntervalBar } from "../shared/interval.tsx";
import { useScrollFocus } from "../shared/keyboard.ts";
import { formatRoute, type Parameters } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { Isolated } from "../text/plain.tsx";

const MAX_LEFT_OUT = 100;
const MAX_SERIES = 6;

/** Models and environments of many runs, which differences are significant, and what changed. */
export function BoardPage({ parameters }: { parameters: Parameters }) {
  const { value: board, error } = useLoaded("board", (signal) => api.board(signal));
  useScrollFocus();
  if (error !== undefined && board === undefined) return <p className="note problem">{error}</p>;
  if (board === undefined) return <p className="note">Reading the runs…</p>;
  const chosen = board.environments.find(({ name }) => name === parameters.name) ?? board.environments[0];
  return (
    <article className="board page" aria-label="Board">
      <div className="title-line">
        <h1>Board</h1>
        <span className="dim">
          {countLabel(board.runs, "run")}, {countLabel(board.models.length, "model")},{" "}
          {countLabel(board.environments.length, "environment")}
        </span>
      </div>
      {chosen === undefined ? (
        <EmptyState title="No finished run">The files below are left out, with the reason.</EmptyState>
      ) : (
        <>
          <Matrix board={board} chosen={chosen.name} />
          <p className="dim board-about">
            Mean reward of the newest finished run with its 95 % interval, and the rank: 1 + the number of
            models that are significantly better.
          </p>
          <Tests
            title="Since the run before"
            about="Significant changes between the two newest runs of a model."
            tests={board.changes}
          />
          <Environment environment={chosen} />
          <Tests
            title="Between models"
            about={`Significant differences, p < 0.05 corrected for ${countLabel(board.tests, "test")} (Holm).`}
            tests={board.differences}
          />
        </>
      )}
      <LeftOut board={board} />
    </article>
  );
}

function addressOf(environment: string): string {
  return formatRoute({ run: null, view: { name: "board" }, parameters: { name: environment } });
}

function Matrix({ board, chosen }: { board: ShownBoard; chosen: string }) {
  const { environments, overall, models } = board;
  return (
    <Scrolls label="Models and environments">
      <table className="numbers-table board-matrix" aria-label="Models and environments">
        <thead>
          <tr>
            <th scope="col">model</th>
            {overall && <th scope="col">mean of {overall.environments.length}</th>}
            {environments.map(({ name }) => (
              <th key={name} scope="col">
                <a href={addressOf(name)} aria-current={name === chosen ? "true" : undefined}>
                  <Isolated text={name} />
                </a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(overall?.models.map(({ model }) => model) ?? models).map((model) => (
            <tr key={model}>
              <th scope="row">
                <Isolated text={model} />
              </th>
              {overall && (
                <td className="board-overall">
                  <Reward of={overall.models.find((own) => own.model === model)?.reward} range={UNIT} />
                </td>
              )}
              {environments.map(({ name, cells, range }) => {
                const cell = cells.find((own) => own.model === model);
                return (
                  <td key={name} className={cell?.rank === 1 ? "board-best" : undefined}>
                    <Reward of={cell?.reward} range={scaleOf(range)} rank={cell?.rank} />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolls>
  );
}

interface Range {
  low: number;
  high: number;
}
const UNIT: Range = { low: 0, high: 1 };

/** Rewards between 0 and 1 are drawn on that scale, others from their smallest to their largest. */
function scaleOf(range: Range): Range {
  return range.low >= 0 && range.high <= 1 ? UNIT : range;
}

/** A mean with its interval, in figures and as a bar. */
function Reward({ of, range, rank }: { of: BoardCell["reward"] | undefined; range: Range; rank?: number }) {
  if (of === undefined) return <span className="dim">–</span>;
  return (
    <>
      <Interval of={of} />
      {rank !== undefined && <span className="board-rank"> #{rank}</span>}
      <IntervalBar of={of} {...range} />
    </>
  );
}

function Tests(props: { title: string; about: string; tests: ShownBoard["changes"] }) {
  const { title, about } = props;
  const { significant, listed } = props.tests;
  return (
    <section>
      <h2>{title}</h2>
      <p className="dim">{about}</p>
      {listed.length === 0 ? (
        <p>No significant difference.</p>
      ) : (
        <Scrolls label={title}>
          <table className="numbers-table" aria-label={title}>
            <TableHead
              names={["environment", "what", "difference", "tasks", "p"]}
              isNumber={(place) => place > 2}
            />
            <tbody>
              {listed.map((test) => {
                const { environment, before, after, adjusted_p } = test;
                const difference = shownDifference(test);
                return (
                  <tr key={`${environment} ${before.run} ${after.run}`}>
                    <th scope="row">
                      <a href={addressOf(environment)}>
                        <Isolated text={environment} />
                      </a>
                    </th>
                    <td>
                      <What test={test} />
                    </td>
                    <td>
                      <Interval of={difference} sign />
                    </td>
                    <td className="number">{difference.tasks}</td>
                    <td className="number">{adjusted_p < 0.0001 ? "< 0.0001" : adjusted_p.toFixed(4)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scrolls>
      )}
      {significant > listed.length && (
        <p className="dim">{significant - listed.length} more: gym board --json</p>
      )}
    </section>
  );
}

/** Of two models the better one comes first, so its lead is positive; a change keeps its sign. */
function shownDifference({ kind, difference }: BoardTest): BoardTest["difference"] {
  const { value, low, high } = difference;
  if (kind === "change" || value >= 0) return difference;
  return {
    ...difference,
    value: -value,
    low: high === null ? null : -high,
    high: low === null ? null : -low,
  };
}

/** What a test found: which model is better, or how a model changed. */
function What({ test: { kind, before, after, difference } }: { test: BoardTest }) {
  const isWorse = difference.value < 0;
  if (kind === "models") {
    const [better, other] = isWorse ? [before, after] : [after, before];
    return (
      <>
        <Isolated text={better.model} /> above <Isolated text={other.model} />
      </>
    );
  }
  return (
    <>
      <Isolated text={after.model} />{" "}
      <span className={isWorse ? "problem" : "better"}>{isWorse ? "▼ worse" : "▲ better"}</span>
    </>
  );
}

function Environment({ environment }: { environment: BoardEnvironment }) {
  const { name, cells, trends, range, differentTasks } = environment;
  const most = Math.max(0, ...cells.flatMap(({ pass }) => pass.map(({ k }) => k)));
  const rate = (cell: BoardCell, of: "pass_at_k" | "pass_hat_k") => {
    const found = cell.pass.find(({ k }) => k === most);
    return found === undefined ? "–" : `${(100 * found[of].value).toFixed(1)} %`;
  };
  const heads = [
    "model",
    "mean reward",
    ...(most === 0 ? [] : [`pass@${most}`, `pass^${most}`]),
    "cost",
    "tasks",
    "failed",
    "newest run",
  ];
  const shown = trends.filter(({ points }) => points.length > 1).slice(0, MAX_SERIES);
  return (
    <section aria-label={name}>
      <h2>
        <Isolated text={name} />
      </h2>
      <p className="dim">
        Rewards from {fixedText(range.low, 2)} to {fixedText(range.high, 2)}.
        {differentTasks && " The runs have different tasks; tests use those in common."}
      </p>
      <Scrolls label={`Models of ${name}`}>
        <table className="numbers-table" aria-label={`Models of ${name}`}>
          <TableHead names={heads} isNumber={(place) => place > 1 && place < heads.length - 1} />
          <tbody>
            {cells.map((cell) => (
              <tr key={cell.model}>
                <th scope="row">
                  <Isolated text={cell.model} />
                </th>
                <td>
                  <Interval of={cell.reward} />
                </td>
                {most > 0 && <td className="number">{rate(cell, "pass_at_k")}</td>}
                {most > 0 && <td className="number">{rate(cell, "pass_hat_k")}</td>}
                <td className="number">{dollarText(cell.cost)}</td>
                <td className="number">{cell.reward.tasks}</td>
                <td className="number">{cell.coverage?.failed ?? "–"}</td>
                <td>
                  {api.isStatic ? (
                    <Isolated text={cell.run} />
                  ) : (
                    <a href={formatRoute({ run: cell.run, view: { name: "overview" }, parameters: {} })}>
                      <Isolated text={cell.run} />
                    </a>
                  )}{" "}
                  <span className="dim">{whenText(cell.when)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
      {shown.length > 0 && (
        <div className="charts">
          {shown.map(({ model, points }) => (
            <LineChart
              key={model}
              title={`${model} over time`}
              axis="run"
              x={(place) => whenText(points[Math.round(place)]?.when ?? "").slice(0, 10)}
              ticks={[0, points.length - 1]}
              y={(value) => fixedText(value, 2)}
              top={range.low >= 0 && range.high <= 1 ? 1 : undefined}
              series={[
                {
                  name: "mean reward",
                  className: "series-a",
                  points: points.map(({ reward }, x) => ({
                    x,
                    y: reward.value,
                    low: reward.low,
                    high: reward.high,
                  })),
                },
              ]}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function LeftOut({ board: { left_out } }: { board: ShownBoard }) {
  if (left_out.length === 0) return null;
  return (
    <details>
      <summary>{countLabel(left_out.length, "file")} left out</summary>
      <ul>
        {left_out.slice(0, MAX_LEFT_OUT).map(({ path, reason }) => (
          <li key={path}>
            <Isolated text={path} />: <Isolated text={reason} />
          </li>
        ))}
      </ul>
    </details>
  );
}
