/** Converts a row of IFEval (`prompt`, `instruction_id_list`, `kwargs`) to a row of the benchmark. */
export function convertRow(row: Readonly<Record<string, unknown>>, index: number) {
  const { prompt, instruction_id_list: instructions, kwargs } = row;
  if (typeof prompt !== "string" || !Array.isArray(instructions) || !Array.isArray(kwargs)) {
    throw new Error(
      `row ${index + 1} needs 'prompt', 'instruction_id_list' and 'kwargs', as IFEval has them`,
    );
  }
  if (instructions.length !== kwargs.length) {
    throw new Error(`row ${index + 1} has ${instructions.length} instructions, but ${kwargs.length} kwargs`);
  }
  return {
    id: index,
    responses_create_params: {
      input: [{ role: "user", content: prompt }],
      tools: [],
      parallel_tool_calls: false,
    },
    verifier_metadata: {
      prompt,
      instruction_id_list: instructions,
      kwargs: kwargs.map(withoutNulls),
      grading_mode: "binary",
    },
  };
}

/** In tables every row has the arguments of all instructions; those that do not apply are null. */
function withoutNulls(given: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries((given ?? {}) as object).filter(([, value]) => value !== null));
}
