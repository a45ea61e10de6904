/**
 * The injector's configuration with checked templates: a template that would fail for every pod is refused with the
 * configuration.
 *
 * @module
 */
import { templateProblems } from "../../kernel/template/check.ts";
import { type ReadInjectionConfig, readInjectionConfig } from "../config.ts";
import { BUILT_IN } from "./built_in.ts";
import { INJECTION_FUNCTIONS } from "./functions.ts";

/**
 * Reads a configuration from parsed YAML or JSON, like `readInjectionConfig`. Also refuses templates that do not parse
 * or that call unknown functions, and unknown names of templates.
 */
export function readCheckedConfig(tree: unknown): ReadInjectionConfig {
  const read = readInjectionConfig(tree);
  if ("problems" in read) return read;
  const { templates, aliases, defaultTemplates } = read.config;
  const problems = Object.entries(templates).flatMap(([name, text]) =>
    templateProblems(text, `template ${JSON.stringify(name)}`, (one) => INJECTION_FUNCTIONS.includes(one))
  );
  const known = [...new Set([...Object.keys(BUILT_IN), ...Object.keys(templates)])].sort();
  const unknown = (field: string, names: readonly string[], more: readonly string[]) =>
    names.filter((name) => !known.includes(name) && !more.includes(name))
      .map((name) => `${field}: got ${JSON.stringify(name)}, expected one of ${[...known, ...more].join(", ")}`);
  problems.push(...unknown("defaultTemplates", defaultTemplates, Object.keys(aliases)));
  for (const [alias, names] of Object.entries(aliases)) problems.push(...unknown(`aliases.${alias}`, names, []));
  return problems.length > 0 ? { problems } : read;
}
