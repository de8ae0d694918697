import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

interface Options {
  count: number;
  rowHeight: number;
  /** Rows rendered above and below those in sight. */
  overscan: number;
  /** Loads these rows if they are missing. */
  ensure?: (first: number, last: number) => void;
}

/** A long list in the element `scroller`, of which only the rows in sight are rendered. */
export function useVirtualRows({ count, rowHeight, overscan, ensure }: Options) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const items = virtual.getVirtualItems();
  const indexes = items.map(({ index }) => index);
  useEffect(() => {
    if (count > 0) ensure?.(indexes[0] ?? 0, indexes.at(-1) ?? 0);
  });
  return {
    scroller,
    /** The style of the element around the rows. */
    style: { height: virtual.getTotalSize(), position: "relative" as const },
    indexes,
    scrollTo: (index: number) => virtual.scrollToIndex(index, { align: "auto" }),
    render: (row: (index: number) => ReactNode) =>
      items.map(({ index, start }) => (
        <div
          key={index}
          className="row-position"
          style={{ transform: `translateY(${start}px)`, height: rowHeight }}
        >
          {row(index)}
        </div>
      )),
  };
}
