import type { Board, BoardCell, BoardEnvironment, BoardTest } from "../../api-types.ts";
import { api } from "../shared/api-client.ts";
import { LineChart } from "../shared/charts.tsx";
import { EmptyState, Scrolls, TableHead } from "../shared/elements.tsx";
import { countLabel, dollarText, fixedText, whenText } from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";
import { formatRoute, type Parameters } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { Isolated } from "../text/plain.tsx";

const MAX_TESTS = 100;
const MAX_SERIES = 6;

/** Models and environments of many runs, which differences are significant, and what changed. */
export function BoardPage({ parameters }: { parameters: Parameters }) {
  const { value: board, error } = useLoaded("board", (signal) => api.board(signal));
  useScrollFocus();
  if (error !== undefined && board === undefined) return <p className="note problem">{error}</p>;
  if (board === undefined) return <p className="note">Reading the runs…</p>;
  const chosen = board.environments.find(({ name }) => name === parameters.name) ?? board.environments[0];
  const significant = board.tests.filter((test) => test.significant);
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
          <Matrix board={board} />
          <p className="dim">
            Mean reward of the newest finished run, 95 % interval, and rank: 1 + the number of models that are
            significantly better.
          </p>
          <Tests
            title="Regressions and improvements since the run before"
            tests={significant.filter(({ kind }) => kind === "change")}
          />
          <Tests
            title={`Differences between models, p < 0.05 corrected for ${countLabel(board.tests.length, "test")} (Holm)`}
            tests={significant.filter(({ kind }) => kind === "models")}
          />
          <Environment environment={chosen} />
        </>
      )}
      <LeftOut board={board} />
    </article>
  );
}

function addressOf(environment: string): string {
  return formatRoute({ run: null, view: { name: "board" }, parameters: { name: environment } });
}

function Matrix({ board }: { board: Board }) {
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
                <a href={addressOf(name)}>
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
                <td>
                  <Interval of={overall.models.find((own) => own.model === model)?.reward} />
                </td>
              )}
              {environments.map(({ name, cells }) => {
                const cell = cells.find((own) => own.model === model);
                return (
                  <td key={name} className={cell?.rank === 1 ? "board-best" : undefined}>
                    <Interval of={cell?.reward} />
                    {cell && <span className="dim"> #{cell.rank}</span>}
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

function Interval({ of }: { of: BoardCell["reward"] | undefined }) {
  if (of === undefined) return <>–</>;
  return (
    <>
      {fixedText(of.value, 3)}{" "}
      {of.low !== null && of.high !== null && (
        <span className="dim">
          [{fixedText(of.low, 3)}, {fixedText(of.high, 3)}]
        </span>
      )}
    </>
  );
}

function Tests({ title, tests }: { title: string; tests: readonly BoardTest[] }) {
  const sorted = [...tests].sort((a, b) => a.adjusted_p - b.adjusted_p).slice(0, MAX_TESTS);
  return (
    <section>
      <h2>{title}</h2>
      {sorted.length === 0 ? (
        <p className="dim">none</p>
      ) : (
        <Scrolls label={title}>
          <table className="numbers-table" aria-label={title}>
            <TableHead names={["environment", "from", "to", "difference", "tasks", "p"]} />
            <tbody>
              {sorted.map(({ environment, kind, before, after, difference, adjusted_p }) => (
                <tr key={`${environment} ${before.run} ${after.run}`}>
                  <th scope="row">
                    <Isolated text={environment} />
                  </th>
                  <td>
                    <Isolated text={kind === "change" ? `${before.model}, ${before.run}` : before.model} />
                  </td>
                  <td>
                    <Isolated text={kind === "change" ? after.run : after.model} />
                  </td>
                  <td className={kind === "change" && difference.value < 0 ? "problem" : undefined}>
                    <Interval of={difference} />
                  </td>
                  <td>{difference.tasks}</td>
                  <td>{adjusted_p < 0.0001 ? "< 0.0001" : adjusted_p.toFixed(4)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolls>
      )}
      {tests.length > MAX_TESTS && <p className="dim">{tests.length - MAX_TESTS} more: gym board --json</p>}
    </section>
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
          <TableHead names={heads} />
          <tbody>
            {cells.map((cell) => (
              <tr key={cell.model}>
                <th scope="row">
                  <Isolated text={cell.model} />
                </th>
                <td>
                  <Interval of={cell.reward} />
                </td>
                {most > 0 && <td>{rate(cell, "pass_at_k")}</td>}
                {most > 0 && <td>{rate(cell, "pass_hat_k")}</td>}
                <td>{dollarText(cell.cost)}</td>
                <td>{cell.reward.tasks}</td>
                <td>{cell.coverage?.failed ?? "–"}</td>
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
      {shown.map(({ model, points }) => (
        <LineChart
          key={model}
          title={`${model} over time`}
          axis="run"
          x={(place) => whenText(points[Math.round(place)]?.when ?? "")}
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
    </section>
  );
}

function LeftOut({ board: { left_out } }: { board: Board }) {
  if (left_out.length === 0) return null;
  return (
    <details>
      <summary>{countLabel(left_out.length, "file")} left out</summary>
      <ul>
        {left_out.slice(0, MAX_TESTS).map(({ path, reason }) => (
          <li key={path}>
            <Isolated text={path} />: <Isolated text={reason} />
          </li>
        ))}
      </ul>
    </details>
  );
}
