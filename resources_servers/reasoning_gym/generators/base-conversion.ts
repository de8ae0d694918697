import { defineGenerator } from "./generator.ts";

interface Conversion {
  source_repr: string;
  source_base: number;
  target_base: number;
}

/** Numbers written in another base. */
export const baseConversion = defineGenerator<Conversion>({
  task: "base_conversion",
  draw: (random, level) => {
    const [source_base, target_base] = random.sample([2, 3, 5, 8, 10, 12, 16], 2) as [number, number];
    const value = random.int(10 ** level, 10 ** (level + 2));
    const source_repr = value.toString(source_base);
    const question =
      `Convert ${source_repr} from base ${source_base} to base ${target_base}. ` +
      "Use the lower-case letters a, b, c... for digits above 9, and no prefix.";
    return { question, metadata: { source_repr, source_base, target_base } };
  },
  solve: ({ source_repr, source_base, target_base }) =>
    Number.parseInt(source_repr, source_base).toString(target_base),
});
