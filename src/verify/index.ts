/**
 * Helpers that verifiers of several environments share: the text of an answer, boxed answers, choices, verdicts of judges, and
 * Python's CSV and YAML.
 *
 * @module
 */
export {
  Judge,
  type JudgeMessage,
  type JudgeReply,
  judgeErrorStatus,
  requireJudgeText,
} from "../definitions/judge/judge.ts";
export {
  allLabels,
  firstLabel,
  jsonVerdict,
  lastLabel,
  letterGrade,
} from "../definitions/judge/judge-verdict.ts";
export {
  lastPartOfLastMessage,
  lastTextMessage,
  lastUserText,
  stripThinking,
  stripThinkPairs,
} from "../definitions/response-text.ts";
export { setMember } from "../python/json/json-object.ts";
export * from "./boxed.ts";
export { parseCsv } from "./csv.ts";
export { FormatError } from "./errors.ts";
export {
  entriesOf,
  hasKey,
  isMapping,
  type Mapping,
  mappingOf,
  memberAt,
  OpaqueValue,
  sizeOf,
} from "./mapping.ts";
export * from "./multiple-choice.ts";
export { parseYamlValue } from "./yaml.ts";
