import { SPACE_CLASS, strip } from "nemo-gym/python";

// Internal markers for a period inside a sentence and for the end of a sentence.
const PERIOD = "<prd>";
const STOP = "<stop>";

const STARTER = `(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|(?:He|She|It|They|Their|Our|We|But|However|That|This)[${SPACE_CLASS}]|Wherever)`;
const SUFFIX = "(Inc|Ltd|Jr|Sr|Co)";

type Rule = readonly [RegExp, string];

const beforeDots: readonly Rule[] = [
  [/(Mr|St|Mrs|Ms|Dr)\./g, `$1${PERIOD}`],
  [/\.(com|net|org|io|gov|edu|me)/g, `${PERIOD}$1`],
  [/([0-9])\.([0-9])/g, `$1${PERIOD}$2`],
];

const afterDots: readonly Rule[] = [
  [/Ph\.D\./g, `Ph${PERIOD}D${PERIOD}`],
  [new RegExp(`[${SPACE_CLASS}]([A-Za-z])\\. `, "g"), ` $1${PERIOD} `],
  [new RegExp(`([A-Z]\\.[A-Z]\\.(?:[A-Z]\\.)?) ${STARTER}`, "g"), `$1${STOP} $2`],
  [/([A-Za-z])\.([A-Za-z])\.([A-Za-z])\./g, `$1${PERIOD}$2${PERIOD}$3${PERIOD}`],
  [/([A-Za-z])\.([A-Za-z])\./g, `$1${PERIOD}$2${PERIOD}`],
  [new RegExp(` ${SUFFIX}\\. ${STARTER}`, "g"), ` $1${STOP} $2`],
  [new RegExp(` ${SUFFIX}\\.`, "g"), ` $1${PERIOD}`],
  [/ ([A-Za-z])\./g, ` $1${PERIOD}`],
  [/\.”/g, "”."],
  [/\."/g, '".'],
  [/!"/g, '"!'],
  [/\?"/g, '"?'],
  [/[.?!]/g, `$&${STOP}`],
];

function apply(text: string, rules: readonly Rule[]): string {
  return rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/** Splits a text into sentences by the rules of IFEval: titles, sites, numbers, ellipses and acronyms do not end a sentence. */
export function splitSentences(text: string): string[] {
  let marked = apply(` ${text}  `.replaceAll("\n", " "), beforeDots);
  marked = marked.replace(/\.{2,}/g, (dots) => PERIOD.repeat(dots.length) + STOP);
  marked = apply(marked, afterDots).replaceAll(PERIOD, ".");
  const sentences = marked.split(STOP).map((sentence) => strip(sentence));
  if (sentences.at(-1) === "") sentences.pop();
  return sentences;
}
