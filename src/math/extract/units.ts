/** Words that are left out behind a number: units, and things that are counted in school problems. */
const UNITS =
  `ab acre am apple are bc by c cc cent cm coin cube cubic d day decrease deg degree digit dm east edge excess feet ft g gain
gal gallon gm h hectare hour hr inch increase kg km kmh kmph l lb less liter litre loss lt m man mark men meter metre mile min minute
minw mm monkey month more mp mph mt mtr noon number o ohm per pie pm pound prime profit pure ratio rd rise rounds rs rupee s sec second
soldier sq square st student t th tile toy unit way west woman women yard year yr`
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);

const TEXT_END = /\}(?:\^(?:\d|\{-?\d+\}))?$/;
const TRAILING_UNIT = new RegExp(`([\\d} ])(?:${UNITS.join("|")})(?:s|es)?$`);

/**
 * An answer without the unit at its end. A text from the first `\text{` on is left out when something stands before it; then unit words,
 * twice, so that `5 square meters` is 5.
 */
export function removeUnits(answer: string): string {
  const text = withoutTrailingText(answer);
  return withoutUnit(withoutUnit(text));
}

function withoutTrailingText(answer: string): string {
  const start = answer.search(/\s{0,3}\\(?:text|mbox)\{/);
  if (start <= 0 || answer.slice(0, start).trim() === "") return answer;
  return TEXT_END.test(answer) ? answer.slice(0, start) : answer;
}

function withoutUnit(answer: string): string {
  return answer.replace(TRAILING_UNIT, "$1").trim();
}
