import { shellQuote } from "../../base/door.ts";
import { type CompletionModel, type ValueSource, valueCases } from "./model.ts";

/** Completion for bash 4 and newer; works without the bash-completion package. */
export function bashScript({ nodes, paths, valueFlags }: CompletionModel, installRoot: string): string {
  const places = nodes.map((node) => {
    const words = node.words.map(({ word }) => word).join(" ");
    const flags = node.flags.flatMap(({ names }) => names).join(" ");
    return `    ${shellQuote(node.path)}) words=${shellQuote(words)}; flags=${shellQuote(flags)} ;;`;
  });
  return `# bash completion for gym
_gym_components() {
  local root entry directory roots=":\${NEMO_GYM_EXTRA_ROOTS:-}:$PWD:"${shellQuote(installRoot)}
  local IFS=:
  for root in $roots; do
    [ -n "$root" ] || continue
    for directory in "$@"; do
      for entry in "$root/$directory"/*/; do
        [ -d "$entry" ] && entry=\${entry%/} && printf '%s\\n' "\${entry##*/}"
      done
    done
  done | sort -u
}

_gym_values() {
  case "$1" in
${valueCases(nodes, valueCommand)}
    *) return 1 ;;
  esac
}

_gym_complete() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word words flags index skip=0
  # bash splits --flag=value at the sign
  if [ "$cur" = = ]; then cur=''; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [ "$skip" = 1 ] && [ "$word" != = ]; then skip=0; continue; fi
    case "$word" in
      ${valueFlags.join("|")}) skip=1 ;;
      -*|*=*|+*|'~'*) ;;
      *) case "\${path:+$path }$word" in
        ${paths.map(shellQuote).join("|")}) path="\${path:+$path }$word" ;;
      esac ;;
    esac
  done
  COMPREPLY=()
  _gym_values "$path:$prev" && return
  case "$path" in
${places.join("\n")}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) _gym_values "$path:" || COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}

complete -F _gym_complete gym ng`;
}

function valueCommand(value: ValueSource): string {
  switch (value.kind) {
    case "choices":
      return `COMPREPLY=($(compgen -W ${shellQuote(value.choices.join(" "))} -- "$cur"))`;
    case "components":
      return `COMPREPLY=($(compgen -W "$(_gym_components ${value.directories.join(" ")})" -- "$cur"))`;
    case "file":
      return `compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur"))`;
    case "directory":
      return `compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur"))`;
    default:
      return "COMPREPLY=()";
  }
}
