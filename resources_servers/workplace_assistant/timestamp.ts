/** A point in time parsed from text, in milliseconds as if it were UTC; `zoned` if the text had a time zone. */
export interface Timestamp {
  time: number;
  zoned: boolean;
}

/** The text is not a time; it is neither before nor after any time. */
export const NOT_A_TIME: Timestamp = { time: Number.NaN, zoned: false };

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAME =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/;
const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|rs|rsday|urday)?$/;
const FILLER = new Set([
  ",",
  ".",
  ";",
  "-",
  "/",
  "'",
  "at",
  "on",
  "and",
  "of",
  "t",
  "st",
  "nd",
  "rd",
  "th",
  "the",
]);
const CLOCK = /(\d{1,2}):(\d{1,2})(?!\d)(?::(\d{1,2})(?!\d)(?:[.,](\d{1,9}))?)?/;
const ZONE = /(?:\s*(z|utc|gmt)|\s*([+-])(\d{2}):?(\d{2})?)$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})?)?$/;
/** A date of eight digits before a time of day. */
const COMPACT_DATE = /^(\d{4})(\d{2})(\d{2})(?=[t ,])/;
const HOURS = /(\d{1,2})\s*h(?:ours?)?(?![a-z])/;
const QUARTER = /^(?:(\d{4})-?q([1-4])|([1-4])q-?(\d{4}))$/;
const MONTHS_A_QUARTER = 3;
/** Only these texts mean a time of today; any other time without a date belongs to the first day of the calendar. */
const LOOKS_LIKE_TIME = /^\d{1,2}:/;

const DATE_PARTS = 3;

/** Maximum length of a timestamp. */
const MAX_LENGTH = 100;

interface Parts {
  year?: number;
  month?: number;
  day?: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  /** Whether the text had a time of day. */
  clock: boolean;
  offsetMinutes?: number;
}

/**
 * Parses a date with an optional time, in ISO 8601 or in common notations: `2023-11-30 09:00`, `November 30, 2023`,
 * `30 Nov 2023 9am`, `11/30/2023` (month first unless that is invalid).
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (text === "now" || text === "today") return { time: Date.now(), zoned: false };
  const lower = text.trim().toLowerCase();
  if (lower === "nat" || lower === "nan" || lower === "") return NOT_A_TIME;
  const parts: Parts = { hour: 0, minute: 0, second: 0, millisecond: 0, clock: false };
  const compact = COMPACT.exec(lower);
  if (compact !== null) {
    const [, year, month, day, hour = "0", minute = "0", second = "0"] = compact;
    Object.assign(parts, { year: Number(year), month: Number(month), day: Number(day) });
    Object.assign(parts, { hour: Number(hour), minute: Number(minute), second: Number(second) });
    return finish(parts);
  }
  const quarter = QUARTER.exec(lower);
  if (quarter !== null) {
    const [, year, number, firstNumber, lastYear] = quarter;
    const month = (Number(number ?? firstNumber) - 1) * MONTHS_A_QUARTER + 1;
    return finish({ ...parts, year: Number(year ?? lastYear), month, day: 1 });
  }
  const rest = takeClock(lower.replace(COMPACT_DATE, "$1-$2-$3"), parts);
  if (rest === undefined || !takeDate(rest, parts, LOOKS_LIKE_TIME.test(lower))) return undefined;
  return finish(parts);
}

/** Removes the time of day and the zone from the text and returns the rest; undefined if they are invalid. */
function takeClock(text: string, parts: Parts): string | undefined {
  let rest = text;
  const clock = CLOCK.exec(rest);
  parts.clock = clock !== null;
  if (clock !== null) {
    const [matched, hour, minute, second = "0", fraction = ""] = clock;
    Object.assign(parts, { hour: Number(hour), minute: Number(minute), second: Number(second) });
    parts.millisecond = Number(fraction.padEnd(3, "0").slice(0, 3));
    const after = rest.slice(clock.index + matched.length);
    const zone = ZONE.exec(after);
    if (zone !== null) {
      const [whole, , sign, hours = "0", minutes = "0"] = zone;
      parts.offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
      rest = `${rest.slice(0, clock.index)} ${after.slice(0, after.length - whole.length)}`;
    } else rest = `${rest.slice(0, clock.index)} ${after}`;
  }
  const hours = clock === null ? HOURS.exec(rest) : null;
  if (hours !== null) {
    Object.assign(parts, { hour: Number(hours[1]), clock: true });
    return `${rest.slice(0, hours.index)} ${rest.slice(hours.index + hours[0].length)}`;
  }
  const meridiem = (
    clock === null ? /(\d{1,2})\s*([ap])\.?m\.?(?![a-z])/ : /()(?<![a-z])([ap])\.?m\.?(?![a-z])/
  ).exec(rest);
  if (meridiem === null) return rest;
  const hour = clock === null ? Number(meridiem[1]) : parts.hour;
  if (hour < 1 || hour > 12) return undefined;
  parts.clock = true;
  parts.hour = (hour % 12) + (meridiem[2] === "p" ? 12 : 0);
  return `${rest.slice(0, meridiem.index)} ${rest.slice(meridiem.index + meridiem[0].length)}`;
}

