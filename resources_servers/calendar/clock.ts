import { parsePyInt, strip } from "nemo-gym/python";

const halfDay = 12 * 60;

/** Minutes since midnight of `10am`, `2:15pm` or `14:15`, else undefined. Does not check the range of hours. */
export function minutesOf(time: unknown): number | undefined {
  if (typeof time !== "string") return undefined;
  const text = strip(time);
  if (text.includes("am")) return twelveHours(text.replaceAll("am", ""));
  if (text.includes("pm")) {
    const minutes = twelveHours(text.replaceAll("pm", ""));
    return minutes === undefined ? undefined : minutes + halfDay;
  }
  const parts = integers(text);
  return parts?.length === 2 ? toMinutes(parts) : undefined;
}

function twelveHours(text: string): number | undefined {
  const parts = integers(text);
  if (parts === undefined || parts.length > 2) return undefined;
  const [hour = 0, minute = 0] = parts;
  return toMinutes([hour === 12 ? 0 : hour, minute]);
}

function toMinutes([hours = 0, minutes = 0]: number[]): number {
  return hours * 60 + minutes;
}

function integers(text: string): number[] | undefined {
  const numbers: number[] = [];
  for (const part of text.split(":", 3)) {
    const value = parsePyInt(part);
    if (value === undefined) return undefined;
    numbers.push(Number(value));
  }
  return numbers;
}
