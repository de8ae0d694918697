import { createHash } from "node:crypto";

/**
 * Wrong answers of the published test set, with the correct ones. Problems are identified by the SHA-256 of their text, so that
 * their text is not repeated here.
 */
const CORRECTIONS: Readonly<Record<string, string>> = {
  "4062372e21d990434f09a943253a40a3f2bb61531f2ed467472bdb1bd75e9f7b": "10750",
  "445d153492ea042026b8627cc1d91d2562db3147e09fb62aab01e08a4c250913": "10",
  e9a757e9375878bed295d962a783cdf6d0edd3fe177346ff0cbdee38d1d6a2e0: "2740",
  b7632ee41494461c5f941960b9fbc31bb775277caa1f8f17240f7e8d76b07dc6: "15",
  "549d4ecc6508ca0101d0510b9247a6481f97613933e9002a5d0cf0829055227d": "19200",
  "8c3672013cff1d105fa270f7a5c48159adeaf2a155a5b54710764b52c80a2f38": "64",
  ac6cadd41416c9416aeb42be4ece9ba778715bdc7503f6fddd6d31b16c1c3077: "108",
  "18d0c8784a9a73c9879e58785f82742ab468fc48eacc1aaf078d9e43de208a61": "531000",
  d7f6e3a7def173ea88376d0c1ca7a0cf0d862babc8d701a776484a5ae9a62ee5: "6",
  c7ca4f35d37d1139bcb8034fe779503b0a40bd810d9c127eef4ce1a06e61cc4a: "13",
  "6e7a1645b42e32b9053d424950013c8e5d630b471e215837ef93cce39c0d568c": "07:30",
};

/** The separator between the solution and the answer. */
const MARK = "####";

/** Converts a row of GSM8K (`question`, `answer` with the solution and `#### 18`) to a row of the benchmark. */
export function convertRow({ question, answer }: Readonly<Record<string, unknown>>, number: number) {
  if (typeof question !== "string" || typeof answer !== "string") {
    throw new Error(`row ${number} needs the texts 'question' and 'answer', as GSM8K has them`);
  }
  const [solution = "", given] = answer.split(MARK);
  const expected = CORRECTIONS[digest(question)] ?? given?.replaceAll(",", "").trim();
  if (expected === undefined || expected === "")
    throw new Error(`row ${number} has no '${MARK}' with an answer behind it`);
  return {
    question,
    expected_answer: expected,
    // Calculator annotations are for models that were trained to write them.
    reference_solution: solution.replace(/<<[^<>]*>>/g, "").trimEnd(),
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
