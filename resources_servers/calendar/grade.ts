import { isObject, PyFloat, pyEquals, pyStr } from "nemo-gym/python";
import { minutesOf } from "./clock.ts";
import { findJsonList } from "./find-list.ts";

type Fields = Readonly<Record<string, unknown>>;

const constraintKinds = ["before ", "after ", "between ", "at "] as const;
/** A list with more distinct events than this is not accepted as a calendar. */
const maxEvents = 2000;

/** Reasons for a reward of 0. */
export type Fault =
  | "empty"
  | "think_found"
  | "no_json_list"
  | "bad_event"
  | "different_number_of_events"
  | "conflicting_events"
  | "constraint_violated";

/** The fault of a reply compared with the expected calendar; undefined if there is no fault. */
export function findFault(reply: string, expected: Fields): Fault | undefined {
  if (reply === "") return "empty";
  if (reply.includes("<think>")) return "think_found";
  const ids = Object.keys(expected);
  if (ids.length === 0) return undefined;
  const list = findJsonList(reply);
  if (list === undefined || list.length === 0) return "no_json_list";
  if (!list.every(hasId)) return "bad_event";
  const byId = new Map(list.map((event) => [pyStr(event["event_id"]), event]));
  if (byId.size !== ids.length) return "different_number_of_events";
  const events = distinct(list);
  const spans = events.map(spanOf).filter((span) => span !== undefined);
  if (spans.length > maxEvents || spans.length < events.length) return "bad_event";
  if (anyOverlap(spans)) return "conflicting_events";
  return ids.every((id) => fits(byId.get(id), expected[id])) ? undefined : "constraint_violated";
}

function hasId(value: unknown): value is Fields {
  return isObject(value) && Object.hasOwn(value, "event_id");
}

interface Span {
  start: number;
  end: number;
}

/** The time of an event; undefined if it is missing or malformed. */
function spanOf(event: Fields): Span | undefined {
  const start = minutesOf(event["start_time"]);
  const duration = numberOf(event["duration"]);
  return start === undefined || duration === undefined ? undefined : { start, end: start + duration };
}

function numberOf(value: unknown): number | undefined {
  if (value instanceof PyFloat) return value.value;
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? Number(value)
    : undefined;
}

function anyOverlap(spans: readonly Span[]): boolean {
  return spans.some((left, index) =>
    spans.slice(index + 1).some((right) => !(left.end <= right.start || left.start >= right.end)),
  );
}

/** Removes events that are equal in every field: they do not conflict with each other. */
function distinct(events: readonly Fields[]): Fields[] {
  return [...new Map(events.map((event) => [identity(event), event])).values()];
}

/** A key that is equal for values that are equal under Python's `==`. */
function identity(value: unknown): string {
  const number = numberOf(value);
  if (number !== undefined) return String(typeof value === "bigint" ? value : number);
  if (Array.isArray(value)) return `[${value.map(identity).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${identity(value[key])}`);
  return `{${members.join()}}`;
}

function fits(event: Fields | undefined, wanted: unknown): boolean {
  const span = event && spanOf(event);
  if (span === undefined || !isObject(wanted)) return false;
  const earliest = minutesOf(wanted["min_time"]);
  const latest = minutesOf(wanted["max_time"]);
  if (earliest === undefined || latest === undefined) return false;
  if (!pyEquals(event?.["duration"], wanted["duration"])) return false;
  if (span.start < earliest || span.end > latest) return false;
  return Object.hasOwn(wanted, "constraint") && keeps(span, wanted["constraint"]);
}

/** Whether an event satisfies a constraint. Every event satisfies an unknown kind of constraint, and none satisfies one with an invalid time. */
function keeps({ start, end }: Span, constraint: unknown): boolean {
  if (constraint === null) return true;
  if (typeof constraint !== "string") return false;
  const kind = constraintKinds.find((prefix) => constraint.startsWith(prefix));
  if (kind === undefined) return true;
  const rest = constraint.replaceAll(kind, "");
  const times = (kind === "between " ? rest.split(" and ") : [rest]).map(minutesOf);
  const [first, second] = times;
  if (first === undefined) return false;
  switch (kind) {
    case "before ":
      return end <= first;
    case "after ":
      return start >= first;
    case "at ":
      return start === first;
    case "between ":
      return times.length === 2 && second !== undefined && start >= first && end <= second;
  }
}
