import type { Cells, Row } from "../table.ts";
import type { Timestamp } from "../timestamp.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolSet } from "../workplace.ts";
import { cellValue, isFalsy, isOneOf, lowered, timestampOf, wholeMinutes } from "./arguments.ts";
import { containing, paginate } from "./search.ts";

const FIELDS = ["event_id", "event_name", "participant_email", "event_start", "duration"];
const CHANGEABLE = FIELDS.slice(1);
const ID_DIGITS = 8;

const INVALID_ID = "Invalid event ID format. Expected 8-digit ID.";
const eventId = { description: "Id of the event, eight digits", required: true };

function isEventId(value: unknown): boolean {
  return typeof value === "string" && /^\p{Nd}{8}$/u.test(value);
}

function invalidTime(field: string): string {
  return `Invalid ${field} format. Expected YYYY-MM-DD HH:MM:SS.`;
}

function durationProblem(value: unknown): string | undefined {
  const minutes = wholeMinutes(value);
  if (minutes === undefined) return "Invalid duration format. Expected a number of minutes.";
  return minutes <= 0 ? "Duration must be a positive number of minutes." : undefined;
}

function startOf(cells: Cells): Timestamp {
  const start = timestampOf(cells["event_start"]);
  if (start === undefined)
    throw new ToolError(`Unknown datetime string format, unable to parse: ${cells["event_start"]}`);
  return start;
}

function difference(left: Timestamp, right: Timestamp): number {
  if (left.zoned !== right.zoned) throw new ToolError("Cannot compare tz-naive and tz-aware timestamps");
  return left.time - right.time;
}

export const calendarTools: ToolSet = {
  calendar_get_event_information_by_id: {
    description: "Gives one field of a calendar event.",
    parameters: { event_id: eventId, field: { description: `One of ${FIELDS.join(", ")}`, required: true } },
    run: ({ calendar }, { event_id, field }) => {
      if (isFalsy(event_id)) return "Event ID not provided.";
      if (isFalsy(field)) return "Field not provided.";
      if (!isEventId(event_id)) return INVALID_ID;
      if (!isOneOf(field, FIELDS)) return `Invalid field. Available fields are: ${FIELDS.join(", ")}`;
      const event = calendar.find("event_id", event_id);
      return event === undefined ? "Event not found." : { [String(field)]: event.cells[String(field)] };
    },
  },
  calendar_search_events: {
    description: "Searches names and participants of the events, latest first, page by page.",
    parameters: {
      query: { description: "What the name or the participant's address must contain" },
      time_min: { description: "Earliest start, as YYYY-MM-DD HH:MM:SS" },
      time_max: { description: "Latest start, as YYYY-MM-DD HH:MM:SS" },
      page: { description: "Number of the page", type: "integer" },
      page_size: { description: "Events per page", type: "integer" },
    },
    run: ({ calendar }, { query = "", time_min, time_max, page = 1, page_size = 5 }) => {
      const earliest = isFalsy(time_min) ? null : timestampOf(time_min);
      if (earliest === undefined) return invalidTime("time_min");
      const latest = isFalsy(time_max) ? null : timestampOf(time_max);
      if (latest === undefined) return invalidTime("time_max");
      const matches = containing(query);
      const found = ({ cells }: Row, column: string) =>
        typeof cells[column] === "string" && matches(cells[column]);
      let events = calendar.rows
        .filter((row) => found(row, "event_name") || found(row, "participant_email"))
        .map(({ cells }) => ({ cells, start: startOf(cells) }));
      if (earliest !== null) events = events.filter(({ start }) => difference(start, earliest) >= 0);
      if (latest !== null) events = events.filter(({ start }) => difference(start, latest) <= 0);
      if (events.length === 0) return "No events found.";
      const latestFirst = events
        .sort((left, right) => difference(right.start, left.start))
        .map(({ cells }) => cells);
      const shown = paginate(latestFirst, page, page_size, "total_events");
      return { events: shown?.items, pagination: shown?.pagination };
    },
  },
  calendar_create_event: {
    description: "Creates a calendar event.",
    changes: true,
    parameters: {
      event_name: { description: "Name of the event", required: true },
      participant_email: { description: "Address of the participant", required: true },
      event_start: { description: "Start, as YYYY-MM-DD HH:MM:SS", required: true },
      duration: { description: "Minutes it takes", required: true },
    },
    run: ({ calendar }, { event_name, participant_email, event_start, duration }) => {
      if (isFalsy(event_name)) return "Event name not provided.";
      if (isFalsy(participant_email)) return "Participant email not provided.";
      if (isFalsy(event_start)) return "Event start not provided.";
      if (isFalsy(duration)) return "Event duration not provided.";
      if (timestampOf(event_start) === undefined) return invalidTime("event_start");
      const problem = durationProblem(duration);
      if (problem !== undefined) return problem;
      const participant = lowered(participant_email);
      const event_id = calendar.nextId("event_id").padStart(ID_DIGITS, "0");
      // The new row is added as a table of its own with the label 0.
      calendar.append({ event_id, event_name, participant_email: participant, event_start, duration }, 0);
      return event_id;
    },
  },
  calendar_delete_event: {
    description: "Deletes a calendar event.",
    changes: true,
    parameters: { event_id: eventId },
    run: ({ calendar }, { event_id }) => {
      if (isFalsy(event_id)) return "Event ID not provided.";
      if (!isEventId(event_id)) return INVALID_ID;
      return calendar.delete("event_id", event_id) ? "Event deleted successfully." : "Event not found.";
    },
  },
  calendar_update_event: {
    description: "Changes one field of a calendar event.",
    changes: true,
    parameters: {
      event_id: eventId,
      field: { description: `One of ${CHANGEABLE.join(", ")}`, required: true },
      new_value: { description: "What the field shall hold", required: true },
    },
    run: ({ calendar }, { event_id, field, new_value }) => {
      if (isFalsy(event_id) || isFalsy(field) || isFalsy(new_value))
        return "Event ID, field, or new value not provided.";
      if (!isEventId(event_id)) return INVALID_ID;
      if (!isOneOf(field, CHANGEABLE)) return `Invalid field. Available fields are: ${CHANGEABLE.join(", ")}`;
      if (field === "event_start" && timestampOf(new_value) === undefined) return invalidTime("event_start");
      const problem = field === "duration" ? durationProblem(new_value) : undefined;
      if (problem !== undefined) return problem;
      if (calendar.find("event_id", event_id) === undefined) return "Event not found.";
      const value = field === "participant_email" ? lowered(new_value) : cellValue(new_value);
      calendar.update("event_id", event_id, String(field), value);
      return "Event updated successfully.";
    },
  },
};
