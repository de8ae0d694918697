/** YAML with positions. */

export { parseYamlText, readYaml } from "./read.ts";
export { writeYaml } from "./write.ts";