function takeDate(text: string, parts: Parts, isTime: boolean): boolean {
  const numbers: string[] = [];
  let yearFirst = false;
  for (const token of text.match(/\d+|[a-z]+|[^\s\da-z]/g) ?? []) {
    if (/^\d/.test(token)) {
      if (token.length > 4) return false;
      const complete = numbers.length + (parts.month === undefined ? 0 : 1) === DATE_PARTS;
      if (complete && !parts.clock && token.length % 2 === 0) {
        // After a complete date, two or four digits are a time of day.
        Object.assign(parts, {
          hour: Number(token.slice(0, 2)),
          minute: Number(token.slice(2)),
          clock: true,
        });
        continue;
      }
      if (numbers.length === 0 && token.length > 2) yearFirst = true;
      numbers.push(token);
    } else if (MONTH_NAME.test(token)) {
      if (parts.month !== undefined) return false;
      parts.month = MONTHS.indexOf(token.slice(0, 3)) + 1;
    } else if (!FILLER.has(token) && !WEEKDAY.test(token)) return false;
  }
  if (numbers.length > (parts.month === undefined ? 3 : 2)) return false;
  if (numbers.length === 0 && parts.month === undefined) return takeNoDate(parts, isTime);
  if (parts.month !== undefined) return takeDayAndYear(numbers, parts);
  const [first = "", second, third] = numbers;
  if (yearFirst) {
    if ((second ?? "").length > 2 || (third ?? "").length > 2) return false;
    Object.assign(parts, { year: Number(first), month: Number(second ?? 1), day: Number(third ?? 1) });
  } else if (third !== undefined) {
    const [a, b] = [Number(first), Number(second)];
    Object.assign(parts, a > 12 ? { day: a, month: b } : { month: a, day: b }, { year: fullYear(third) });
  } else if (second !== undefined) {
    const isYear = second.length > 2;
    Object.assign(parts, {
      month: Number(first),
      day: isYear ? 1 : Number(second),
      year: isYear ? Number(second) : 1,
    });
  } else return false;
  return true;
}

function takeNoDate(parts: Parts, isTime: boolean): boolean {
  const now = new Date();
  if (isTime)
    Object.assign(parts, { year: now.getUTCFullYear(), month: now.getUTCMonth() + 1, day: now.getUTCDate() });
  return parts.clock;
}

/** Next to the name of a month are the day and the year, in either order. */
function takeDayAndYear(numbers: readonly string[], parts: Parts): boolean {
  const year = numbers.findIndex((number) => number.length > 2 || Number(number) > 31);
  const others = numbers.filter((_, index) => index !== year);
  const [day = "1", lateYear] = others;
  parts.day = Number(day);
  if (year >= 0) parts.year = fullYear(numbers[year] ?? "");
  else if (lateYear !== undefined) parts.year = fullYear(lateYear);
  else parts.year = 1;
  return year < 0 || others.length < 2;
}

/** A two-digit year means the year nearest to now. */
function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length > 2) return year;
  const now = new Date().getUTCFullYear();
  const candidate = Math.floor(now / 100) * 100 + year;
  if (candidate >= now + 50) return candidate - 100;
  return candidate < now - 50 ? candidate + 100 : candidate;
}

function finish(parts: Parts): Timestamp | undefined {
  const { year = 1, month = 1, day = 1, hour, minute, second, millisecond, offsetMinutes } = parts;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Month 13, or day 31 of a short month, rolls over into the next month.
  if (year < 1 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second, millisecond);
  const zoned = offsetMinutes !== undefined;
  return { time: date.getTime() - (offsetMinutes ?? 0) * 60_000, zoned };
}
