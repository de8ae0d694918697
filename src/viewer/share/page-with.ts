import { createHash } from "node:crypto";
import type { WebFiles } from "../web-files.ts";

/** The built page with its script, its styles and `data` inlined; `sources` are additional origins for scripts. */
export function pageWith(webFiles: WebFiles, data: string, sources = ""): string {
  const index = webFiles.get("/index.html")?.content.toString("utf8") ?? "";
  const file = (address: string) => webFiles.get(address.replace(/^\./, ""))?.content.toString("utf8") ?? "";
  const scripts: string[] = [];
  const page = index
    .replace(/<link[^>]*rel="icon"[^>]*>/g, "")
    .replace(
      /<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/g,
      (_, address: string) => `<style>${file(address)}</style>`,
    )
    .replace(/<script[^>]*src="([^"]+)"[^>]*><\/script>/g, (_, address: string) => {
      scripts.push(inScript(file(address)));
      return "";
    });
  const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  const policy = `default-src 'none'; script-src ${[...hashes, sources].join(" ").trim()}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const meta = `<meta http-equiv="content-security-policy" content="${policy}">`;
  const body = `${data}${scripts.map((script) => `<script type="module">${script}</script>`).join("")}`;
  // Functions as replacements, because `$&` in a script would be interpreted as a pattern.
  return page.replace("<head>", () => `<head>${meta}`).replace("</body>", () => `${body}</body>`);
}

/** `</script` inside the code would end the element. */
function inScript(code: string): string {
  return code.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
}
