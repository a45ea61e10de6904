/**
 * Templates that users write: texts in the field's template language that make the YAML of a part of a pod.
 *
 * @module
 */
import { z } from "zod";
import { parseYaml } from "../../config/yaml/parse.ts";
import { issueLines } from "../../kernel/json/issues.ts";
import { renderTemplate } from "../../kernel/template/render.ts";
import { TextTemplateError } from "../../kernel/template/syntax.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { INJECTION_FUNCTIONS } from "./functions.ts";
import { Marks } from "./markup.ts";
import { templateValues } from "./values.ts";

const texts = z.record(z.string(), z.coerce.string(), { error: "an object of texts" }).nullish();
const named = z.looseObject({ name: z.string({ error: "a text" }) }, { error: "an object with a name" });
const list = z.array(named, { error: "a list" }).nullish().transform((items) => items ?? []);

const partSchema = z.object({
  metadata: z.looseObject({ labels: texts, annotations: texts }).nullish(),
  spec: z.looseObject({
    containers: list,
    initContainers: list,
    volumes: list,
    imagePullSecrets: list,
  }, { error: "an object" }).nullish(),
}, { error: "an object with metadata and spec" });

/** The part that a template makes, or why it makes none, a line each. */
export function textPart(
  name: string,
  text: string,
  input: SidecarInput,
): { readonly part: PodPart } | { readonly problems: readonly string[] } {
  const at = `template ${JSON.stringify(name)}`;
  const marks = new Marks();
  let yaml: string;
  try {
    yaml = renderTemplate(text, at, templateValues(input), { functions: INJECTION_FUNCTIONS, print: marks.print });
  } catch (error) {
    if (!(error instanceof TextTemplateError)) throw error;
    return { problems: [error.message] };
  }
  const parsed = parseYaml(yaml);
  if ("problem" in parsed) {
    return { problems: [`${at}: its YAML does not parse: line ${parsed.problem.line + 1}: ${parsed.problem.reason}`] };
  }
  const read = partSchema.safeParse(marks.restored(parsed.tree) ?? {}, { reportInput: true });
  if (!read.success) return { problems: issueLines(read.error.issues, "its YAML").map((line) => `${at}: ${line}`) };
  const { metadata, spec } = read.data;
  const { containers = [], initContainers = [], volumes = [], imagePullSecrets = [], ...rest } = spec ?? {};
  const labels = metadata?.labels ?? {};
  const annotations = metadata?.annotations ?? {};
  return {
    part: { labels, annotations, containers, initContainers, volumes, imagePullSecrets, rest } as PodPart,
  };
}
