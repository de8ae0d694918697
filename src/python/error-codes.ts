import type { ErrorCodeRow } from "../errors.ts";

/** Codes of texts, templates and expressions read as Python reads them. */
export const pythonErrorCodes = [
  {
    code: "JSON_INVALID",
    class: "JsonTextError",
    when: "A text is not JSON.",
    fix: "Correct the text at the position named.",
  },
  {
    code: "JSON_NOT_SERIALIZABLE",
    class: "JsonWriteError",
    when: "A value has no JSON text, or is nested too deeply.",
    fix: "Leave the value out or convert it first.",
  },
  {
    code: "PYTHON_REPR",
    class: "ReprError",
    when: "A value has no Python literal.",
    fix: "Pass plain data: texts, numbers, booleans, null, lists and mappings.",
  },
  {
    code: "REGEX_SYNTAX",
    class: "RegexSyntaxError",
    when: "A regular expression is not valid in Python's syntax.",
    fix: "Correct the pattern at the position named.",
  },
  {
    code: "REGEX_BUDGET",
    class: "RegexBudgetError",
    when: "Matching a regular expression took more steps than allowed.",
    fix: "Simplify the pattern: nested repetitions are the usual cause.",
  },
  {
    code: "TEMPLATE_INVALID",
    class: "TemplateError",
    when: "A brace template is malformed.",
    fix: "Double braces that are meant literally, close the others.",
  },
  {
    code: "TEMPLATE_FIELD_MISSING",
    class: "TemplateFieldError",
    when: "A template names a field the row lacks.",
    fix: "Use one of the fields listed, or add the field to the rows.",
  },
  {
    code: "SIMILARITY_BUDGET",
    class: "SimilarityBudgetError",
    when: "Comparing two texts takes more steps than allowed.",
    fix: "Shorten the texts or raise `maxSteps`.",
  },
] as const satisfies readonly ErrorCodeRow[];
