/** The arguments of `vllm serve` for options in config notation: snake_case names, YAML values. */
export function serveArguments(options: Readonly<Record<string, unknown>>): string[] {
  const args: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined) continue;
    const flag = `--${name.replaceAll("_", "-")}`;
    if (value === true) args.push(flag);
    else if (value === false) args.push(flag.replace(/^--/, "--no-"));
    else if (Array.isArray(value)) args.push(flag, ...value.map(textOf));
    else args.push(flag, textOf(value));
  }
  return args;
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
