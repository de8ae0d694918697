const UNITS =
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety";
const POWERS =
  "million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion";

const zeros = new Set(["o", "oh", "zero"]);
const units = new Map(UNITS.split(" ").map((word, index) => [word, BigInt(index + 1)]));
const tens = new Map(TENS.split(" ").map((word, index) => [word, BigInt(10 * (index + 2))]));
const powers = new Map([
  ["hundred", 100n],
  ["thousand", 1000n],
  ...POWERS.split(" ").map((word, index): [string, bigint] => [word, 10n ** BigInt(6 + 3 * index)]),
]);

/** Plurals and ordinals: the number, and the ending that it keeps in digits. */
type Suffixed = Map<string, readonly [number: bigint, ending: string]>;
const IRREGULAR: Readonly<Record<string, readonly [word: string, ending: string]>> = {
  one: ["first", "st"],
  two: ["second", "nd"],
  three: ["third", "rd"],
  five: ["fifth", "th"],
  twelve: ["twelfth", "th"],
};
const suffixedUnits: Suffixed = new Map([["zeroth", [0n, "th"]]]);
for (const [word, value] of units) {
  const [ordinal, ending] = IRREGULAR[word] ?? [word + (word.endsWith("t") ? "h" : "th"), "th"];
  suffixedUnits.set(word === "six" ? "sixes" : `${word}s`, [value, "s"]).set(ordinal, [value, ending]);
}
const suffixedTens: Suffixed = new Map();
for (const [word, value] of tens)
  suffixedTens.set(word.replace("y", "ies"), [value, "s"]).set(word.replace("y", "ieth"), [value, "th"]);
const suffixedPowers: Suffixed = new Map();
for (const [word, value] of powers)
  suffixedPowers.set(`${word}s`, [value, "s"]).set(`${word}th`, [value, "th"]);

const signs = new Map([
  ["minus", "-"],
  ["negative", "-"],
  ["plus", "+"],
  ["positive", "+"],
]);
const currencies = new Map<string, string>();
for (const [word, symbol] of Object.entries({ pound: "£", euro: "€", dollar: "$", cent: "¢" }))
  currencies.set(word, symbol).set(`${word}s`, symbol);
const prefixes = new Set([...signs.values(), ...currencies.values()]);
const percent = new Set(["per", "percent"]);
const specials = new Set(["and", "double", "triple", "point"]);

const groups: readonly { has(word: string): boolean }[] = [
  ...[
    zeros,
    units,
    suffixedUnits,
    tens,
    suffixedTens,
    powers,
    suffixedPowers,
    signs,
    currencies,
    percent,
    specials,
  ],
];
const isNumberWord = (word: string | undefined) =>
  word !== undefined && groups.some((group) => group.has(word));
const isDecimal = (word: string) => units.has(word) || tens.has(word) || zeros.has(word);
const NUMERAL = /^\d+(\.\d+)?$/;

/** The number that is being read: an integer, or digits in the order in which they were said. */
type Value = bigint | string | undefined;

/** Reads one text from left to right. Adjacent numbers are joined or added as people say them. */
class NumberReader {
  readonly output: string[] = [];
  #value: Value;
  #prefix = "";

  read(words: readonly string[]): string {
    for (let at = 0; at < words.length; at++)
      at += this.#word(words[at] as string, words[at - 1], words[at + 1]);
    this.#flush();
    return this.output.join(" ");
  }

  /** Returns how many of the next words it has used. */
  #word(word: string, before: string | undefined, next: string | undefined): number {
    const nextIsNumeral = next !== undefined && NUMERAL.test(next);
    const sign = prefixes.has(word.charAt(0)) ? word.charAt(0) : "";
    const unsigned = word.slice(sign.length);
    if (NUMERAL.test(unsigned)) this.#numeral(word, sign, unsigned);
    else if (!isNumberWord(word)) this.#plain(word);
    else if (zeros.has(word)) this.#value = `${this.#value || ""}0`;
    else if (units.has(word)) this.#value = this.#withUnit(units.get(word) as bigint, before);
    else if (suffixedUnits.has(word)) {
      const [unit, ending] = suffixedUnits.get(word) as readonly [bigint, string];
      this.#emit(`${this.#withUnit(unit, before)}${ending}`);
    } else if (tens.has(word)) this.#value = this.#withTens(tens.get(word) as bigint);
    else if (suffixedTens.has(word)) {
      const [ten, ending] = suffixedTens.get(word) as readonly [bigint, string];
      this.#emit(`${this.#withTens(ten)}${ending}`);
    } else if (powers.has(word)) this.#value = this.#times(powers.get(word) as bigint);
    else if (suffixedPowers.has(word)) {
      const [power, ending] = suffixedPowers.get(word) as readonly [bigint, string];
      this.#emit(`${this.#times(power, true)}${ending}`);
    } else if (signs.has(word)) {
      this.#flush();
      if (isNumberWord(next) || nextIsNumeral) this.#prefix = signs.get(word) as string;
      else this.#emit(word);
    } else if (currencies.has(word)) {
      if (this.#value === undefined) this.#emit(word);
      else {
        this.#prefix = currencies.get(word) as string;
        this.#flush();
      }
    } else if (percent.has(word)) return this.#percent(word, next);
    else return this.#special(word, before, next, nextIsNumeral);
    return 0;
  }

