import type { ComponentProps } from "react";

type Role = "table" | "rowgroup" | "row" | "columnheader" | "rowheader" | "cell";

/** A part of a table of which only the rows in sight are in the page. Table elements cannot do that: their rows have no place of their own. */
export function TablePart(props: ComponentProps<"div"> & { role: Role }) {
  return <div {...props} />;
}
