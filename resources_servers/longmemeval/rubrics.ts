const CONTAINS =
  "Yes if the response contains the reference answer, says the same in other words, or shows all steps that lead to it. No if it contains only a part of it.";

/** What decides, by the type of the question. */
const rubrics: Readonly<Record<string, string>> = {
  "single-session-user": CONTAINS,
  "single-session-assistant": CONTAINS,
  "multi-session": CONTAINS,
  "temporal-reasoning": `${CONTAINS} Numbers of days, weeks or months may be off by one.`,
  "knowledge-update":
    "The user has corrected an earlier statement. Yes if the response gives the newest state, which is the reference answer. It may mention the earlier one too.",
  "single-session-preference":
    "The reference answer describes what a response that suits this user takes into account. Yes if the response recalls and uses what the user has said about themselves. It need not cover every point.",
};

const ABSTENTION =
  "The history does not answer the question; the reference answer says why. Yes if the response recognises that the question cannot be answered, for example because something was never mentioned. No if it makes up an answer.";

/** The rule for a question; undefined if its type is not known. */
export function rubricFor(question: {
  question_id: string;
  question_type: string;
  abstention: boolean;
}): string | undefined {
  if (question.abstention || question.question_id.includes("_abs")) return ABSTENTION;
  return Object.hasOwn(rubrics, question.question_type) ? rubrics[question.question_type] : undefined;
}
