import { caseFold, toPyFloat } from "nemo-gym/python";
import { type Chemistry, type Description, NoMolecule } from "./chemistry.ts";
import type { Services } from "./services.ts";

const SIMILAR = 0.7;
/** Largest difference from the wanted solubility. */
const SOLUBILITY_RANGE = 0.49;
/** Largest share by which the number of heavy atoms may differ. */
const SIZE_RANGE = 0.2;
/** Reactants of this size need not be for sale. */
const SMALL_REACTANT = 4;
const REACTION = /^[^J][a-z0-9@+\-[\]()\\/%=#$.]{6,}>[a-z0-9@+\-[\]()\\/%=#$.]*>/i;

/** What the rules ask. */
export interface Sources {
  chemistry: Chemistry;
  services: Services;
  /** Whether these rings, or fingerprint bits, occur in molecules that exist. */
  known(kind: "rings" | "fingerprints", items: readonly string[]): boolean;
  signal: AbortSignal;
}

type Rule = (answer: string, expected: string, sources: Sources) => boolean | Promise<boolean>;

export function normalName(name: string): string {
  return caseFold(name.trim())
    .replace(/\^\{([\d,]+)\}/g, "^($1)")
    .replace(/\{(\w)\}/g, "$1")
    .replace(/[$~]/g, "")
    .replace(/([-\d])[([{]([\p{L}\p{N}]+)[)\]}]-/gu, "$1$2-")
    .replaceAll("^", "")
    .replaceAll(" ", "-");
}

const plainName = (name: string) =>
  normalName(name)
    .normalize("NFKC")
    .replace(/[\p{Pd}\p{Po}-]/gu, "");

const sameName = (answer: string, expected: string) => normalName(answer) === normalName(expected);

/** The largest part of a mixture; parts with up to three characters are left out. */
async function largestFragment(smiles: string, { chemistry, signal }: Sources): Promise<Description | null> {
  let largest: Description | null = null;
  for (const part of smiles.split(".")) {
    const molecule = part.length > 3 ? await chemistry.describe(part, signal) : null;
    if (molecule && molecule.atoms > (largest?.atoms ?? 0)) largest = molecule;
  }
  return largest;
}

const sameMolecule: Rule = async (answer, expected, sources) => {
  const [one, other] = [await largestFragment(answer, sources), await largestFragment(expected, sources)];
  return one !== null && other !== null && one.canonical === other.canonical;
};

/** Whether a molecule could exist: at most a small second part, and known rings and surroundings of atoms besides those of the reference. */
async function isReasonable(smiles: string, reference: string | null, sources: Sources): Promise<boolean> {
  const { chemistry, known, signal } = sources;
  const { sizes, rings, bits } = await chemistry.details(smiles, signal);
  if (sizes.length > 2 || (sizes[1] ?? 0) > 5) return false;
  const allowed =
    reference === null || !(await chemistry.describe(reference, signal))
      ? null
      : await chemistry.details(reference, signal);
  const unknown = (items: string[], given: string[] = []) => items.filter((item) => !given.includes(item));
  return (
    known("rings", unknown(rings, allowed?.rings)) && known("fingerprints", unknown(bits, allowed?.bits))
  );
}

const isSimilar = async (one: string, other: string, { chemistry, signal }: Sources) =>
  (await chemistry.similarity(one, other, signal)) >= SIMILAR;

const completion: Rule = async (answer, expected, sources) => {
  for (const candidate of [answer, expected + answer]) {
    if (!candidate.startsWith(expected)) continue;
    if (await sources.chemistry.describe(candidate, sources.signal))
      return isReasonable(candidate, expected, sources);
  }
  return false;
};

const formula: Rule = async (answer, expected, sources) => {
  const { chemistry, signal } = sources;
  const [one, other] = [await chemistry.describe(answer, signal), await chemistry.describe(expected, signal)];
  if (!one || !other || one.formula !== other.formula) return false;
  return (await isReasonable(answer, expected, sources)) && isSimilar(answer, expected, sources);
};

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const functionalGroups: Rule = async (answer, expected, sources) => {
  const { chemistry, signal } = sources;
  const [wanted, groups] = (await chemistry.literal(expected, signal)) as unknown[];
  const molecule = await chemistry.describe(answer, signal);
  if (molecule === null || molecule.formula !== wanted || !isTexts(groups)) return false;
  if (!(await isReasonable(answer, null, sources))) return false;
  const found = await chemistry.functionalGroups(answer, signal);
  return groups.every((group) => found.includes(group.toLowerCase()));
};

const solubility: Rule = async (answer, expected, sources) => {
  const { chemistry, services, signal } = sources;
  const [constraint, data, target] = (await chemistry.literal(expected, signal)) as unknown[];
  const wanted = toPyFloat(target);
  const molecule = answer.includes(".") ? null : await chemistry.describe(answer, signal);
  if (!molecule || wanted === undefined) return false;
  if (!(await keeps(answer, molecule, { constraint, data }, sources))) return false;
  const reference = constraint === "groups" ? null : String(data);
  if (!(await isReasonable(answer, reference, sources))) return false;
  return Math.abs((await services.solubility(answer, signal)) - wanted) <= SOLUBILITY_RANGE;
};

/** Whether an answer keeps what the task says about its structure. */
async function keeps(
  answer: string,
  molecule: Description,
  { constraint, data }: { constraint: unknown; data: unknown },
  sources: Sources,
): Promise<boolean> {
  const { chemistry, signal } = sources;
  if (constraint === "scaffold") return chemistry.contains(answer, String(data), signal);
  if (constraint === "groups") {
    const found = await chemistry.functionalGroups(answer, signal);
    return isTexts(data) && data.some((group) => found.includes(group.toLowerCase()));
  }
  if (constraint !== "tanimoto") return false;
  const reference = await chemistry.describe(String(data), signal);
  if (!reference || Math.abs(molecule.heavy - reference.heavy) > SIZE_RANGE * reference.heavy) return false;
  return isSimilar(answer, String(data), sources);
}

const reaction: Rule = async (answer, expected, { chemistry, services, signal }) => {
  const parts = answer.split(">");
  if (parts.length !== 3 || !REACTION.test(answer)) return false;
  const [reactants = "", reagents = "", products = ""] = parts;
  const wanted = (await chemistry.describe(expected, signal))?.canonical;
  if (wanted === undefined) return false;
  const read = (side: string) =>
    Promise.all(
      side
        .split(".")
        .filter(Boolean)
        .map((smiles) => chemistry.describe(smiles, signal)),
    );
  const [starts, helpers, ends] = [await read(reactants), await read(reagents), await read(products)];
  if ([starts, helpers, ends].some((side) => side.includes(null))) return false;
  const has = (side: (Description | null)[]) => side.some((molecule) => molecule?.canonical === wanted);
  if ((ends.length > 0 && !has(ends)) || has(starts) || has(helpers)) return false;
  const names = reactants.split(".").filter(Boolean);
  const large = names.filter((_, index) => (starts[index]?.heavy ?? 0) > SMALL_REACTANT);
  const forSale = large.length > 0 ? await services.purchasable(large, signal) : {};
  if (!large.every((smiles) => forSale[smiles] === true)) return false;
  return (await services.product(`${reactants}>${reagents}>`, signal)) === expected;
};

/** The rules by the name that the row gives. */
const RULES: Readonly<Record<string, Rule>> = {
  str_eval: sameName,
  should_not_answer_eval: sameName,
  rxn_eval: (answer, expected) => sameName(answer, expected) || plainName(answer) === plainName(expected),
  product_eval: sameMolecule,
  caption_eval: sameMolecule,
  should_answer_eval: async (answer, _, { chemistry, signal }) =>
    (await chemistry.describe(answer, signal)) !== null,
  valid_mol_eval: completion,
  formula_eval: formula,
  functional_group_eval: functionalGroups,
  sol_eval: solubility,
  rxn_forward: reaction,
};

/** Whether an answer is right by this rule; an unknown rule accepts nothing. */
export async function isRight(
  rule: string,
  answer: string,
  expected: string,
  sources: Sources,
): Promise<boolean> {
  const judge = Object.hasOwn(RULES, rule) ? RULES[rule] : undefined;
  try {
    return judge !== undefined && (await judge(answer, expected, sources));
  } catch (error) {
    if (error instanceof NoMolecule) return false;
    throw error;
  }
}
