import { type CompletionNode, type FlagCompletion, shellQuote, type ValueSource } from "./model.ts";

/** Completion for zsh; to be sourced after `compinit`, or saved as `_gym` in a folder of `fpath`. */
export function zshScript(nodes: readonly CompletionNode[], installRoot: string): string {
  const places = nodes.map((node) => {
    const words = node.words.map(({ word, help }) => shellQuote(`${word}:${help}`)).join(" ");
    const flags = node.flags.flatMap(described).join(" ");
    return `    ${shellQuote(node.path)}) places=(${words}); flags=(${flags}) ;;`;
  });
  const values = nodes.flatMap((node) =>
    node.flags
      .filter(({ value }) => value.kind !== "none")
      .map((flag) => {
        const keys = spellings(flag).map((name) => shellQuote(`${node.path}:${name}`));
        return `    ${keys.join("|")}) ${valueCommand(flag.value)} ;;`;
      }),
  );
  // The empty flag name holds the values of positional words.
  const wordValues = nodes.flatMap(({ path, argument }) =>
    argument === undefined ? [] : [`    ${shellQuote(`${path}:`)}) ${valueCommand(argument)} ;;`],
  );
  const valueFlags = new Set(
    nodes.flatMap(({ flags }) => flags.filter(({ value }) => value.kind !== "none").flatMap(spellings)),
  );
  const known = nodes.map(({ path }) => path).filter((path) => path !== "");
  return `#compdef gym ng
# zsh completion for gym
_gym_components() {
  local root directory
  local -a roots
  local -aU found
  roots=(\${(s.:.)NEMO_GYM_EXTRA_ROOTS} $PWD ${shellQuote(installRoot)})
  for root in $roots; do
    for directory in "$@"; do found+=("$root/$directory"/*(N/:t)); done
  done
  compadd -a found
}

_gym_values() {
  case "$1" in
${[...values, ...wordValues].join("\n")}
    *) return 1 ;;
  esac
  return 0
}

_gym() {
  local at='' word skip=0 index previous=\${words[CURRENT-1]}
  local -a places flags
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    if [[ $skip = 1 ]]; then skip=0; continue; fi
    case "$word" in
      ${[...valueFlags].join("|") || "''"}) skip=1 ;;
      -*|*=*|+*|'~'*) ;;
      *) case "\${at:+$at }$word" in
        ${known.map(shellQuote).join("|")}) at="\${at:+$at }$word" ;;
      esac ;;
    esac
  done
  if [[ "\${words[CURRENT]}" == --*=* ]] && compset -P '*='; then
    _gym_values "$at:\${\${words[CURRENT]}%%=*}"
    return
  fi
  _gym_values "$at:$previous" && return
  case "$at" in
${places.join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe -o flag flags; elif ! _gym_values "$at:"; then _describe command places; fi
}

compdef _gym gym ng`;
}

function spellings({ long, short }: FlagCompletion): string[] {
  return short === undefined ? [long] : [long, short];
}

function described(flag: FlagCompletion): string[] {
  return spellings(flag).map((name) => shellQuote(`${name}:${flag.help}`));
}

function valueCommand(value: ValueSource): string {
  switch (value.kind) {
    case "choices":
      return `compadd ${value.choices.map(shellQuote).join(" ")}`;
    case "components":
      return `_gym_components ${value.directories.join(" ")}`;
    case "file":
      return "_files";
    case "directory":
      return "_files -/";
    default:
      return ":";
  }
}
