import { Template } from "@huggingface/jinja";
import { GymError } from "nemo-gym";
import { z } from "zod";

const SYSTEM = `You solve programming tasks in a computer's shell.

Every answer holds your reasoning and then exactly one bash block with exactly one command (join several with && or ||):

\`\`\`bash
your_command_here
\`\`\``;

const TASK = `Solve this issue of the repository in the current directory:

<issue>
{{ task }}
</issue>

Change the source so that the issue is solved. Leave tests and configuration files as they are.

- Each command runs in a shell of its own: directory and variables are not kept. Begin with \`cd\` or set variables in the command where that matters.
- Commands cannot ask for input. Edit files with sed, with a here-document or with a short script.
- Look at the code, reproduce the issue, change the source, and check that the issue is gone.

When all is done, submit your work with this command and nothing else in the block. You cannot go on afterwards:

\`\`\`bash
echo {{ submit_marker }} && git add -A && git diff --cached
\`\`\``;

const OBSERVATION = `<returncode>{{ output.returncode }}</returncode>
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

const FORMAT_ERROR = `Give exactly one action: one bash block. Your answer has {{ actions | length }}.

\`\`\`bash
your_command_here
\`\`\`

To submit your work, run \`echo {{ submit_marker }} && git add -A && git diff --cached\`.`;

const TIMEOUT = `The command <command>{{ action.action }}</command> took longer than {{ timeout }} seconds and was ended. Its output so far:
<output>
{{ output[-max_output:] }}
</output>
Try another command, one that ends by itself and asks for no input.`;

/** The texts the model gets, as Jinja templates. */
export const templatesConfig = z
  .strictObject({
    system_template: z.string().default(SYSTEM),
    instance_template: z.string().default(TASK),
    action_observation_template: z.string().default(OBSERVATION),
    format_error_template: z.string().default(FORMAT_ERROR),
    timeout_template: z.string().default(TIMEOUT),
  })
  .prefault({});

type Name = keyof z.output<typeof templatesConfig>;

/** Reads all templates once; one that is wrong is reported at the start. */
export class Templates {
  readonly #templates: ReadonlyMap<Name, Template>;

  constructor(texts: z.output<typeof templatesConfig>) {
    this.#templates = new Map(
      Object.entries(texts).map(([name, text]) => {
        try {
          return [name as Name, new Template(text)];
        } catch (error) {
          throw new GymError("PROMPT_TEMPLATE", `templates.${name} is not a Jinja template: ${error}`, {
            cause: error,
          });
        }
      }),
    );
  }

  render(name: Name, values: Record<string, unknown>): string {
    return this.#templates.get(name)?.render(values) ?? "";
  }
}
