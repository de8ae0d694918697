/**
 * Helpers that verifiers of several environments share: the text of an answer, boxed answers, choices, verdicts of judges, and
 * Python's CSV and YAML.
 *
 * @module
 */

export { setMember } from "../../base/python/json/json-object.ts";
export { csvRecords, parseCsv } from "../../config/formats/csv.ts";
export { FormatError } from "../../config/formats/errors.ts";
export {
  entriesOf,
  hasKey,
  isMapping,
  type Mapping,
  mappingOf,
  memberAt,
  OpaqueValue,
  sizeOf,
} from "../../config/formats/mapping.ts";
export { parseYamlValue } from "../../config/formats/yaml.ts";
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
export { type RetryJudgeOptions, retryJudge } from "../definitions/judge/retry.ts";
export {
  lastPartOfLastMessage,
  lastTextMessage,
  lastUserText,
  stripThinking,
  stripThinkPairs,
} from "../definitions/response-text.ts";
export * from "./boxed.ts";
export * from "./multiple-choice.ts";
