import { shellQuote } from "../../base/door.ts";
import type { CompletionModel, FlagCompletion, ValueSource } from "./model.ts";

/** Completion for fish; to be sourced or saved in `~/.config/fish/completions`. */
export function fishScript({ nodes, paths, valueFlags }: CompletionModel, installRoot: string): string {
  const lines = nodes.flatMap((node) => {
    const options = [
      ...node.words.map(({ word, help }) => `-a ${shellQuote(word)} -d ${shellQuote(help)}`),
      ...(node.argument ? [valueOptions(node.argument)] : []),
      ...node.flags.map(flagOptions),
    ];
    const condition = shellQuote(`__gym_at "${node.path}"`);
    return options.map((words) => `    complete -c $program -n ${condition} ${words}`);
  });
  return `# fish completion for gym
function __gym_at
    set -l at ""
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${valueFlags.join(" ")}
                set skip 1
            case '-*' '*=*' '+*' '~*'
            case '*'
                set -l longer (string trim "$at $word")
                contains -- $longer ${paths.map(shellQuote).join(" ")}; and set at $longer
        end
    end
    test "$at" = "$argv[1]"
end

function __gym_components
    set -l roots (string split : -- "$NEMO_GYM_EXTRA_ROOTS") $PWD ${shellQuote(installRoot)}
    for root in $roots
        test -n "$root"; or continue
        for directory in $argv
            test -d "$root/$directory"; or continue
            for entry in $root/$directory/*/
                basename $entry
            end
        end
    end | sort -u
end

for program in gym ng
    complete -c $program -f
${lines.join("\n")}
end`;
}

function flagOptions({ names: [long = "", short], help, value }: FlagCompletion): string {
  const letter = short && `-s ${short.slice(1)}`;
  const parts = [`-l ${long.slice(2)}`, letter, valueOptions(value), `-d ${shellQuote(help)}`];
  return parts.filter(Boolean).join(" ");
}

function valueOptions(value: ValueSource): string {
  switch (value.kind) {
    case "none":
      return "";
    case "choices":
      return `-x -a ${shellQuote(value.choices.join(" "))}`;
    case "components":
      return `-x -a ${shellQuote(`(__gym_components ${value.directories.join(" ")})`)}`;
    case "file":
      return "-r -F";
    case "directory":
      return "-x -a '(__fish_complete_directories)'";
    case "text":
      return "-x";
  }
}
