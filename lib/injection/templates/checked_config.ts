/**
 * The injector's configuration with its templates checked: one that would fail for any pod is refused when it is read.
 *
 * @module
 */
import { templateProblems } from "../../kernel/template/check.ts";
import { type ReadInjectionConfig, readInjectionConfig } from "../config.ts";
import { BUILT_IN } from "./built_in.ts";
import { INJECTION_FUNCTIONS } from "./functions.ts";

/**
 * Reads a configuration from YAML or JSON that was parsed, as `readInjectionConfig` does. Refused too are templates that
 * do not parse or name functions that do not exist, and names of templates that do not exist.
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
