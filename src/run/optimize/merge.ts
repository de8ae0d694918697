import { pairedGain, paretoFront, type Scores } from "./pareto.ts";

/** Texts of the components of a candidate, by name. */
export type Texts = Readonly<Record<string, string>>;

/** A candidate, as far as merging needs it. */
export interface Ancestry {
  parents: readonly number[];
  texts: Texts;
}

/** Two candidates of different branches, joined. */
export interface Merge {
  parents: readonly [number, number];
  ancestor: number;
  texts: Texts;
}

/**
 * Finds two leading candidates that changed different components since their last common ancestor, and joins the changes
 * of both. Where both changed a component, the text of the better one is used. Pairs that were tried are skipped.
 */
export function findMerge(
  candidates: ReadonlyMap<number, Ancestry>,
  pool: ReadonlyMap<number, Scores>,
  tried: ReadonlySet<string>,
  random: () => number,
): Merge | undefined {
  const front = [...paretoFront(pool).keys()].sort((left, right) => left - right);
  const pairs = front.flatMap((left, place) => front.slice(place + 1).map((right) => [left, right] as const));
  const merges = pairs.flatMap(([left, right]): Merge[] => {
    if (tried.has(mergeKey([left, right]))) return [];
    const ancestor = commonAncestor(candidates, left, right);
    if (ancestor === undefined || ancestor === left || ancestor === right) return [];
    const texts = joined(candidates, pool, { left, right, ancestor });
    const isNew = [...candidates.values()].every((known) => !sameTexts(known.texts, texts));
    return isNew ? [{ parents: [left, right], ancestor, texts }] : [];
  });
  return merges[Math.floor(random() * merges.length)];
}

export function mergeKey(parents: readonly [number, number]): string {
  return parents.join("+");
}

export function sameTexts(left: Texts, right: Texts): boolean {
  return Object.keys(left).every((name) => left[name] === right[name]);
}

function joined(
  candidates: ReadonlyMap<number, Ancestry>,
  pool: ReadonlyMap<number, Scores>,
  { left, right, ancestor }: { left: number; right: number; ancestor: number },
): Texts {
  const textsOf = (index: number) => candidates.get(index)?.texts ?? {};
  const [base, first, second] = [textsOf(ancestor), textsOf(left), textsOf(right)];
  const isSecondBetter = (pairedGain(pool.get(left) ?? new Map(), pool.get(right) ?? new Map()) ?? 0) > 0;
  const [better, other] = isSecondBetter ? [second, first] : [first, second];
  return Object.fromEntries(
    Object.entries(base).map(([name, text]) => [
      name,
      (better[name] === text ? other : better)[name] ?? text,
    ]),
  );
}

/** The youngest ancestor of both; a candidate counts as its own ancestor. */
function commonAncestor(
  candidates: ReadonlyMap<number, Ancestry>,
  left: number,
  right: number,
): number | undefined {
  const ofRight = ancestorsOf(candidates, right);
  return [...ancestorsOf(candidates, left)].filter((index) => ofRight.has(index)).sort((a, b) => b - a)[0];
}

function ancestorsOf(candidates: ReadonlyMap<number, Ancestry>, index: number): Set<number> {
  const found = new Set<number>();
  const queue = [index];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...(candidates.get(next)?.parents ?? []));
  }
  return found;
}
