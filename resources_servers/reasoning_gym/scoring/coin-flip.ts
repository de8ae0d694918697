import { formatValue, strip } from "nemo-gym/python";
import { oracle, type Scorer } from "./entry.ts";

const FRACTION = /^([+-]?)(\d+(?:_\d+)*)\/(\d+(?:_\d+)*)$/;
const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d{1,4})?$/;
const MAX_LENGTH = 1000;
const TOLERANCE = 1e-4;

/** A number or a fraction; undefined for other texts. */
function probability(text: string): number | undefined {
  const plain = strip(text.replaceAll(",", ""));
  if (plain.length > MAX_LENGTH) return undefined;
  const [, sign = "", top, bottom] = FRACTION.exec(plain) ?? [];
  if (top !== undefined && bottom !== undefined) {
    const value = Number(top.replaceAll("_", "")) / Number(bottom.replaceAll("_", ""));
    return Number(bottom) === 0 ? undefined : sign === "-" ? -value : value;
  }
  return DECIMAL.test(plain) ? Number(plain.replaceAll("_", "")) : undefined;
}

/** 1 if the answer is close enough; else the score depends on the number of matching leading characters. */
export const coinFlip: Scorer = (answer, entry) => {
  const [given, wanted] = [probability(answer), probability(oracle(entry))];
  if (given === undefined || wanted === undefined) return 0;
  if (Math.abs(given - wanted) <= TOLERANCE) return 1;
  const [a, b] = [formatValue(given, ".10g"), formatValue(wanted, ".10g")];
  let common = 0;
  while (common < Math.min(a.length, b.length) && a[common] === b[common]) common++;
  return common / Math.min(a.length, b.length);
};
