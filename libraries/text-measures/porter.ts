/** Words that the rules would stem wrongly, as in the stemmer of NLTK. */
const irregular: Readonly<Record<string, string>> = {
  skies: "sky",
  sky: "sky",
  dying: "die",
  lying: "lie",
  tying: "tie",
  news: "news",
  innings: "inning",
  inning: "inning",
  outings: "outing",
  outing: "outing",
  cannings: "canning",
  canning: "canning",
  howe: "howe",
  proceed: "proceed",
  exceed: "exceed",
  succeed: "succeed",
};

/** `[suffix, replacement, condition on the stem]`. The first rule whose suffix fits decides, even if its condition fails. */
type Rule = readonly [suffix: string, replacement: string, condition: (stem: string) => boolean];

const always = () => true;
const positive = (stem: string) => measure(stem) > 0;
const long = (stem: string) => measure(stem) > 1;

const step1a: Rule[] = [
  ["sses", "ss", always],
  ["ies", "i", always],
  ["ss", "ss", always],
  ["s", "", always],
];
const step2: Rule[] = [
  ..."ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful"
    .split(" ")
    .map((pair): Rule => [pair.split(":")[0] ?? "", pair.split(":")[1] ?? "", positive]),
  // The measure includes the l of the suffix.
  ["logi", "log", (stem) => positive(`${stem}l`)],
];
const step3: Rule[] = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
  .split(" ")
  .map((pair): Rule => [pair.split(":")[0] ?? "", pair.split(":")[1] ?? "", positive]);
const step4: Rule[] = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
  .split(" ")
  .map((suffix): Rule => [suffix, "", suffix === "ion" ? (stem) => long(stem) && /[st]$/.test(stem) : long]);

/** The stem of an English word by Porter's algorithm with the extensions of NLTK, which ROUGE uses. */
export function porterStem(word: string): string {
  const text = word.toLowerCase();
  if (Object.hasOwn(irregular, text)) return irregular[text] ?? text;
  if (text.length <= 2) return text;
  let stem = /^.ies$/.test(text) ? text.slice(0, -1) : applyRules(text, step1a);
  stem = dropPast(stem);
  if (/..y$/.test(stem) && shapeOf(stem).at(-2) === "c") stem = `${stem.slice(0, -1)}i`;
  stem = dropDerivation(stem);
  stem = applyRules(applyRules(stem, step3), step4);
  return dropFinalLetter(stem);
}

function applyRules(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix));
  if (!rule) return word;
  const [suffix, replacement, condition] = rule;
  const stem = word.slice(0, word.length - suffix.length);
  return condition(stem) ? stem + replacement : word;
}

/** Step 1b: `-ed` and `-ing`. */
function dropPast(word: string): string {
  if (word.endsWith("ied")) return word.length === 4 ? word.slice(0, -1) : word.slice(0, -2);
  if (word.endsWith("eed")) return positive(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const suffix = ["ed", "ing"].find(
    (ending) => word.endsWith(ending) && shapeOf(word.slice(0, -ending.length)).includes("v"),
  );
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  const last = stem.at(-1) ?? "";
  if (stem.at(-2) === last && shapeOf(stem).endsWith("c"))
    return /[lsz]/.test(last) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

/** Step 2: `-ational`, `-ization` and the like; `-ally` becomes `-al` first. */
function dropDerivation(word: string): string {
  return word.endsWith("alli") && positive(word.slice(0, -4))
    ? dropDerivation(word.slice(0, -2))
    : applyRules(word, step2);
}

/** Step 5: a final `e`, and the second of two final `l`. */
function dropFinalLetter(word: string): string {
  let stem = word;
  if (word.endsWith("e")) {
    const shorter = word.slice(0, -1);
    if (long(shorter) || (measure(shorter) === 1 && !endsShort(shorter))) stem = shorter;
  }
  return stem.endsWith("ll") && long(stem.slice(0, -1)) ? stem.slice(0, -1) : stem;
}

/** `c` for each consonant and `v` for each vowel of a word. A `y` after a consonant is a vowel. */
function shapeOf(word: string): string {
  let shape = "";
  for (const letter of word) {
    const isVowel = letter === "y" ? shape.endsWith("c") : /[aeiou]/.test(letter);
    shape += isVowel ? "v" : "c";
  }
  return shape;
}

/** The number of changes from a vowel to a consonant. */
function measure(word: string): number {
  return shapeOf(word).split("vc").length - 1;
}

/** Whether a word ends with consonant, vowel, consonant (but w, x or y), or is a vowel and a consonant. */
function endsShort(word: string): boolean {
  const shape = shapeOf(word);
  return shape === "vc" || (shape.endsWith("cvc") && !/[wxy]$/.test(word));
}
