/**
 * The key `config` of the injector's configuration: whether a pod gets a proxy, and from which templates.
 *
 * @module
 */
import * as z from "zod";
import type { LabelSelector } from "../config/mesh/types.ts";
import { ownKey, ownLabelValue } from "../config/spelling/spelling.ts";
import { hasFittingValues, LABEL_OPERATORS, needsValues } from "../kernel/labels/selector.ts";
import { issueLines } from "../kernel/json/issues.ts";
import type { InjectionConfig } from "./types.ts";
import { withoutNullFields } from "../kernel/json/absent.ts";

const word = z.string({ error: "a text" });
const texts = z.record(z.string(), word, { error: "an object of texts" });
const names = z.array(word, { error: "a list of names" });

const requirement = z.object({
  key: word,
  operator: z.enum(LABEL_OPERATORS, { error: "In, NotIn, Exists or DoesNotExist" }),
  values: z.array(word, { error: "a list of texts" }).nullish().transform((values) => values ?? []),
}, { error: "key, operator and values" }).check(({ value, issues }) => {
  if (hasFittingValues(value)) return;
  const { operator, values } = value;
  const message = needsValues(operator) ? `at least one value for ${operator}` : `no values for ${operator}`;
  issues.push({ code: "custom", path: ["values"], input: values, message });
});

/** Labels are compared in our spelling. */
const selector = z.object({
  matchLabels: texts.nullish().transform((labels) => inOwnSpelling(labels ?? {})),
  matchExpressions: z.array(requirement, { error: "a list of requirements" }).nullish().transform((all) => all ?? []),
}, { error: "a label selector" });

const selectors = z.array(selector, { error: "a list of label selectors" }).nullish()
  .transform((list): readonly LabelSelector[] => list ?? []);

const configSchema = z.object({
  policy: z.enum(["enabled", "disabled"], { error: "enabled or disabled" }).default("enabled"),
  defaultTemplates: names.nullish().transform((list) => list === undefined || list === null ? ["sidecar"] : list),
  templates: texts.nullish().transform((all) => all ?? {}),
  aliases: z.record(z.string(), names, { error: "lists of templates by name" }).nullish().transform((all) => all ?? {}),
  neverInjectSelector: selectors,
  alwaysInjectSelector: selectors,
  injectedAnnotations: texts.nullish().transform((all) => all ?? {}),
}, { error: "an object" });

/** A configuration, or its problems, one per line. */
export type ReadInjectionConfig = { readonly config: InjectionConfig } | { readonly problems: readonly string[] };

/** Reads a configuration from parsed YAML or JSON. `undefined` and null stand for the defaults, in each field too. */
export function readInjectionConfig(tree: unknown): ReadInjectionConfig {
  const read = configSchema.safeParse(withoutNullFields(tree ?? {}), { reportInput: true });
  if (!read.success) return { problems: issueLines(read.error.issues, "the configuration") };
  return { config: read.data };
}

function inOwnSpelling(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [ownKey(key), ownLabelValue(ownKey(key), value)]),
  );
}
