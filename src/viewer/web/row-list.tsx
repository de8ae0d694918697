import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { ListedRow, RowRef } from "../api-types.ts";
import { sampleLabel } from "../chat-model.ts";
import { RewardBadge } from "./badges.tsx";
import { countText } from "./format.ts";
import { MAX_LISTED, type RowList } from "./use-rows.ts";

const ROW_HEIGHT = 58;

interface Props {
  list: RowList;
  selected: RowRef | undefined;
  /** Where the selected row stands in the list. */
  position: number | undefined;
  threshold: number;
  onSelect: (row: ListedRow, position: number) => void;
}

/** The rollouts that pass the filters; only those in sight are in the page. */
export function RowListView({ list, selected, position, threshold, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: Math.min(list.total, MAX_LISTED),
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.total > 0) list.ensure(first, last);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the selection moves, not when the list grows
  useEffect(() => {
    if (position !== undefined) virtual.scrollToIndex(position, { align: "auto" });
  }, [position, list.ready]);
  const chosen = position === undefined ? undefined : list.rowAt(position);
  return (
    <div
      ref={scroller}
      className="rows"
      tabIndex={0}
      role="listbox"
      aria-label="Rollouts"
      {...(chosen && { "aria-activedescendant": rowId(chosen) })}
    >
      <div className="rows-space" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = list.rowAt(index);
          return (
            <div
              key={index}
              className="row-place"
              style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
            >
              {row && (
                <ListRow
                  row={row}
                  place={index}
                  total={list.total}
                  selected={row.source === selected?.source && row.line === selected.line}
                  threshold={threshold}
                  onSelect={() => onSelect(row, index)}
                />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function ListRow(props: {
  row: ListedRow;
  place: number;
  total: number;
  selected: boolean;
  threshold: number;
  onSelect: () => void;
}) {
  const { row, place, total, selected, threshold, onSelect } = props;
  const label = sampleLabel(row);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: j, k and the arrow keys choose rows
    <div
      id={rowId(row)}
      className={`row${selected ? " selected" : ""}`}
      role="option"
      aria-selected={selected}
      aria-posinset={place + 1}
      aria-setsize={total}
      aria-label={`${label}, ${spoken(row)}`}
      title={label}
      onClick={onSelect}
    >
      <div className="row-head">
        <span className="where">
          {row.task === null ? label : `Task ${row.task}`}
          {row.rollout !== null && <span className="dim"> · {row.rollout}</span>}
        </span>
        {row.task !== null && <span className="sample">{label}</span>}
        {row.masked && row.failure === null && <span className="badge masked">masked</span>}
        {row.state === "invalid" && row.failure === null && (
          <span className="badge invalid" title={row.problem ?? ""}>
            invalid
          </span>
        )}
        <RewardBadge row={row} threshold={threshold} />
      </div>
      <div className="row-text">
        {row.state === "unreadable" ? (
          <span className="problem">{row.problem}</span>
        ) : (
          <>
            {row.failure !== null && <span className="problem">{row.failure} </span>}
            <span className="prompt">{row.prompt}</span>
          </>
        )}
      </div>
      <div className="row-text dim">
        <span className="answer">{row.answer}</span>
        {row.output_tokens !== null && <span className="count">{countText(row.output_tokens, "token")}</span>}
      </div>
    </div>
  );
}

function rowId({ source, line }: RowRef): string {
  return `row-${source}-${line}`;
}

function spoken(row: ListedRow): string {
  if (row.failure !== null) return `failed: ${row.failure}`;
  return row.state === "unreadable" ? "cannot be read" : `reward ${row.reward ?? "missing"}`;
}
