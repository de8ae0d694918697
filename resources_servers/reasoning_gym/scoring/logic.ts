import { codePointLength, splitWords, strip } from "nemo-gym/python";
import { exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";
import { evaluateFormula, type Formula, parseFormula, variablesOf } from "./formula.ts";

const circuitLogic: Scorer = (answer, entry) => {
  const wanted = oracle(entry);
  if (answer === wanted) return exactly(answer !== "");
  return strip(answer) === wanted ? codePointLength(wanted) / codePointLength(answer) : 0;
};

const ROLES = new Set(
  "knight knave pioneer laggard saint sinner hero villain angel devil altruist egoist sage fool".split(" "),
);

/** The roles of all persons, as `name role` pairs. */
function rolesIn(text: string): Set<string> {
  const plain = strip(text.toLowerCase())
    .replace(/[.,)(]/g, " ")
    .replaceAll(" and ", " ");
  const pairs = new Set<string>();
  let name: string | undefined;
  for (const word of splitWords(plain)) {
    if (word === "is" || word === "a" || word === "an") continue;
    if (!ROLES.has(word)) name = word;
    else if (name !== undefined) {
      pairs.add(`${name} ${word}`);
      name = undefined;
    }
  }
  return pairs;
}

const knightsKnaves: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = rolesIn(oracle(entry));
  const given = rolesIn(answer);
  if (wanted.size !== given.size) return 0;
  const matching = [...wanted].filter((pair) => given.has(pair)).length;
  if (matching === wanted.size) return 1;
  return matching > 0 ? 0.3 + (0.7 * matching) / wanted.size : 0;
};

/** Maximum number of variables: the truth table doubles with each one. */
const MAX_VARIABLES = 12;

function* assignments(variables: readonly string[]): Generator<Map<string, boolean>> {
  if (variables.length > MAX_VARIABLES) throw new RangeError("too many variables");
  for (let row = 0; row < 2 ** variables.length; row++) {
    yield new Map(variables.map((variable, bit) => [variable, ((row >> bit) & 1) === 1]));
  }
}

function always(formula: Formula, premises: readonly Formula[]): boolean {
  const variables = [...new Set([formula, ...premises].flatMap((each) => [...variablesOf(each)]))];
  for (const values of assignments(variables)) {
    if (premises.every((premise) => evaluateFormula(premise, values)) && !evaluateFormula(formula, values))
      return false;
  }
  return true;
}

/** Scores a conclusion that follows from the premises; a single variable or a tautology scores less. */
const propositionalLogic: Scorer = (answer, entry) =>
  orElse(0, () => {
    const known = new Set(metadata<string[]>(entry, "variables"));
    if ((answer.match(/[A-Z]/g) ?? []).some((letter) => !known.has(letter))) return 0;
    const premises = metadata<string[]>(entry, "premises").map(parseFormula);
    const conclusion = parseFormula(answer);
    if (!always(conclusion, premises)) return 0.05;
    return conclusion.kind === "variable" || always(conclusion, []) ? 0.25 : 1;
  });

const selfReference: Scorer = (answer, entry) => exactly(answer === oracle(entry));

export const logic: Record<string, Scorer> = {
  circuit_logic: circuitLogic,
  knights_knaves: knightsKnaves,
  propositional_logic: propositionalLogic,
  self_reference: selfReference,
};
