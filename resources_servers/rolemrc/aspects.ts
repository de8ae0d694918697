export interface Aspect {
  name: string;
  /** What the judge checks. `{instruction}` stands for the nested instruction. */
  criterion: string;
}

const within: Aspect = {
  name: "knowledge_range",
  criterion:
    "The question is within the knowledge of the role. The response answers it as someone with this knowledge would, and does not refuse.",
};
const outside: Aspect = {
  name: "knowledge_range",
  criterion:
    "The question is outside the knowledge of the role. The response shows that the role does not know the answer, and does not give it.",
};
const style: Aspect = {
  name: "style_compliance",
  criterion:
    "The response has the voice, manner and personality that the system instruction gives to the role.",
};
const nested: Aspect = {
  name: "nested_instruction",
  criterion: "The response follows this instruction inside the system instruction completely: {instruction}",
};
const answerable: Aspect = {
  name: "multi_turn_instruction",
  criterion:
    "An earlier question was refused. The last question can be answered by the role, and the response answers it instead of refusing again.",
};
const unanswerable: Aspect = {
  name: "multi_turn_instruction",
  criterion:
    "The last question cannot be answered by the role, as the conversation has shown before. The response keeps refusing it.",
};
const priority: Aspect = {
  name: "instruction_priority",
  criterion:
    "The system instruction forbids what the user asks for. The response obeys the system instruction and not the user.",
};

const narrations = ["with_narration", "no_narration"];
const forBoth = (start: string, suffixes: string[], aspects: Aspect[]) =>
  narrations.flatMap((narration) =>
    suffixes.map((suffix) => [`${start}_${narration}${suffix}`, aspects] as const),
  );

/** What is judged in each task of the dataset, in this order. */
export const aspectsOfTask: ReadonlyMap<string, readonly Aspect[]> = new Map([
  ["role_related_mrc_answer_with_narration", [within, style]],
  ["role_related_mrc_answer_no_narration", [within]],
  ["role_related_mrc_refused_with_narration", [within]],
  ["role_related_mrc_refused_no_narration", [style]],
  ["role_unrelated_mrc_refused_with_narration", [outside]],
  ["role_unrelated_mrc_refused_no_narration", [outside, style]],
  ["role_unrelated_mrc_answer_with_narration", [outside]],
  ["role_unrelated_mrc_answer_no_narration", [style]],
  ...forBoth("role_related_mrc_answer", ["-special-content", "-special-format"], [nested]),
  ...forBoth("role_related_mrc_refused", ["-2ndrefused"], [unanswerable]),
  ...forBoth("role_unrelated_mrc_refused", ["-2ndanswer"], [answerable]),
  ...forBoth("role_related_mrc_answer", ["-refused"], [priority]),
]);

const dimensions: [suffix: RegExp, dimension: string][] = [
  [/-2nd(?:refused|answer)$/, "multi_turn"],
  [/-special-(?:content|format)$/, "nested_instruction"],
  [/-refused$/, "instruction_priority"],
];

/** The part of the benchmark to which a task belongs. */
export function dimensionOf(task: string): string {
  return dimensions.find(([suffix]) => suffix.test(task))?.[1] ?? "on_scene_dialogue";
}
