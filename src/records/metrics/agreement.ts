/** A category that a rater chose; null if the rater did not rate the unit. */
export type Rating = string | number | boolean | null;

/** How far two raters, or many, agree beyond chance; null where every rating is the same, so that it is not defined. */
export interface Agreement {
  value: number | null;
  /** Share of the pairs of ratings that agree. */
  observed: number;
  /** The same by chance. */
  expected: number;
}

/**
 * Cohen's kappa of a square table: rows are categories of the first rater, columns those of the second, cells are counts or
 * shares.
 */
export function cohenKappa(table: readonly (readonly number[])[]): Agreement {
  const total = sumOf(table.flat());
  const rows = table.map((row) => sumOf(row) / total);
  const columns = table.map((_, column) => sumOf(table.map((row) => row[column] ?? 0)) / total);
  const observed = sumOf(table.map((row, place) => row[place] ?? 0)) / total;
  const expected = sumOf(rows.map((share, place) => share * (columns[place] ?? 0)));
  return beyondChance(observed, expected);
}

/** Gwet's AC1 of a square table of two raters. Unlike kappa, it stays high where almost all ratings are of one category. */
export function gwetAC1(table: readonly (readonly number[])[]): Agreement {
  const total = sumOf(table.flat());
  const observed = sumOf(table.map((row, place) => row[place] ?? 0)) / total;
  const shares = table.map((row, place) => {
    const column = sumOf(table.map((other) => other[place] ?? 0));
    return (sumOf(row) + column) / (2 * total);
  });
  return beyondChance(observed, gwetExpected(shares));
}

/** Gwet's AC1 of units that any number of raters rated. Units with one rating count only for the shares of categories. */
export function gwetAC1OfUnits(units: readonly (readonly Rating[])[]): Agreement {
  const rated = units.map(countsOf).filter(({ ratings }) => ratings > 0);
  const categories = new Set(rated.flatMap(({ counts }) => [...counts.keys()]));
  const pairs = rated.filter(({ ratings }) => ratings > 1);
  const observed = sumOf(pairs.map(agreementOfUnit)) / pairs.length;
  const shares = [...categories].map(
    (category) =>
      sumOf(rated.map(({ counts, ratings }) => (counts.get(category) ?? 0) / ratings)) / rated.length,
  );
  return beyondChance(observed, gwetExpected(shares));
}

/** Krippendorff's alpha for categories, for any number of raters and missing ratings. */
export function krippendorffAlpha(units: readonly (readonly Rating[])[]): Agreement {
  const pairs = units.map(countsOf).filter(({ ratings }) => ratings > 1);
  const totals = new Map<Rating, number>();
  for (const { counts } of pairs)
    for (const [category, count] of counts) totals.set(category, (totals.get(category) ?? 0) + count);
  const ratings = sumOf([...totals.values()]);
  const observed = sumOf(pairs.map((unit) => unit.ratings * agreementOfUnit(unit))) / ratings;
  const expected =
    sumOf([...totals.values()].map((count) => count * (count - 1))) / (ratings * (ratings - 1));
  return beyondChance(observed, expected);
}

/** Krippendorff's alpha of two raters who rated every unit, from a square table of counts, which need not be whole. */
export function krippendorffAlphaOfTable(table: readonly (readonly number[])[]): Agreement {
  const units = sumOf(table.flat());
  const observed = sumOf(table.map((row, place) => row[place] ?? 0)) / units;
  const totals = table.map((row, place) => sumOf(row) + sumOf(table.map((other) => other[place] ?? 0)));
  const ratings = 2 * units;
  const expected = sumOf(totals.map((count) => count * (count - 1))) / (ratings * (ratings - 1));
  return beyondChance(observed, expected);
}

interface UnitCounts {
  counts: Map<Rating, number>;
  ratings: number;
}

function countsOf(unit: readonly Rating[]): UnitCounts {
  const counts = new Map<Rating, number>();
  for (const rating of unit) if (rating !== null) counts.set(rating, (counts.get(rating) ?? 0) + 1);
  return { counts, ratings: sumOf([...counts.values()]) };
}

/** Share of the pairs of ratings of a unit that agree. */
function agreementOfUnit({ counts, ratings }: UnitCounts): number {
  return sumOf([...counts.values()].map((count) => count * (count - 1))) / (ratings * (ratings - 1));
}

function gwetExpected(shares: readonly number[]): number {
  // With one category there is nothing to agree about by chance.
  return shares.length < 2 ? 0 : sumOf(shares.map((share) => share * (1 - share))) / (shares.length - 1);
}

function beyondChance(observed: number, expected: number): Agreement {
  const isDefined = Number.isFinite(observed) && Number.isFinite(expected) && expected < 1;
  return { value: isDefined ? (observed - expected) / (1 - expected) : null, observed, expected };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
