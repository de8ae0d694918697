import type { ComponentProps, ReactNode } from "react";
import { Plain } from "../text/plain.tsx";
import { api } from "./api-client.ts";
import { addressOf, type Go } from "./use-route.ts";

/** Shown when a page has no content: what is empty, why, and what to do. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <section className="empty-state" aria-label={title} role="status">
      <h2>{title}</h2>
      <p>{children}</p>
      {action && <div className="empty-actions">{action}</div>}
    </section>
  );
}

/** Shown instead of the content of a file that was removed. */
export function FileGone({ name }: { name: string }) {
  return (
    <EmptyState title="The file is gone">
      <Plain text={`${name} was removed or renamed.`} />
    </EmptyState>
  );
}

/** In a file with chosen rollouts: which part of the run the figures are of. */
export function ChosenNotice() {
  if (api.chosen === null) return null;
  const { rows, of } = api.chosen;
  const held = `${rows.toLocaleString("en")} of ${of.toLocaleString("en")} rollouts and failed attempts`;
  return <p className="notice">This file contains {held} of the run. All figures are of these only.</p>;
}

/** Wide content that scrolls horizontally, also by keyboard; a landmark if it has a name. */
export function Scrolls({ label, children }: { label?: string; children: ReactNode }) {
  const Element = label === undefined ? "div" : "section";
  return (
    <Element className="scrolls" tabIndex={0} aria-label={label}>
      {children}
    </Element>
  );
}

type Role = "table" | "rowgroup" | "row" | "columnheader" | "rowheader" | "cell";

/**
 * A part of a table that renders only visible rows. Table elements cannot do that, because their rows cannot be
 * positioned.
 */
export function TablePart(props: ComponentProps<"div"> & { role: Role }) {
  return <div {...props} />;
}

/** The first click sorts ascending, the second descending, the third restores the default. */
export function ColumnHead({
  column: { name, caption, isNumber },
  sort,
  order,
  go,
}: {
  column: { name: string; caption: string; isNumber?: boolean };
  sort: string | undefined;
  order: string | undefined;
  go: Go;
}) {
  const isSorted = sort === name;
  const isDescending = isSorted && order === "desc";
  const next = isDescending
    ? { sort: undefined, order: undefined }
    : { sort: name, order: isSorted ? "desc" : undefined };
  return (
    <TablePart
      role="columnheader"
      className={isNumber ? "number" : ""}
      aria-sort={!isSorted ? "none" : isDescending ? "descending" : "ascending"}
    >
      <button type="button" className="column-head" onClick={() => go({ parameters: next, replace: true })}>
        {caption}
        {isSorted && <span aria-hidden="true"> {isDescending ? "↓" : "↑"}</span>}
      </button>
    </TablePart>
  );
}

/** The header of a table with one row of column names; columns of figures are aligned to the right. */
export function TableHead({
  names,
  isNumber = () => false,
}: {
  names: readonly string[];
  isNumber?: (place: number) => boolean;
}) {
  return (
    <thead>
      <tr>
        {names.map((name, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two runs may have one name, and columns never move
          <th key={place} scope="col" className={isNumber(place) ? "number" : undefined}>
            <bdi>{name}</bdi>
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A figure with its name, and a note below it. */
export function Fact(props: { name: string; value: string; about: string; title?: string }) {
  return (
    <div className="fact" title={props.title}>
      <span className="fact-name">{props.name}</span>
      <span className="fact-value">{props.value}</span>
      <span className="fact-about">{props.about || " "}</span>
    </div>
  );
}

/** A button that is on or off. */
export function Chip(props: {
  isOn: boolean;
  onClick: () => void;
  /** A class in addition to that of all chips. */
  kind?: string;
  children: ReactNode;
}) {
  const className = props.kind === undefined ? "chip" : `chip ${props.kind}`;
  return (
    <button type="button" className={className} aria-pressed={props.isOn} onClick={props.onClick}>
      {props.children}
    </button>
  );
}

/** Reverses the order of a list. */
export function OrderButton({ order, go }: { order: string | undefined; go: Go }) {
  const isDescending = order === "desc";
  return (
    <SignButton
      label={isDescending ? "Descending; change to ascending" : "Ascending; change to descending"}
      onClick={() => go({ parameters: { order: isDescending ? undefined : "desc" } })}
    >
      {isDescending ? "↓" : "↑"}
    </SignButton>
  );
}

/** A button with a sign instead of words; `title` adds its key. */
export function SignButton(props: { label: string; title?: string; onClick: () => void; children: string }) {
  return (
    <button
      type="button"
      className="quiet"
      onClick={props.onClick}
      title={props.title}
      aria-label={props.label}
    >
      {props.children}
    </button>
  );
}

/** A list of values with their names. The first one is the default, and chosen as undefined. */
export function Choice(props: {
  label: string;
  value: string | undefined;
  options: readonly (readonly [value: string, name: string])[];
  onChoose: (value: string | undefined) => void;
}) {
  const initial = props.options[0]?.[0];
  return (
    <label>
      {props.label}{" "}
      <select
        value={props.value ?? initial}
        onChange={({ target }) => props.onChoose(target.value === initial ? undefined : target.value)}
      >
        {props.options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Links to the pages of the run that always exist. */
export function RunLinks() {
  return (
    <>
      <a className="button" href={addressOf({ view: { name: "overview" } })}>
        Overview
      </a>
      <a className="button" href={addressOf({ view: { name: "rollouts" } })}>
        Rollouts
      </a>
    </>
  );
}
