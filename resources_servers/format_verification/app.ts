import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { checkLines, checkMarkers } from "./check-format.ts";
import { Row } from "./row.ts";

/** Formatting that patterns can check: bullets, headings, tables, citation markers. */
export default defineResourcesServer({
  row: Row,
  reverifyMode: "stateless",
  verify({ row: { verifier }, response }) {
    const text = outputText(response);
    const { passed, details } =
      verifier.type === "string_match" ? checkMarkers(text, verifier) : checkLines(text, verifier);
    return { reward: passed ? 1 : 0, match_details: details };
  },
});
