import { shellQuote } from "../../base/door.ts";
import { type CompletionModel, type ValueSource, valueCases } from "./model.ts";

/** Completion for zsh; to be sourced after `compinit`, or saved as `_gym` in a folder of `fpath`. */
export function zshScript({ nodes, paths, valueFlags }: CompletionModel, installRoot: string): string {
  const described = (name: string, help: string) => shellQuote(`${name}:${help}`);
  const places = nodes.map((node) => {
    const words = node.words.map(({ word, help }) => described(word, help)).join(" ");
    const flags = node.flags
      .flatMap(({ names, help }) => names.map((name) => described(name, help)))
      .join(" ");
    return `    ${shellQuote(node.path)}) places=(${words}); flags=(${flags}) ;;`;
  });
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
${valueCases(nodes, valueCommand)}
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
      ${valueFlags.join("|")}) skip=1 ;;
      -*|*=*|+*|'~'*) ;;
      *) case "\${at:+$at }$word" in
        ${paths.map(shellQuote).join("|")}) at="\${at:+$at }$word" ;;
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
