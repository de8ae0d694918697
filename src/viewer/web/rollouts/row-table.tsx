import type { ReactNode } from "react";
import type { ListedRow } from "../../api-types.ts";
import { RewardBadge } from "../shared/badges.tsx";
import { ColumnHead, TablePart } from "../shared/elements.tsx";
import { dollarText, secondsText, shortCount } from "../shared/format.ts";
import { viewOfRow } from "../shared/route.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { MAX_LISTED } from "../shared/use-rows.ts";
import { useVirtualRows } from "../shared/virtual-rows.tsx";
import { visibleText } from "../text/controls.ts";
import { Isolated, Plain } from "../text/plain.tsx";
import { type RowsProps, rowName } from "./row-list.tsx";

const ROW_HEIGHT = 32;

interface Column {
  name: string;
  width: string;
  isNumber?: boolean;
  /** The order of the list that this column shows. */
  sort?: string;
  cell: (row: ListedRow, threshold: number) => ReactNode;
}

const text = (value: string | null): ReactNode =>
  value === null ? "" : <Isolated text={value} title={visibleText(value)} />;

const COLUMNS: readonly Column[] = [
  { name: "task", width: "150px", sort: "task", cell: (row) => <RowLink row={row} /> },
  { name: "repeat", width: "52px", isNumber: true, cell: ({ rollout }) => rollout ?? "" },
  { name: "question", width: "minmax(120px, 3fr)", cell: ({ prompt }) => text(prompt) },
  { name: "answer", width: "minmax(100px, 2fr)", cell: ({ answer }) => text(answer) },
  { name: "extracted", width: "minmax(70px, 1fr)", cell: ({ extracted }) => text(extracted) },
  { name: "expected", width: "minmax(70px, 1fr)", cell: ({ expected }) => text(expected) },
  {
    name: "reward",
    width: "76px",
    isNumber: true,
    sort: "reward",
    cell: (row, threshold) => <RewardBadge row={row} threshold={threshold} />,
  },
  { name: "turns", width: "48px", isNumber: true, sort: "turns", cell: ({ turns }) => turns ?? "" },
  {
    name: "tokens",
    width: "56px",
    isNumber: true,
    sort: "tokens",
    cell: ({ output_tokens }) => (output_tokens === null ? "" : shortCount(output_tokens)),
  },
  {
    name: "time",
    width: "64px",
    isNumber: true,
    sort: "seconds",
    cell: ({ duration_ms }) => (duration_ms === null ? "" : secondsText(duration_ms / 1000)),
  },
  {
    name: "cost",
    width: "64px",
    isNumber: true,
    sort: "cost",
    cell: ({ cost }) => (cost === null ? "" : dollarText(cost)),
  },
  { name: "failure", width: "minmax(90px, 1.4fr)", cell: (row) => <FailureText row={row} /> },
];

/** The columns without a choice of the reader. Most runs have no costs, and the name of a rollout contains its repeat. */
const USUAL = COLUMNS.map(({ name }) => name).filter((name) => name !== "cost" && name !== "repeat");

const shownColumns = (chosen: string | undefined) => {
  const names = chosen?.split(",") ?? USUAL;
  return COLUMNS.filter(({ name }) => name === "task" || names.includes(name));
};

/** The rollouts that match the query as a table over the full width. */
export function RowTable({ list, chosen, threshold, parameters, onSelect, onChoose, go }: RowsProps) {
  const { scroller, style, render } = useVirtualRows({
    count: Math.min(list.total, MAX_LISTED),
    rowHeight: ROW_HEIGHT,
    overscan: 12,
    ensure: list.ensure,
  });
  const columns = shownColumns(parameters.columns);
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  return (
    <TablePart className="row-table" role="table" aria-label="Rollouts" aria-rowcount={list.total + 1}>
      <TablePart className="row-line row-line-head" role="row" aria-rowindex={1} style={template}>
        {columns.map(({ name, isNumber, sort }) =>
          sort === undefined ? (
            <TablePart key={name} role="columnheader" className={isNumber ? "number" : ""}>
              {name}
            </TablePart>
          ) : (
            <ColumnHead
              key={name}
              column={{ name: sort, caption: name, isNumber }}
              sort={parameters.sort}
              order={parameters.order}
              go={go}
            />
          ),
        )}
      </TablePart>
      <TablePart ref={scroller} className="rows" role="rowgroup" tabIndex={0}>
        <div style={style}>
          {render((index) => {
            const row = list.rowAt(index);
            return (
              row && (
                <TablePart
                  role="row"
                  aria-rowindex={index + 2}
                  style={template}
                  className={`row row-line${chosen.has(`${row.source}:${row.line}`) ? " chosen" : ""}`}
                  onClick={(event) => {
                    // The link has the same target, and may open it in another tab.
                    if (event.ctrlKey || event.metaKey) return;
                    event.preventDefault();
                    if (event.shiftKey) onChoose(row);
                    else onSelect(row, index);
                  }}
                >
                  {columns.map(({ name, isNumber, cell }) => (
                    <TablePart
                      key={name}
                      role={name === "task" ? "rowheader" : "cell"}
                      className={isNumber ? "number" : ""}
                    >
                      {cell(row, threshold)}
                    </TablePart>
                  ))}
                </TablePart>
              )
            );
          })}
        </div>
      </TablePart>
    </TablePart>
  );
}

function RowLink({ row }: { row: ListedRow }) {
  return (
    <>
      <a className="where" href={addressOf({ view: viewOfRow(row) })}>
        {rowName(row)}
      </a>
      {row.source === "failures" && <span className="tag">attempt</span>}
      {row.masked && row.failure === null && <span className="badge masked">masked</span>}
      {row.annotation?.exclude && <span className="badge masked">excluded</span>}
    </>
  );
}

function FailureText({ row: { failure, message } }: { row: ListedRow }) {
  if (failure === null) return null;
  return (
    <bdi className="problem" title={message === null ? undefined : visibleText(message)}>
      <Plain text={message === null ? failure : `${failure}: ${message}`} />
    </bdi>
  );
}

/** The columns of the table, in the address. */
export function ColumnChoice({ columns, go }: { columns: string | undefined; go: Go }) {
  const shown = shownColumns(columns).map(({ name }) => name);
  const toggle = (name: string) => {
    const next = COLUMNS.map((column) => column.name).filter((each) =>
      each === name ? !shown.includes(name) : shown.includes(each),
    );
    const isUsual = next.join() === USUAL.join();
    go({ parameters: { columns: isUsual ? undefined : next.join(",") }, replace: true });
  };
  return (
    <details className="column-choice">
      <summary>Columns</summary>
      <div>
        {COLUMNS.slice(1).map(({ name }) => (
          <label key={name}>
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} /> {name}
          </label>
        ))}
      </div>
    </details>
  );
}
