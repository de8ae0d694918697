/** A table of texts. */
export interface Table {
  columns: string[];
  rows: string[][];
}

export interface Pair {
  response: string;
  target: string;
}

/** A cell that does not exist. */
export const NO_MATCH = "nan";

const ZEROS = {
  score: 0,
  precision_by_row: 0,
  recall_by_row: 0,
  f1_by_row: 0,
  precision_by_item: 0,
  recall_by_item: 0,
  f1_by_item: 0,
};

/** The result of an answer whose table cannot be compared. */
export const unreadable = (message: string) => ({ reward: 0, ...ZEROS, evaluation_message: message });

/** Compares the rows with the same keys, column by column. */
export async function compareTables(
  given: Table,
  gold: Table,
  { required, keys }: { required: readonly string[]; keys: readonly string[] },
  scoreColumn: (name: string, pairs: readonly Pair[]) => Promise<number[]>,
) {
  const [answers, wanted] = [byKey(given, keys), byKey(gold, keys)];
  const matched = [...answers].flatMap(([key, row]) => {
    const target = wanted.get(key);
    return target ? [{ row, target }] : [];
  });
  const rowScores = matched.map(() => 1);
  let items = 0;
  for (const name of required) {
    const pairs = matched.map(({ row, target }) => ({
      response: row.get(name) ?? NO_MATCH,
      target: target.get(name) ?? NO_MATCH,
    }));
    const scores = keys.includes(name) ? pairs.map(() => 1) : await scoreColumn(name, pairs);
    for (const [index, score] of scores.entries()) {
      items += score;
      rowScores[index] = Math.min(rowScores[index] ?? 0, score);
    }
  }
  const right = rowScores.reduce((sum, score) => sum + score, 0);
  const byRow = rates(right, answers.size, wanted.size);
  const byItem = rates(items, answers.size * required.length, wanted.size * required.length);
  const isPerfect = [...byRow, ...byItem].every((value) => value === 1);
  const [precision_by_row, recall_by_row, f1_by_row] = byRow;
  const [precision_by_item, recall_by_item, f1_by_item] = byItem;
  return {
    reward: isPerfect,
    score: Number(isPerfect),
    ...{ precision_by_row, recall_by_row, f1_by_row, precision_by_item, recall_by_item, f1_by_item },
    evaluation_message: isPerfect
      ? "All items match perfectly."
      : "Table is incomplete or contains mismatches.",
  };
}

/** The rows by their keys; of rows with the same keys the first stays. */
function byKey({ columns, rows }: Table, keys: readonly string[]): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const cells of rows) {
    const row = new Map(columns.map((name, index) => [name, cells[index] ?? NO_MATCH]));
    const key = JSON.stringify(keys.map((name) => row.get(name)));
    if (!found.has(key)) found.set(key, row);
  }
  return found;
}

/** Precision, recall and F1. */
function rates(right: number, given: number, wanted: number): [number, number, number] {
  const precision = given > 0 ? right / given : 0;
  const recall = wanted > 0 ? right / wanted : 0;
  const sum = precision + recall;
  return [precision, recall, sum > 0 ? (2 * precision * recall) / sum : 0];
}
