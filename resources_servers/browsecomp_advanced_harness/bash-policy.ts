import { strip } from "nemo-gym/python";

/*
 * What the model may type in its workspace. The sandbox is the border; this policy keeps the pages as they are and
 * tells the model early what it cannot do.
 */

const READERS = words(
  "grep cat head tail sed ls wc sort uniq cut tr nl strings file find diff echo printf cd",
);
const KEYWORDS = words("if then elif else fi while until do done { } ( ) ! [[ ]] time");
/** Their words are no programs. */
const HEADERS = words("for case select function esac in");
const DENIED = new Set([
  // They write.
  ...words(
    "rm rmdir mv cp dd touch mkdir mkfifo mknod ln chmod chown chgrp truncate tee install shred split csplit",
  ),
  ...words("rsync tar zip unzip gzip gunzip bzip2 xz patch ed ex vi vim nano emacs mktemp"),
  // They need privileges, or change the system.
  ...words("sudo su doas mount umount kill pkill killall reboot shutdown systemctl service crontab at"),
  ...words("apt apt-get dpkg yum dnf apk pip pip3 npm npx"),
  // They use the network.
  ...words("curl wget nc ncat netcat telnet ssh scp sftp ftp socat ping dig nslookup host"),
  // They run other programs.
  ...words(
    "python python2 python3 perl ruby node php lua tclsh awk gawk mawk bash sh zsh dash ksh fish busybox",
  ),
  ...words(
    "xargs env nohup timeout nice ionice setsid stdbuf watch exec eval source command builtin parallel script",
  ),
  ...words("export declare typeset readonly set unset alias unalias trap ulimit umask enable"),
]);
const DENIED_FORMS: readonly [RegExp, string][] = [
  [/`/, "backticks"],
  [/\$\((?!\()/, "command substitution"],
  [/[<>]\(/, "process substitution"],
  [/:\s*\(\s*\)\s*\{/, "a fork bomb"],
  [/(?:^|[;&|\n])\s*\.\s+\S/, "sourcing"],
];
const FIND_ACTIONS = /\s-(?:delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)\b/;
const SED_WRITES = /\s(?:-[a-zA-Z]*i|--in-place)/;

function words(text: string): Set<string> {
  return new Set(text.split(" "));
}

/** Why a command is not run; undefined if it is. */
export function blockedReason(keystrokes: string): string | undefined {
  return deniedReason(keystrokes) ?? unknownProgram(keystrokes);
}

/** What is never allowed. */
export function deniedReason(keystrokes: string): string | undefined {
  const text = unquoted(keystrokes);
  const form = DENIED_FORMS.find(([pattern]) => pattern.test(text));
  if (form) return form[1];
  if (/>/.test(withoutHarmless(text))) return "output redirection";
  for (const segment of segments(text)) {
    const program = programOf(segment);
    if (program === undefined) continue;
    if (DENIED.has(program)) return program;
    if (program === "find" && FIND_ACTIONS.test(segment)) return "find with an action";
    if (program === "sed" && SED_WRITES.test(segment)) return "sed that writes";
  }
  return undefined;
}

/** A program that is not one of those that read. */
export function unknownProgram(keystrokes: string): string | undefined {
  for (const segment of segments(unquoted(keystrokes))) {
    if (HEADERS.has(segment.split(/\s/, 1)[0] ?? "")) continue;
    const program = programOf(segment);
    if (program !== undefined && !READERS.has(program)) return `${program} is not an allowed program`;
  }
  return undefined;
}

function unquoted(text: string): string {
  return text.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/gs, "");
}

/** Without redirections to descriptors and to /dev/null. */
function withoutHarmless(text: string): string {
  return text.replace(/\d*>&\d/g, "").replace(/(?:\d|&)?>>?\s*\/dev\/null(?![^\s;|&])/g, "");
}

function segments(text: string): string[] {
  return withoutHarmless(text)
    .split(/[;\n|&]/)
    .map((segment) => strip(segment))
    .filter((segment) => segment !== "");
}

/** The program of a segment, without keywords and assignments before it, its path and a backslash. */
function programOf(segment: string): string | undefined {
  const tokens = segment.split(/\s+/);
  const first = tokens.find((token) => !KEYWORDS.has(token) && !/^[A-Za-z_]\w*=/.test(token));
  return first?.replace(/^\(+/, "").split("/").at(-1)?.replace(/^\\/, "") || undefined;
}
