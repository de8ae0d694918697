import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = { ignore: ["extracted_answer"] };
