import type { ComponentProps } from "react";

type Role = "table" | "rowgroup" | "row" | "columnheader" | "rowheader" | "cell";

/**
 * A part of a table that renders only visible rows. Table elements cannot do that, because their rows cannot be
 * positioned.
 */
export function TablePart(props: ComponentProps<"div"> & { role: Role }) {
  return <div {...props} />;
}
