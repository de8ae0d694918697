/** Converts a row of an AIME dataset (`problem` or `question`, `answer`) to a row of the benchmark. */
export function convertRow(row: Readonly<Record<string, unknown>>, number: number) {
  const question = row["problem"] ?? row["Problem"] ?? row["question"];
  const answer = String(row["answer"] ?? row["Answer"] ?? "").trim();
  if (typeof question !== "string") throw new Error(`row ${number} needs the text 'problem' or 'question'`);
  if (!/^\d{1,3}$/.test(answer))
    throw new Error(`row ${number} needs an 'answer' from 0 to 999, but has '${answer}'`);
  // Printed answers have three digits (`073`); only the number counts.
  return { question, expected_answer: String(Number(answer)) };
}

export async function* convertRows(rows: AsyncIterable<Record<string, unknown>>) {
  let number = 0;
  for await (const row of rows) yield convertRow(row, ++number);
}
