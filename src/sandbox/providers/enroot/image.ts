import { existsSync } from "node:fs";

/** Names of the public registry, which the program knows by itself and not by these. */
const PUBLIC_REGISTRY = new Set(["docker.io", "index.docker.io", "registry-1.docker.io"]);

/** What an image is called: a file in the program's own format, or something to import. */
export function imageSource(image: string): { file: string } | { uri: string } {
  if (image.endsWith(".sqsh") || (!image.includes("://") && existsSync(image))) return { file: image };
  return { uri: image.includes("://") ? image : importUri(image) };
}

/** The program wants `#` between a registry and an image. */
export function importUri(image: string): string {
  const slash = image.indexOf("/");
  const first = slash === -1 ? "" : image.slice(0, slash);
  const rest = image.slice(slash + 1);
  if (PUBLIC_REGISTRY.has(first)) return `docker://${rest}`;
  const isHost = first === "localhost" || /[.:]/.test(first);
  return isHost ? `docker://${first}#${rest}` : `docker://${image}`;
}
