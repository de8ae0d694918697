import { isTruthy } from "../../base/python/door.ts";
import { compileExpression, type Scope } from "./expression.ts";
import { prepareFunctions } from "./functions.ts";

/** A condition on the fields of a row, with the functions of prepare.yaml. */
export function compileRowCondition(text: string): (scope: Scope) => boolean {
  const evaluate = compileExpression(
    text,
    prepareFunctions({ random: undefined, env: {}, tokenizer: noTokenizer }),
  );
  return (scope) => isTruthy(evaluate(scope));
}

function noTokenizer(name: string): never {
  throw new Error(`the tokenizer '${name}' is not available here`);
}
