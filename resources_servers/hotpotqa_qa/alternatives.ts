import { codePointLength, isUpper, rstrip, splitWords, strip } from "nemo-gym/python";

const units =
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty";
const ordinals = {
  first: "1st",
  second: "2nd",
  third: "3rd",
  fourth: "4th",
  fifth: "5th",
  nineteenth: "19th",
  twentieth: "20th",
  "twenty-first": "21st",
};
const digitsOf = new Map([
  ...units.split(" ").map((word, index) => [word, String(index + 1)] as const),
  ...Object.entries(ordinals),
]);
const wordOf = new Map(Array.from(digitsOf, ([word, digits]) => [digits, word]));

/** Words that do not make a name, such as those of titles. */
const stopWords = new Set(
  (
    "the a an of in on at for and or to by is was are were be been with from that this it its his her my our their no not but " +
    "if as into about than then"
  ).split(" "),
);
const maxReliableLength = 40;
const minLength = 3;

/** The usual ways to write an answer, including the answer itself. */
export function answerAlternatives(answer: string): string[] {
  const word = strip(answer).toLowerCase();
  const forms = [
    answer,
    answer.replace(/["“”]/g, ""),
    ...(answer.includes("(") ? parenthesisForms(answer) : []),
    digitsOf.get(word) ?? "",
    wordOf.get(word) ?? "",
    answer.replace(/(?<=\p{Nd}),(?=\p{Nd}{3})/gu, ""),
    answer.replace(/[.,;:!?]$/, ""),
    longerThanOne(answer.replace(/(?<!\p{Nd})\.(?!\p{Nd})/gu, "")),
    answer.startsWith("-") ? "" : answer.replaceAll("-", " "),
    answer.replaceAll(" & ", " and "),
    answer.replace(/ and /i, " & "),
  ];
  const all = [...forms, ...forms.map((form) => form.replace(/^(?:the|a|an) /i, ""))];
  const collapsed = all.map((form) => splitWords(form).join(" "));
  const kept = collapsed.filter(
    (form) =>
      form !== "" &&
      (codePointLength(form) >= minLength || form === strip(answer) || /^\p{Nd}+$/u.test(form)),
  );
  return [...new Set(kept)];
}

/** The text without its parentheses, and what they contain. */
function parenthesisForms(answer: string): string[] {
  const contents = Array.from(answer.matchAll(/\(([^)]+)\)/g), (match) =>
    longerThanOne(strip(match[1] ?? "")),
  );
  return [answer.replace(/\([^)]*\)/g, " "), ...contents];
}

function longerThanOne(text: string): string {
  return codePointLength(text) > 1 ? text : "";
}

/** Why the containment of this answer says little: `gt_too_long`, `multi_word_name` or "". */
export function unreliableReason(answer: string): string {
  if (codePointLength(answer) > maxReliableLength) return "gt_too_long";
  const words = splitWords(rstrip(strip(answer), "."));
  const names = words.filter(
    (word) => isUpper(Array.from(word)[0] ?? "") && !stopWords.has(word.toLowerCase()),
  );
  const isName =
    words.length === 3 || words.length === 4
      ? names.length === words.length
      : (words.length === 5 || words.length === 6) && names.length >= 3;
  return isName ? "multi_word_name" : "";
}
