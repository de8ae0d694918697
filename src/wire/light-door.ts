/** The members that results of a verifier share, without Node's modules, for the viewer's page. */

export {
  addJudgeCalls,
  emptyJudgeTally,
  type JudgeCalls,
  type JudgeTally,
  maskMembers,
  type ToolExceptions,
} from "./result-members.ts";
