import { parsePyInt, splitWords, strip } from "nemo-gym/python";
import { exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const WEEKDAY_TASKS = ["weekday_offset", "weekday_of_date_from_first_date", "weekday_of_date"];
const COUNTING_TASKS = ["count_business_days", "count_days", "recurring_event_day"];

const titled = (text: string) =>
  text.toLowerCase().replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());

const calendarArithmetic: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const task = metadata<string>(entry, "task");
  const given = strip(answer);
  const wanted = oracle(entry);
  if (WEEKDAY_TASKS.includes(task)) {
    if (given === wanted) return 1;
    if (WEEKDAYS.includes(given)) return 0.1;
    return WEEKDAYS.includes(titled(given)) ? 0.05 : 0;
  }
  if (COUNTING_TASKS.includes(task)) {
    return orElse(0, () => {
      const [days, right] = [whole(given), whole(wanted)];
      if (right === 0) return exactly(days === 0);
      return Math.max(0, Math.exp((-5 * Math.abs(days - right)) / right));
    });
  }
  return exactly(task === "is_leap_year" && given.toLowerCase() === wanted.toLowerCase());
};

function whole(text: string): number {
  const value = parsePyInt(text);
  if (value === undefined) throw new TypeError(`${text} is not a whole number`);
  return Number(value);
}

const SECONDS_A_DAY = 86_400;
const MAX_DAYS = 100;
/** Largest difference that still scores above 0. */
const MAX_SECONDS = SECONDS_A_DAY;

/** `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm` in seconds. */
function clockSeconds(text: string, fractions: boolean): number {
  const [hours = "", minutes = "", seconds] = strip(text).split(":");
  const total = whole(hours) * 3600 + whole(minutes) * 60;
  if (seconds === undefined) return total;
  if (!fractions || !seconds.includes(".")) return total + whole(seconds);
  const [full = "", milliseconds = "", ...rest] = seconds.split(".");
  if (rest.length > 0) throw new TypeError("too many points");
  return total + whole(full) + whole(milliseconds) / 1000;
}

function daysAndClock(text: string): number {
  const [days = ""] = text.split(" days,");
  const clock = text.split(",")[1];
  if (clock === undefined) throw new TypeError("no time of day");
  return whole(days) * SECONDS_A_DAY + clockSeconds(clock, false);
}

/** 1 for the correct duration, less for larger differences. */
const timeIntervals: Scorer = (answer, entry) =>
  orElse(0, () => {
    const type = metadata<string>(entry, "task_type");
    const wanted = oracle(entry);
    const close = (read: (text: string) => number, limit: number) => {
      const [given, right] = [read(answer), read(wanted)];
      return given === right ? 1 : Math.max(0, 1 - Math.abs(given - right) / limit);
    };
    if (type === "date") return close((text) => whole(splitWords(text)[0] ?? ""), MAX_DAYS);
    if (type.startsWith("time")) return close((text) => clockSeconds(text, true), MAX_SECONDS);
    return close(daysAndClock, MAX_DAYS * SECONDS_A_DAY);
  });

export const dates: Record<string, Scorer> = {
  calendar_arithmetic: calendarArithmetic,
  time_intervals: timeIntervals,
};
