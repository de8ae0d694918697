import { byCodePoint, pyEquals, pyStr } from "nemo-gym/python";
import type { Cells } from "../table.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolParameters, ToolSet, Workplace } from "../workplace.ts";
import { type Arguments, isFalsy, isOneOf, textBound } from "./arguments.ts";

const VALUES = [
  "total_visits",
  "session_duration_seconds",
  "user_engaged",
  "visits_direct",
  "visits_referral",
  "visits_search_engine",
  "visits_social_media",
];
const PLOT_TYPES = ["bar", "line", "scatter", "histogram"];
const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");

const range: ToolParameters = {
  time_min: { description: "First day, as YYYY-MM-DD" },
  time_max: { description: "Last day, as YYYY-MM-DD" },
};

/** The visits between two days, grouped by day in ascending order; days compare as text. */
function visitsByDay(
  { databases }: Workplace,
  { time_min, time_max }: Arguments,
): [day: string, visits: Cells[]][] {
  const [bounded, limited] = [!isFalsy(time_min), !isFalsy(time_max)];
  const days = new Map<string, Cells[]>();
  for (const visit of databases.analytics) {
    const day = visit["date_of_visit"];
    if (typeof day !== "string") continue;
    if (bounded && byCodePoint(day, textBound(time_min)) < 0) continue;
    if (limited && byCodePoint(day, textBound(time_max)) > 0) continue;
    const visits = days.get(day);
    if (visits === undefined) days.set(day, [visit]);
    else visits.push(visit);
  }
  return [...days].sort(([left], [right]) => byCodePoint(left, right));
}

function perDay(
  workplace: Workplace,
  given: Arguments,
  measure: (visits: Cells[]) => number,
): Record<string, number> {
  return Object.fromEntries(visitsByDay(workplace, given).map(([day, visits]) => [day, measure(visits)]));
}

function seconds(visit: Cells): number {
  const value = Number(visit["session_duration_seconds"] ?? Number.NaN);
  if (Number.isNaN(value)) throw new ToolError("could not convert string to float");
  return value;
}

export const analyticsTools: ToolSet = {
  analytics_get_visitor_information_by_id: {
    description: "Lists the visits of one visitor to the web site.",
    parameters: { visitor_id: { description: "Id of the visitor", required: true } },
    run: (workplace, { visitor_id }) => {
      if (isFalsy(visitor_id)) return "Visitor ID not provided.";
      const visits = workplace.databases.analytics.filter((visit) =>
        pyEquals(visit["visitor_id"], visitor_id),
      );
      if (visits.length === 0) return "Visitor not found.";
      if (!workplace.sessionDurationsAreNumbers) return visits;
      return visits.map((visit) => ({ ...visit, session_duration_seconds: seconds(visit) }));
    },
  },
  analytics_create_plot: {
    description: "Draws a chart of the web site's visits.",
    changes: true,
    parameters: {
      time_min: { description: "First day, as YYYY-MM-DD", required: true },
      time_max: { description: "Last day, as YYYY-MM-DD", required: true },
      value_to_plot: { description: `One of ${VALUES.join(", ")}`, required: true },
      plot_type: { description: `One of ${PLOT_TYPES.join(", ")}`, required: true },
    },
    run: ({ plots }, { time_min, time_max, value_to_plot = null, plot_type = null }) => {
      if (isFalsy(time_min)) return "Start date not provided.";
      if (isFalsy(time_max)) return "End date not provided.";
      if (!isOneOf(value_to_plot, VALUES)) return `Value to plot must be one of ${quoted(VALUES)}`;
      if (!isOneOf(plot_type, PLOT_TYPES))
        return "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'";
      const file_path = `plots/${[time_min, time_max, value_to_plot, plot_type].map(pyStr).join("_")}.png`;
      plots.append({ file_path }, plots.rows.length);
      return file_path;
    },
  },
  analytics_total_visits_count: {
    description: "Counts the visits of every day.",
    parameters: range,
    run: (workplace, given) => perDay(workplace, given, (visits) => visits.length),
  },
  analytics_engaged_users_count: {
    description: "Counts the engaged visitors of every day.",
    parameters: range,
    run: (workplace, given) =>
      perDay(workplace, given, (visits) => visits.filter((visit) => visit["user_engaged"] === true).length),
  },
  analytics_traffic_source_count: {
    description: "Counts the visits of every day, all of them or those that came from one source.",
    parameters: {
      ...range,
      traffic_source: { description: "One of direct, referral, search engine, social media" },
    },
    run: (workplace, { traffic_source, ...given }) =>
      perDay(workplace, given, (visits) =>
        isFalsy(traffic_source)
          ? visits.length
          : visits.filter((visit) => pyEquals(visit["traffic_source"], traffic_source)).length,
      ),
  },
  analytics_get_average_session_duration: {
    description: "Average duration of the visits of every day, in seconds.",
    parameters: range,
    run: (workplace, given) => {
      const averages = perDay(
        workplace,
        given,
        (visits) => visits.reduce((sum, visit) => sum + seconds(visit), 0) / visits.length,
      );
      // For a query over all days the original converts a column of its own table to numbers; later queries see the change.
      if (isFalsy(given["time_min"]) && isFalsy(given["time_max"]))
        workplace.sessionDurationsAreNumbers = true;
      return averages;
    },
  },
};