  #emit(text: string) {
    this.output.push(this.#prefix + text);
    this.#prefix = "";
    this.#value = undefined;
  }

  #flush() {
    if (this.#value !== undefined) this.#emit(String(this.#value));
  }

  #plain(word: string) {
    this.#flush();
    this.#emit(word);
  }

  #numeral(word: string, sign: string, unsigned: string) {
    if (typeof this.#value === "string" && this.#value.endsWith(".")) {
      this.#value += word;
      return;
    }
    this.#flush();
    if (sign !== "") this.#prefix = sign;
    const [whole = "", decimals = ""] = unsigned.split(".");
    this.#value = /^0*$/.test(decimals) ? BigInt(whole) : unsigned;
  }

  #withUnit(unit: bigint, before: string | undefined): bigint | string {
    const value = this.#value;
    if (value === undefined) return unit;
    if (typeof value === "string" || units.has(before ?? ""))
      return tens.has(before ?? "") && unit < 10n
        ? `${String(value).slice(0, -1)}${unit}`
        : `${value}${unit}`;
    return value % (unit < 10n ? 10n : 100n) === 0n ? value + unit : `${value}${unit}`;
  }

  #withTens(ten: bigint): bigint | string {
    const value = this.#value;
    if (value === undefined) return ten;
    return typeof value !== "string" && value % 100n === 0n ? value + ten : `${value}${ten}`;
  }

  /** `isLast`: the word ends the number, so zero is not written out before it. */
  #times(power: bigint, isLast = false): bigint {
    const value = this.#value;
    if (value === undefined) return power;
    if (typeof value === "string" || (value === 0n && !isLast)) {
      const product = productOf(String(value), power);
      if (product !== undefined) return product;
      this.#flush();
      return power;
    }
    return (value / 1000n) * 1000n + (value % 1000n) * power;
  }

  #percent(word: string, next: string | undefined): number {
    if (this.#value === undefined) this.#emit(word);
    else if (word === "percent") this.#emit(`${this.#value}%`);
    else if (next === "cent") {
      this.#emit(`${this.#value}%`);
      return 1;
    } else this.#plain(word);
    return 0;
  }

  #special(
    word: string,
    before: string | undefined,
    next: string | undefined,
    nextIsNumeral: boolean,
  ): number {
    if (next === undefined || !(isNumberWord(next) || nextIsNumeral)) this.#plain(word);
    else if (word === "and") {
      if (!powers.has(before ?? "")) this.#plain(word);
    } else if (word === "point") {
      if (isDecimal(next) || nextIsNumeral) this.#value = `${this.#value || ""}.`;
    } else if (units.has(next) || zeros.has(next)) {
      const digit = String(units.get(next) ?? 0n);
      this.#value = `${this.#value || ""}${digit.repeat(word === "double" ? 2 : 3)}`;
      return 1;
    } else this.#plain(word);
    return 0;
  }
}

/** The product with a decimal text, if it is an integer. */
function productOf(text: string, power: bigint): bigint | undefined {
  const [, whole, decimals = ""] = /^(?=\d|\.\d)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const product = BigInt(whole + decimals) * power;
  const scale = 10n ** BigInt(decimals.length);
  return product % scale === 0n ? product / scale : undefined;
}

const WORD = "[\\p{L}\\p{N}_]";
const END = `(?!${WORD})`;

/** Spelled-out numbers as digits; text in lower case without punctuation. */
export function numbersAsDigits(text: string): string {
  const digits = new NumberReader().read(prepared(text).split(/\s+/).filter(Boolean));
  return digits
    .replace(
      new RegExp(`([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})${END}`, "gu"),
      (_, currency, whole, cents) => `${currency}${whole}.${cents.padStart(2, "0")}`,
    )
    .replace(new RegExp(`[€£$]0.([0-9]{1,2})${END}`, "gu"), (_, cents) => `¢${Number(cents)}`)
    .replace(new RegExp(`(?<!${WORD})1(s?)${END}`, "gu"), "one$1");
}

function prepared(text: string): string {
  const parts = text.split(new RegExp(`(?<!${WORD})and\\s+a\\s+half${END}`, "gu"));
  const last = parts.length - 1;
  const joined = parts.flatMap((part, index) => {
    if (part.trim() === "") return [];
    if (index === last) return [part];
    const word = part.trim().split(/\s+/).at(-1) ?? "";
    return [part, isDecimal(word) || powers.has(word) ? "point five" : "and a half"];
  });
  return joined
    .join(" ")
    .replace(/([a-z])([0-9])/g, "$1 $2")
    .replace(/([0-9])([a-z])/g, "$1 $2")
    .replace(new RegExp(`([0-9])\\s+(st|nd|rd|th|s)${END}`, "gu"), "$1$2");
}
