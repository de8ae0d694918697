import { defineResourcesServer, HttpError } from "nemo-gym";
import { functionCallOutputs, laxFloat, laxInt, ValidationError, zodDetail } from "nemo-gym/openai";
import { z } from "zod";
import { type Arguments, CalculatorError, calculate, findCalculator } from "./calculators.ts";
import { containsAll, parseGroundTruth } from "./ground-truth.ts";
import { toolDeclarations } from "./tool-declarations.ts";

const toolArguments = z.object({
  a: laxFloat().nullish(),
  b: laxFloat().nullish(),
  radians: laxFloat().nullish(),
  base: laxFloat().nullish(),
});

const groundTruth = z.string().transform((text, context) => {
  const values = parseGroundTruth(text);
  if (values !== undefined) return values;
  context.addIssue({ code: "custom", message: "Input should be the JSON text of a list of numbers" });
  return z.NEVER;
});

/** Calculators with misleading names: the model must report their results, not the results that the names suggest. */
export default defineResourcesServer({
  row: z.object({ ground_truth: groundTruth, id: laxInt(), depth: laxInt(), breadth: laxInt() }),
  echo: [],
  reverifyMode: "stateless",
  fallbackTool: {
    list: () =>
      toolDeclarations().map(({ name, description, parameters }) => ({
        name,
        description,
        inputSchema: parameters,
      })),
    run: ({ name, input }) => {
      const parsed = toolArguments.safeParse(input);
      if (!parsed.success) throw new ValidationError(zodDetail(parsed.error, ["body"], input));
      const calculator = findCalculator(name);
      if (calculator === undefined) throw new HttpError(404, "Function not found");
      try {
        return { solution: calculate(name, calculator, withoutNulls(parsed.data)) };
      } catch (error) {
        if (error instanceof CalculatorError) throw new HttpError(500, error.message, { cause: error });
        throw error;
      }
    },
  },
  verify: ({ row, response }) => {
    const outputs = functionCallOutputs(response).map(({ output }) => output);
    return { reward: containsAll(outputs, row.ground_truth) ? 1 : 0 };
  },
});

function withoutNulls(values: Record<string, number | null | undefined>): Arguments {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  );
}
