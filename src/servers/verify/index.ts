/**
 * Helpers that verifiers of several environments share: the text of an answer, boxed answers, choices, verdicts of judges, and
 * Python's CSV and YAML.
 *
 * @module
 */

export { setMember } from "../../base/python/json/door.ts";
export {
  csvRecords,
  entriesOf,
  FormatError,
  hasKey,
  isMapping,
  type Mapping,
  mappingOf,
  memberAt,
  OpaqueValue,
  parseCsv,
  parseYamlValue,
  sizeOf,
} from "../../config/formats/door.ts";
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
  onlyLabel,
  statedGrade,
} from "../definitions/judge/judge-verdict.ts";
export { type RetryJudgeOptions, retryJudge } from "../definitions/judge/retry.ts";
export {
  lastPartOfLastMessage,
  lastTextMessage,
  lastUserText,
  stripThinking,
  stripThinkPairs,
} from "../definitions/response-text.ts";
export { lastBoxed, lastClosedBoxed, unwrapText } from "./boxed.ts";
export {
  AmbiguousPatternError,
  type ChoiceOptions,
  choiceByPatterns,
  comparableOptions,
  comparableText,
  isSingleLetter,
  latinLetters,
  letterOfText,
  offeredLetters,
} from "./multiple-choice.ts";
