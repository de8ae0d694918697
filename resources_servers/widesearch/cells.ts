import { strip } from "nemo-gym/python";
import { isoDate, readDate } from "./dates.ts";
import type { Step } from "./row.ts";

const NUMBER = /[-+]?\d*\.\d+%?|[-+]?\d+\.?\d*%?/;

const STEPS: Record<Step, (value: string) => string> = {
  norm_str: (value) => strip(value.toLowerCase()).replace(/[ *]/g, ""),
  extract_number: (value) => NUMBER.exec(value.replaceAll(",", ""))?.[0] ?? "NULL",
  norm_date(value) {
    const date = readDate(value);
    return date === undefined ? value : isoDate(date);
  },
};

/** Brings a cell into the form in which it is compared. */
export function preprocess(value: string, steps: readonly Step[]): string {
  return steps.reduce((text, step) => STEPS[step](text), value);
}
