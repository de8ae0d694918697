/** A fraction in lowest terms; the denominator is positive. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Longer texts are not answers to sums, and parsing their digits takes quadratic time. */
const MAX_LENGTH = 400;
const MAX_EXPONENT = 300;

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;
const FRACTION = /^([+-]?)\\d?frac\{?([^{}]+)\}?\{([^{}]+)\}$/;
const SLASHED = /^([^/]+)\/([^/]+)$/;

/** The exact number in a short text: `1,200`, `$12.50`, `\frac{3}{4}`, `75\%`, `18 apples`; undefined for other texts. */
export function parseNumber(text: string): Rational | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  return parseBare(bare(text));
}

/** Removes the decoration of a number: spaces, currency, units, thousands separators, a final full stop. */
function bare(text: string): string {
  return text
    .replace(/\\(?:text|mathrm|mbox|operatorname)\s*\{[^{}]*\}/g, "")
    .replace(/\\[!,;: ]|\\quad|\\left|\\right|[\s$€£¥_]|\\\$/g, "")
    .replace(/\{,\}/g, ",")
    .replace(/,(?=\d{3}(?!\d))/g, "")
    .replace(/\\?%$|\\?%(?=\.$)/, "")
    .replace(/\^\{?\\circ\}?$/, "")
    .replace(/(?<=\d)\.$/, "")
    .replace(/(?<=\d)[A-Za-z]+\.?$/, (unit) => (/^e$/i.test(unit) ? unit : ""));
}

function parseBare(text: string): Rational | undefined {
  const fraction = FRACTION.exec(text);
  if (fraction !== null) {
    const [, sign, above = "", below = ""] = fraction;
    return divide(decimal(`${sign}${above}`), decimal(below));
  }
  const slashed = SLASHED.exec(text);
  return slashed === null ? decimal(text) : divide(decimal(slashed[1] ?? ""), decimal(slashed[2] ?? ""));
}

function decimal(text: string): Rational | undefined {
  const [, sign, whole = "", decimals = "", exponent = "0"] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || whole + decimals === "") return undefined;
  const power = Number(exponent) - decimals.length;
  if (Math.abs(power) > MAX_EXPONENT + MAX_LENGTH) return undefined;
  const digits = BigInt(whole + decimals) * (sign === "-" ? -1n : 1n);
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : reduce(digits, 10n ** BigInt(-power));
}

function divide(above: Rational | undefined, below: Rational | undefined): Rational | undefined {
  if (above === undefined || below === undefined || below.numerator === 0n) return undefined;
  return reduce(above.numerator * below.denominator, above.denominator * below.numerator);
}

function reduce(numerator: bigint, denominator: bigint): Rational {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = (denominator < 0n ? -1n : 1n) * (a === 0n ? 1n : a);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}
