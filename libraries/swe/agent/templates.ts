import { Template } from "@huggingface/jinja";
import { GymError } from "nemo-gym";
import { z } from "zod";

const NAMES = [
  "system_template",
  "instance_template",
  "action_observation_template",
  "format_error_template",
  "timeout_template",
] as const;
type Name = (typeof NAMES)[number];

/** The texts for the model, as Jinja templates. */
export type TemplateTexts = Readonly<Record<Name, string>>;

/** The result of a command; a long output loses its middle. */
export const OBSERVATION = `<returncode>{{ output.returncode }}</returncode>
{% if output.output | length <= max_output -%}
<output>
{{ output.output -}}
</output>
{%- else -%}
<warning>
The output is too long. Use head, tail, grep or sed to look at a part, or write it to a file and search that.
</warning>
<output_head>
{{ output.output[:half] }}
</output_head>
<elided_chars>
{{ output.output | length - max_output }} characters left out
</elided_chars>
<output_tail>
{{ output.output[-half:] }}
</output_tail>
{%- endif -%}
{% if repeated %}
<warning>
You have run this command {{ repeated }} times in a row. Try something else.
</warning>
{%- endif -%}`;

/** The task; the rules for responses follow it. */
export const ISSUE = `Solve this issue of the repository in the current directory:

<issue>
{{ task }}
</issue>

Change the source so that the issue is solved. Leave tests and configuration files as they are.`;

/** Rules for commands, for both ways to request them. */
export const COMMAND_RULES = `- Each command runs in a shell of its own: directory and variables are not kept. Begin with \`cd\` or set variables in the command where that matters.
- Commands cannot ask for input. Edit files with sed, with a here-document or with a short script.
- Look at the code, reproduce the issue, change the source, and check that the issue is gone.`;

/** The message about a command that exceeded its time limit. */
export const timeoutText = (command: string) =>
  `${command} took longer than {{ timeout }} seconds and was ended. Its output so far:
<output>
{{ output[-max_output:] }}
</output>
Try another command, one that ends by itself and asks for no input.`;

/** The schema of a config that can replace the texts. */
export function templatesConfig(texts: TemplateTexts) {
  const text = (name: Name) => z.string().default(texts[name]);
  return z
    .strictObject({
      system_template: text("system_template"),
      instance_template: text("instance_template"),
      action_observation_template: text("action_observation_template"),
      format_error_template: text("format_error_template"),
      timeout_template: text("timeout_template"),
    })
    .prefault({});
}

/** Compiles all templates once, so that an invalid one is reported at the start. */
export class Templates {
  readonly #templates: ReadonlyMap<Name, Template>;

  constructor(texts: TemplateTexts) {
    this.#templates = new Map(NAMES.map((name) => [name, parse(name, texts[name])]));
  }

  render(name: Name, values: Record<string, unknown>): string {
    return this.#templates.get(name)?.render(values) ?? "";
  }
}

function parse(name: Name, text: string): Template {
  try {
    return new Template(text);
  } catch (error) {
    throw new GymError("PROMPT_TEMPLATE", `templates.${name} is not a Jinja template: ${error}`, {
      cause: error,
    });
  }
}
