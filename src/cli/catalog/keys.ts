import { type KeyTable, text } from "../config-keys.ts";

/** Config keys that `gym list` and `gym search` share. */
export const commonKeys = {
  component_name: { type: "str", help: "the component to show" },
  query: { type: "str", help: "words to look for" },
} as const satisfies KeyTable;

const KINDS = ["environment", "benchmark"] as const;
const STATUSES = ["experimental", "no-manifest"] as const;
const LIFECYCLES = ["active", "deprecated"] as const;

/** The filters of `gym list environments`, in the order in which they are applied. */
export const filterKeys = {
  domain: text({ metavar: "DOMAIN" }, "only this domain"),
  catalog_kind: { ...text({ name: "kind" }, "only this kind"), choices: KINDS },
  modality: text({ metavar: "MODALITY" }, "only this modality"),
  licensing: text({ metavar: "LICENSE" }, "only this licence"),
  status: { ...text({}, "with a manifest (experimental) or without"), choices: STATUSES },
  lifecycle: { ...text({}, "only this lifecycle"), choices: LIFECYCLES },
} as const satisfies KeyTable;
