import type { ErrorTable } from "../errors.ts";

/** Codes of the errors of Python's JSON, templates and regular expressions. */
export const pythonErrorCodes = {
  JsonTextError: {
    JSON_INVALID: {
      when: "A text is not JSON.",
      fix: "Correct the text at the named position.",
    },
  },
  JsonWriteError: {
    JSON_NOT_SERIALIZABLE: {
      when: "A value has no JSON text, or is nested too deeply.",
      fix: "Leave the value out or convert it first.",
    },
  },
  ReprError: {
    PYTHON_REPR: {
      when: "A value has no Python literal.",
      fix: "Pass plain data: texts, numbers, booleans, null, lists and mappings.",
    },
  },
  RegexSyntaxError: {
    REGEX_SYNTAX: {
      when: "A regular expression is not valid in Python's syntax.",
      fix: "Correct the pattern at the named position.",
    },
  },
  RegexBudgetError: {
    REGEX_BUDGET: {
      when: "Matching a regular expression took more steps than allowed.",
      fix: "Simplify the pattern: nested repetitions are the usual cause.",
    },
  },
  TemplateError: {
    TEMPLATE_INVALID: {
      when: "A brace template is malformed.",
      fix: "Double braces that are meant literally, close the others.",
    },
  },
  TemplateFieldError: {
    TEMPLATE_FIELD_MISSING: {
      when: "A template names a field the row lacks.",
      fix: "Use one of the fields listed, or add the field to the rows.",
    },
  },
  SimilarityBudgetError: {
    SIMILARITY_BUDGET: {
      when: "Comparing two texts takes more steps than allowed.",
      fix: "Shorten the texts or raise `maxSteps`.",
    },
  },
} satisfies ErrorTable;
