/** A glob of `*`, `?`, `[…]`, `{a,b}` and `**` over slash-separated paths, as a regular expression. */
export function globPattern(glob: string): RegExp {
  let source = "";
  let braces = 0;
  for (let index = 0; index < glob.length; index++) {
    const character = glob[index] ?? "";
    if (character === "*" && glob[index + 1] === "*") {
      const slash = glob[index + 2] === "/";
      source += slash ? "(?:.*/)?" : ".*";
      index += slash ? 2 : 1;
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[" && glob.indexOf("]", index + 2) !== -1) {
      const end = glob.indexOf("]", index + 2);
      source += `[${glob
        .slice(index + 1, end)
        .replace(/^!/, "^")
        .replaceAll("\\", "\\\\")}]`;
      index = end;
    } else if (character === "{") {
      braces++;
      source += "(?:";
    } else if (character === "}" && braces > 0) {
      braces--;
      source += ")";
    } else if (character === "," && braces > 0) source += "|";
    else source += character.replace(/[.+^$()|\\{}[\]]/, "\\$&");
  }
  return new RegExp(`^${source}${")".repeat(braces)}$`, "u");
}
