/** The field of each subject, as grouped by the authors of MMLU. */
const SUBJECTS_BY_FIELD = {
  biology: ["college_biology", "high_school_biology"],
  business: ["business_ethics", "management", "marketing"],
  chemistry: ["college_chemistry", "high_school_chemistry"],
  "computer science": [
    "college_computer_science",
    "computer_security",
    "high_school_computer_science",
    "machine_learning",
  ],
  culture: ["human_sexuality", "sociology"],
  economics: ["econometrics", "high_school_macroeconomics", "high_school_microeconomics"],
  engineering: ["electrical_engineering"],
  geography: ["high_school_geography"],
  health: [
    "anatomy",
    "clinical_knowledge",
    "college_medicine",
    "human_aging",
    "medical_genetics",
    "nutrition",
    "professional_medicine",
    "virology",
  ],
  history: [
    "high_school_european_history",
    "high_school_us_history",
    "high_school_world_history",
    "prehistory",
  ],
  law: ["international_law", "jurisprudence", "professional_law"],
  math: [
    "abstract_algebra",
    "college_mathematics",
    "elementary_mathematics",
    "high_school_mathematics",
    "high_school_statistics",
  ],
  other: ["global_facts", "miscellaneous", "professional_accounting"],
  philosophy: [
    "formal_logic",
    "logical_fallacies",
    "moral_disputes",
    "moral_scenarios",
    "philosophy",
    "world_religions",
  ],
  physics: ["astronomy", "college_physics", "conceptual_physics", "high_school_physics"],
  politics: [
    "high_school_government_and_politics",
    "public_relations",
    "security_studies",
    "us_foreign_policy",
  ],
  psychology: ["high_school_psychology", "professional_psychology"],
} as const;

const FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries(SUBJECTS_BY_FIELD).flatMap(([field, subjects]) =>
    subjects.map((subject) => [subject, field]),
  ),
);

/** The field of a subject; undefined if MMLU has no such subject. */
export function fieldOf(subject: string): string | undefined {
  return FIELDS.get(subject);
}

export const SUBJECTS: readonly string[] = [...FIELDS.keys()].sort();
