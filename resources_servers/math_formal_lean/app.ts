import { compilePrompt, defineResourcesServer, type ServerContext } from "nemo-gym";
import { laxBool, laxFloat, laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { EMPTY, feedbackOf } from "./feedback.ts";
import { type LeanOutput, type LeanService, leanService, readOutput } from "./lean-service.ts";
import { buildProof } from "./proof.ts";

const REFINEMENT = `Your last answer was not accepted as a proof.

<answer>
{proof_attempt}
</answer>

<compiler>
{error_message}
</compiler>

Correct the proof. Reply with the whole proof in a \`\`\`lean4 block.`;

const Config = z.object({
  sandbox_host: z.string().default("127.0.0.1"),
  sandbox_port: z.union([z.string(), z.number()]).default(6000),
  /** Seconds for one proof. */
  compilation_timeout: laxFloat().default(30),
  max_output_characters: laxInt().default(1000),
  /** Which code block of an answer counts: `first`, or the last one. */
  extract_code_mode: z.string().default("last"),
  restate_formal_statement: laxBool().default(true),
  strip_theorem_from_proof: laxBool().default(true),
  refinement_prompt_template: z.string().default(REFINEMENT),
});
type Config = z.output<typeof Config>;

/** Proofs in Lean 4, checked by the compiler. */
export const mathFormalLean = (createService: (server: ServerContext<Config>) => LeanService) =>
  defineResourcesServer({
    config: Config,
    row: z.object({ header: z.string(), formal_statement: z.string(), turn_index: laxInt().default(0) }),
    echo: ["turn_index"],
    reverifyMode: "stateless",
    start: (server) => ({
      compile: createService(server),
      prompt: compilePrompt(server.config.refinement_prompt_template, {
        source: "refinement_prompt_template",
        fields: ["proof_attempt", "error_message"],
      }),
    }),
    async verify({ config, row, response, state: { compile, prompt }, signal }) {
      const answer = outputText(response);
      const failed = (proof_status: string, attempt: string, error_feedback: string) => ({
        reward: 0,
        ...{ proof_status, needs_correction: true, error_feedback },
        correction_prompt: prompt.render({ proof_attempt: attempt, error_message: error_feedback }),
      });
      if (strip(answer) === "")
        return {
          ...failed("empty_generation", "(empty)", EMPTY),
          predicted_proof: "",
          compiler_output: null,
        };
      const predicted_proof = buildProof(answer, row, {
        mode: config.extract_code_mode,
        restate: config.restate_formal_statement,
        stripTheorem: config.strip_theorem_from_proof,
      });
      const compiler_output = readOutput(await compile(predicted_proof, config.compilation_timeout, signal));
      const status = statusOf(compiler_output);
      const about = { predicted_proof, compiler_output };
      if (status !== "completed")
        return { ...failed(status, answer, feedbackOf(status, compiler_output, predicted_proof)), ...about };
      const accepted = {
        proof_status: status,
        needs_correction: false,
        error_feedback: null,
        correction_prompt: null,
      };
      return { reward: 1, ...accepted, ...about };
    },
  });

export default mathFormalLean(({ config }) =>
  leanService(`http://${config.sandbox_host}:${config.sandbox_port}/execute`, config.max_output_characters),
);

function statusOf({ process_status, stdout, stderr }: LeanOutput): string {
  const hasGap = /\bsorry\b/i.test(`${stdout}\n${stderr}`);
  return process_status === "completed" && hasGap ? "has_sorry" : process_status;
}
