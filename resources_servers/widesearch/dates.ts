import { strip } from "nemo-gym/python";

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MS_PER_DAY = 86_400_000;

const NAME = String.raw`(?<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?<year>\d{4})`;
/** A time of day does not matter. */
const TIME = String.raw`(?:[t ,]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[ap]\.?m\.?)?\s*(?:z|utc|gmt|[-+]\d{2}:?\d{2})?)?`;
const FORMS = [
  String.raw`${YEAR}[-/.](?<month>\d{1,2})[-/.]${DAY}${TIME}`,
  String.raw`(?<month>\d{1,2})[-/.](?<day>\d{1,2})[-/.]${YEAR}${TIME}`,
  String.raw`${NAME}\s+${DAY}\s*,?\s*${YEAR}${TIME}`,
  String.raw`${DAY}\s*(?:of\s+)?[- ]?${NAME}[-\s,]*${YEAR}${TIME}`,
  String.raw`${YEAR}[-\s,]+${NAME}[-\s]+${DAY}${TIME}`,
  String.raw`${NAME}[-\s,]*(?:of\s+)?${YEAR}`,
  String.raw`${YEAR}[-\s,]+${NAME}`,
  String.raw`${YEAR}[-/.](?<month>\d{1,2})`,
  String.raw`(?<month>\d{1,2})[-/.]${YEAR}`,
  YEAR,
  String.raw`${YEAR}\s*年\s*(?:(?<month>\d{1,2})\s*月\s*(?:(?<day>\d{1,2})\s*[日号])?)?`,
].map((form) => new RegExp(`^${form}$`));

/**
 * The day that a text names, in days since 1970; undefined if it names none. A missing day or month is the first one. Numbers alone
 * are month, day, year, or day, month, year where the first cannot be a month.
 */
export function readDate(text: string): number | undefined {
  const plain = strip(text.toLowerCase()).replace(
    /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+/,
    "",
  );
  for (const form of FORMS) {
    const found = form.exec(plain)?.groups;
    if (!found) continue;
    const { year, name } = found;
    const month = name === undefined ? Number(found["month"] ?? 1) : MONTHS.indexOf(name.slice(0, 3)) + 1;
    const day = Number(found["day"] ?? 1);
    const known = dayNumber(Number(year), month, day);
    // Only numbers alone have a second reading.
    return known ?? (form === FORMS[1] ? dayNumber(Number(year), day, month) : undefined);
  }
  return undefined;
}

export function isoDate(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().slice(0, 10);
}

function dayNumber(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / MS_PER_DAY : undefined;
}
