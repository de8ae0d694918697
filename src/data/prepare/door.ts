/** Conditions on rows, which load the parser of Jinja. */

export { compileRowCondition } from "./row-condition.ts";
