/**
 * What strict mode reads differently from math-verify: degrees and the imaginary unit.
 *
 * @module
 */
import { constant, integer, inverse, type Node, productOf, some } from "../expression/node.ts";
import { rewrite } from "../expression/substitute.ts";

const TRIGONOMETRIC: ReadonlySet<string> = new Set(["sin", "cos", "tan", "cot", "sec", "csc"]);

/**
 * The ways an answer can be meant: `45^\circ` is the number 45, where the question asks for degrees, or the angle pi/4. Below a
 * trigonometric function it is the angle.
 */
export function strictReadings(node: Node): Node[] {
  const plain = withImaginaryUnit(node);
  if (!some(plain, isDegrees)) return [plain];
  const angles = rewrite(plain, (part) => (isTrigonometric(part) ? rewrite(part, asAngle) : part));
  return [
    rewrite(angles, (part) => (isDegrees(part) ? (part.args[0] as Node) : part)),
    rewrite(angles, asAngle),
  ];
}

const isDegrees = (part: Node): part is Extract<Node, { kind: "call" }> =>
  part.kind === "call" && part.name === "degrees";
const isTrigonometric = (part: Node) => part.kind === "call" && TRIGONOMETRIC.has(part.name);

function asAngle(part: Node): Node {
  return isDegrees(part) ? productOf([...part.args, constant("pi"), inverse(integer(180))]) : part;
}

/** The symbol `i` is the imaginary unit, unless a sum counts with it. */
function withImaginaryUnit(node: Node): Node {
  if (some(node, (part) => part.kind === "bound" && part.variable.name === "i")) return node;
  return rewrite(node, (part) => (part.kind === "symbol" && part.name === "i" ? constant("i") : part));
}
