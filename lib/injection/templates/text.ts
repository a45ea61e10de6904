/**
 * Templates of users: texts in the template language of Istio's injector. A template makes the YAML of a part of a pod.
 *
 * @module
 */
import * as z from "zod";
import { parseYaml } from "../../config/yaml/parse.ts";
import { issueLines } from "../../kernel/json/issues.ts";
import { parseTemplate } from "../../kernel/template/parse.ts";
import { renderNodes } from "../../kernel/template/render.ts";
import { type TemplateNode, TextTemplateError } from "../../kernel/template/syntax.ts";
import { podContainer } from "../pod.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { injectionFunctions } from "./functions.ts";
import { Marks } from "./markup.ts";
import { templateValues } from "./values.ts";

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: "a text" }).nullable()
  .transform((value) => String(value ?? ""));
const texts = z.record(z.string(), scalar, { error: "an object of texts" }).nullish();
const named = z.looseObject({ name: z.string({ error: "a text" }) }, { error: "an object with a name" });
const listOf = <T extends z.ZodType>(item: T) =>
  z.array(item, { error: "a list" }).nullish().transform((items) => items ?? []);

const partSchema = z.object({
  // A template cannot set other metadata of a pod, so other metadata are refused instead of lost.
  metadata: z.strictObject({ labels: texts, annotations: texts }, { error: "only labels and annotations" }).nullish(),
  spec: z.looseObject({
    containers: listOf(podContainer),
    initContainers: listOf(podContainer),
    volumes: listOf(named),
    imagePullSecrets: listOf(named),
  }, { error: "an object" }).nullish(),
}, { error: "an object with metadata and spec" });

/** Parsed templates by their configuration. A template is parsed once for all pods. */
const PARSED = new WeakMap<object, Map<string, readonly TemplateNode[]>>();

function parsedOnce(text: string, at: string, { settings: { config } }: SidecarInput): readonly TemplateNode[] {
  const ofConfig = PARSED.getOrInsertComputed(config, () => new Map());
  return ofConfig.getOrInsertComputed(text, () => parseTemplate(text, at));
}

/** The part from a template, or the problems of the template, one per line. */
export function textPart(
  name: string,
  text: string,
  input: SidecarInput,
): { readonly part: PodPart } | { readonly problems: readonly string[] } {
  const at = `template ${JSON.stringify(name)}`;
  const marks = new Marks();
  let yaml: string;
  try {
    yaml = renderNodes(parsedOnce(text, at, input), at, templateValues(input), {
      functions: injectionFunctions(marks),
      print: marks.print,
    });
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
