import { dumps, PyFloat, PyRandom } from "nemo-gym/python";
import {
  CalculatorError,
  calculate,
  calculators,
  findCalculator,
  type ParameterName,
} from "./calculators.ts";
import { toolDeclarations } from "./tool-declarations.ts";

/** A number, or a calculator call with expressions as arguments. */
export type Expression = number | { tool: string; operands: Expression[] };

export interface TaskOptions {
  /** Expressions per task. */
  breadth: number;
  /** Maximum depth of nested calls. */
  depth: number;
}

/** Tasks with larger results are drawn again, because long numbers are hard to copy. */
const LARGEST_RESULT = 1e9;

const write: Record<string, (...operands: string[]) => string> = {
  add: (a, b) => `(${a} + ${b})`,
  subtract: (a, b) => `(${a} - ${b})`,
  multiply: (a, b) => `(${a} * ${b})`,
  divide: (a, b) => `(${a} / ${b})`,
  power: (a, b) => `(${a} ^ ${b})`,
  sin: (a) => `sin(${a})`,
  cos: (a) => `cos(${a})`,
  log: (a, base) => `log(${a}, ${base})`,
  pi: () => "pi",
  negate: (a) => `-(${a})`,
  return_constant: (a) => `${a}`,
};

/** The expression as shown in the prompt. */
function expressionText(expression: Expression): string {
  if (typeof expression === "number") return dumps(new PyFloat(expression));
  return write[expression.tool]?.(...expression.operands.map(expressionText)) ?? "";
}

/** The result of the calculators for an expression. Passes every call to `onCall`, in evaluation order. */
export function evaluate(
  expression: Expression,
  onCall?: (tool: string, args: Record<string, number>, solution: number) => void,
): number {
  if (typeof expression === "number") return expression;
  const calculator = findCalculator(expression.tool);
  if (calculator === undefined) throw new CalculatorError(`there is no calculator '${expression.tool}'`);
  const operands = expression.operands.map((operand) => evaluate(operand, onCall));
  const args = Object.fromEntries(calculator.parameters.map(([name], index) => [name, operands[index] ?? 0]));
  const solution = calculate(expression.tool, calculator, args as Record<ParameterName, number>);
  onCall?.(expression.tool, args, solution);
  return solution;
}

/** The expressions of one task; every calculator accepts its arguments. */
export function drawExpressions(random: PyRandom, { breadth, depth }: TaskOptions): Expression[] {
  return Array.from({ length: breadth }, () => {
    for (;;) {
      const expression = draw(random, random.int(1, depth));
      if (isUsable(expression)) return expression;
    }
  });
}

function draw(random: PyRandom, depth: number): Expression {
  if (depth === 0) return random.int(1, 9);
  const tool = random.choice(Object.keys(calculators));
  const count = calculators[tool]?.parameters.length ?? 0;
  // `return_constant` of an expression would appear in the text as the expression itself.
  const below = tool === "return_constant" ? 0 : depth - 1;
  return { tool, operands: Array.from({ length: count }, () => draw(random, random.int(0, below))) };
}

function isUsable(expression: Expression): boolean {
  try {
    return Math.abs(evaluate(expression)) <= LARGEST_RESULT;
  } catch (error) {
    if (error instanceof CalculatorError) return false;
    throw error;
  }
}

/** One dataset row; the same id, seed and options produce the same row. */
export function taskRow(id: number, seed: number, options: TaskOptions): Record<string, unknown> {
  const expressions = drawExpressions(new PyRandom(BigInt(seed) * 1_000_003n + BigInt(id)), options);
  const list = expressions.map((expression) => `- ${expressionText(expression)}`).join("\n");
  return {
    id,
    responses_create_params: {
      input: [
        {
          role: "user",
          content: `Work out each of these with the tools, and report what the tools answer:\n${list}`,
        },
      ],
      tools: toolDeclarations(),
      parallel_tool_calls: false,
    },
    ground_truth: dumps(expressions.map((expression) => new PyFloat(evaluate(expression)))),
    depth: options.depth,
    breadth: options.breadth,
  };
}
