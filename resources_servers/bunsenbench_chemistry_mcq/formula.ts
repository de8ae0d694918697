import { splitWords } from "nemo-gym/python";

const greek =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";
const firstSmall = 0x3b1;
const firstCapital = 0x391;
const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The named characters of HTML that occur in chemistry. */
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u{a0}",
  deg: "°",
  middot: "·",
  bull: "•",
  times: "×",
  plusmn: "±",
  minus: "−",
  ndash: "–",
  mdash: "—",
  prime: "′",
  rarr: "→",
  larr: "←",
  harr: "↔",
  sup1: "¹",
  sup2: "²",
  sup3: "³",
  frac12: "½",
  ...Object.fromEntries(
    greek.split(" ").flatMap((name, index) => [
      [name, String.fromCodePoint(firstSmall + index)],
      [capitalized(name), String.fromCodePoint(firstCapital + index)],
    ]),
  ),
};

/** The form in which formulas and texts of options are compared: plain digits and hyphens, no invisible characters. */
export function comparableFormula(text: string): string {
  const plain = unescapeHtml(text)
    .normalize("NFKC")
    .replace(/[\u{2010}-\u{2015}\u{2212}]/gu, "-")
    .replace(/\p{Cf}/gu, "");
  return splitWords(plain).join(" ");
}

function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
