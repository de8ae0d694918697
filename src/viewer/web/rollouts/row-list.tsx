import { useEffect } from "react";
import type { ListedRow, RowRef } from "../../api-types.ts";
import { RewardBadge } from "../shared/badges.tsx";
import { shortCount } from "../shared/format.ts";
import type { Parameters } from "../shared/route.ts";
import type { Go } from "../shared/use-route.ts";
import { MAX_LISTED, type RowList } from "../shared/use-rows.ts";
import { useVirtualRows } from "../shared/virtual-rows.tsx";
import { Isolated, Plain } from "../text/plain.tsx";

const ROW_HEIGHT = 60;

export interface RowsProps {
  list: RowList;
  selected: RowRef | undefined;
  /** Position of the selected row in the list. */
  position: number | undefined;
  threshold: number;
  chosen: ReadonlyMap<string, RowRef>;
  onSelect: (row: ListedRow, position: number) => void;
  onChoose: (row: ListedRow) => void;
  parameters: Parameters;
  go: Go;
}

/** The rollouts that match the query; only visible ones are rendered. */
export function RowListView({ list, selected, position, threshold, chosen, onSelect, onChoose }: RowsProps) {
  const { scroller, style, render, scrollTo } = useVirtualRows({
    count: Math.min(list.total, MAX_LISTED),
    rowHeight: ROW_HEIGHT,
    overscan: 8,
    ensure: list.ensure,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the selection moves, not when the list grows
  useEffect(() => {
    if (position !== undefined) scrollTo(position);
  }, [position, list.ready]);
  const active = position === undefined ? undefined : list.rowAt(position);
  return (
    <div
      ref={scroller}
      className="rows"
      tabIndex={0}
      role="listbox"
      aria-label="Rollouts"
      aria-activedescendant={active && rowId(active)}
    >
      <div style={style}>
        {render((index) => {
          const row = list.rowAt(index);
          return (
            row && (
              <ListRow
                row={row}
                index={index}
                total={list.total}
                selected={row.source === selected?.source && row.line === selected.line}
                chosen={chosen.has(`${row.source}:${row.line}`)}
                threshold={threshold}
                onSelect={() => onSelect(row, index)}
                onChoose={() => onChoose(row)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function ListRow(props: {
  row: ListedRow;
  index: number;
  total: number;
  selected: boolean;
  chosen: boolean;
  threshold: number;
  onSelect: () => void;
  onChoose: () => void;
}) {
  const { row, index, total, selected, chosen, threshold, onSelect, onChoose } = props;
  const name = rowName(row);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k choose rows
    <div
      id={rowId(row)}
      className={`row${selected ? " selected" : ""}${chosen ? " chosen" : ""}`}
      role="option"
      aria-selected={selected}
      aria-posinset={index + 1}
      aria-setsize={total}
      onClick={(event) => (event.shiftKey ? onChoose() : onSelect())}
    >
      <div className="row-head">
        <span
          className="where"
          title={row.rollout === null ? undefined : `Task ${row.task}, repeat ${row.rollout}`}
        >
          {name}
        </span>
        {row.source === "failures" && <span className="tag">attempt</span>}
        {row.attempt > 0 && row.failure === null && (
          <span className="tag" title="Failed attempts before">
            after {row.attempt}
          </span>
        )}
        {row.masked && row.failure === null && <span className="badge masked">masked</span>}
        {row.annotation?.exclude && <span className="badge masked">excluded</span>}
        {row.annotation?.labels.slice(0, 2).map((label) => (
          <span key={label} className="tag label">
            <Plain text={label} />
          </span>
        ))}
        <span className="spacer" />
        <RewardBadge row={row} threshold={threshold} />
      </div>
      <div className="row-text">
        {row.failure !== null && (
          <bdi className="problem">
            <Plain text={row.failure} />{" "}
          </bdi>
        )}
        <Isolated className={row.readable ? "prompt" : "problem"} text={row.prompt} />
      </div>
      <div className="row-text dim">
        <Isolated className="answer" text={row.answer} />
        <span className="count">
          {[
            row.turns !== null && row.turns > 1 ? `${row.turns} turns` : "",
            row.output_tokens === null ? "" : `${shortCount(row.output_tokens)} tok`,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </div>
    </div>
  );
}

/** The name of a row: task and repeat, or its line. */
export function rowName(row: Pick<ListedRow, "task" | "rollout" | "source" | "line">): string {
  if (row.task === null) return `${row.source === "failures" ? "Failure" : "Row"} ${row.line}`;
  return `Task ${row.task}${row.rollout === null ? "" : ` · ${row.rollout}`}`;
}

function rowId({ source, line }: RowRef): string {
  return `row-${source}-${line}`;
}
