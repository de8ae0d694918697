import { spawn } from "node:child_process";
import { errorMessage } from "../base/errors.ts";

/** The program that opens an address in the default browser, without a shell. */
function openerOf(platform: NodeJS.Platform): [program: string, ...words: string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an address in the default browser. `onFailure` receives the reason of a failure. */
export function openBrowser(url: string, onFailure: (reason: string) => void): void {
  const [program, ...words] = openerOf(process.platform);
  // Detached, so that Ctrl-C does not end the browser.
  const child = spawn(program, [...words, url], { stdio: "ignore", detached: true });
  child.once("error", (error) => onFailure(errorMessage(error)));
  child.once("exit", (code, signal) => {
    if (code !== 0) onFailure(`${program} ended with ${signal ?? `code ${code}`}`);
  });
  child.unref();
}
