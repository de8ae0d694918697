import type { Distribution } from "../../api-types.ts";
import { TableHead } from "./elements.tsx";
import { shortCount } from "./format.ts";

/** Clickable bars: each selects the rollouts that it counts. */
export function Histogram({
  title,
  data,
  format,
  onChoose,
}: {
  title: string;
  data: Distribution;
  format: (value: number) => string;
  onChoose: (from: number, to: number, isLast: boolean) => void;
}) {
  const most = Math.max(...data.bins.map(({ count }) => count), 1);
  const first = data.bins[0];
  const last = data.bins.at(-1);
  return (
    <figure className="histogram" aria-label={title}>
      <figcaption>
        <b>{title}</b>
        <span className="dim">
          mean {format(data.mean)} · median {format(data.median)} · max {format(data.max)}
        </span>
      </figcaption>
      <span className="bars-most dim" aria-hidden="true">
        {shortCount(most)}
      </span>
      <div className="bars">
        {data.bins.map(({ from, to, count }, place) => {
          const label = `${format(from)} to ${format(to)}: ${count.toLocaleString("en")}`;
          const height = `${count === 0 ? 0 : Math.max(2, (100 * count) / most)}%`;
          return (
            <button
              key={from}
              type="button"
              className="bar"
              title={label}
              aria-label={label}
              onClick={() => onChoose(from, to, place === data.bins.length - 1)}
            >
              <span style={{ height }} />
            </button>
          );
        })}
      </div>
      <div className="bars-axis dim" aria-hidden="true">
        <span>{format(first?.from ?? 0)}</span>
        <span>{format(((first?.from ?? 0) + (last?.to ?? 0)) / 2)}</span>
        <span>{format(last?.to ?? 0)}</span>
      </div>
      <ChartTable
        title={title}
        heads={["from", "to", "rollouts"]}
        rows={data.bins.map(({ from, to, count }) => [format(from), format(to), count.toLocaleString("en")])}
      />
    </figure>
  );
}

interface Point {
  x: number;
  y: number;
  low?: number | null;
  high?: number | null;
}

interface Series {
  name: string;
  className: string;
  /** All series of a chart have the same x values. */
  points: Point[];
}

const WIDTH = 340;
const HEIGHT = 150;
const LEFT = 36;
const BOTTOM = 20;

/** A line chart with bands. */
export function LineChart(props: {
  title: string;
  series: Series[];
  /** Label of the x axis. */
  axis: string;
  x: (value: number) => string;
  y: (value: number) => string;
  top?: number;
  ticks?: number[];
  /** Whether the page has a table with the values elsewhere. */
  isTabled?: boolean;
}) {
  const { title, series, x, y } = props;
  const points = series.flatMap((each) => each.points);
  const [minX, maxX] = [Math.min(...points.map((p) => p.x)), Math.max(...points.map((p) => p.x))];
  const top = props.top ?? (Math.max(...points.map((p) => p.high ?? p.y)) || 1);
  const px = (value: number) => LEFT + ((value - minX) / (maxX - minX || 1)) * (WIDTH - LEFT - 10);
  const py = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - 10);
  const line = (list: { x: number; y: number }[]) =>
    list.map((p) => `${px(p.x).toFixed(1)},${py(p.y).toFixed(1)}`).join(" ");
  // Ticks with the same text are shown once.
  const ticks = (props.ticks ?? [minX, (minX + maxX) / 2, maxX]).filter(
    (tick, place, all) => all.findIndex((each) => x(each) === x(tick)) === place,
  );
  return (
    <figure className="line-chart" aria-label={title}>
      <figcaption>
        <b>{title}</b>
        <span className="legend">
          {series.map(({ name, className }) => (
            <span key={name} className={className}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}, values in the table below`}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={WIDTH - 10} y1={py(share * top)} y2={py(share * top)} className="grid-line" />
            <text x={LEFT - 5} y={py(share * top) + 3} textAnchor="end">
              {y(share * top)}
            </text>
          </g>
        ))}
        {ticks.map((tick) => (
          <text
            key={tick}
            x={px(tick)}
            y={HEIGHT - 5}
            textAnchor={tick === maxX && tick !== minX ? "end" : tick === minX ? "start" : "middle"}
          >
            {x(tick)}
          </text>
        ))}
        {series.map(({ name, className, points: own }) => {
          const banded = own.filter(hasBand);
          const band = [
            ...banded.map((p) => ({ x: p.x, y: p.high })),
            ...banded.toReversed().map((p) => ({ x: p.x, y: p.low })),
          ];
          return (
            <g key={name} className={className}>
              {band.length > 2 && <polygon points={line(band)} className="band" />}
              <polyline points={line(own)} />
              {own.length <= 40 && own.map((p) => <circle key={p.x} cx={px(p.x)} cy={py(p.y)} r="2.5" />)}
            </g>
          );
        })}
      </svg>
      {!props.isTabled && (
        <ChartTable
          title={title}
          heads={[props.axis, ...series.map(({ name }) => name)]}
          rows={(series[0]?.points ?? []).map((point, place) => [
            x(point.x),
            ...series.map(({ points: own }) => valueText(own[place], y)),
          ])}
        />
      )}
    </figure>
  );
}

function hasBand(point: Point): point is Point & { low: number; high: number } {
  return typeof point.low === "number" && typeof point.high === "number";
}

function valueText(point: Point | undefined, y: (value: number) => string): string {
  if (point === undefined) return "–";
  return hasBand(point) ? `${y(point.y)} [${y(point.low)}, ${y(point.high)}]` : y(point.y);
}

/** The values of a chart, for screen readers and for copying. */
function ChartTable({ title, heads, rows }: { title: string; heads: string[]; rows: string[][] }) {
  return (
    <details className="chart-table">
      <summary>Table</summary>
      <table className="numbers-table" aria-label={title}>
        <TableHead names={heads} />
        <tbody>
          {rows.map(([first, ...rest], place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and never move
            <tr key={place}>
              <th scope="row">{first}</th>
              {rest.map((text, column) => (
                <td key={heads[column + 1]}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
