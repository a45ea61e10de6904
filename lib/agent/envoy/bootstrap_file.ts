/**
 * The bootstrap of a workload's proxy as a file: generated, or made of a template that takes its place.
 *
 * Permissions: read (the template), write (the proxy's folder).
 *
 * @module
 */
import { writeWhole } from "../secrets/output_files.ts";
import { readRegularText } from "../../kernel/files/regular.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { bootstrap, type BootstrapInput } from "../bootstrap/bootstrap.ts";

/** Name of the bootstrap in the proxy's folder, without its form. */
const BOOTSTRAP_FILE = "envoy-rev";

/** Places that may name a template, the first one first. */
export interface BootstrapTemplates {
  /** `MESH_BOOTSTRAP`; empty: none. */
  readonly variable: string;
  readonly proxy: Pick<ProxySettings, "customConfigFile" | "proxyBootstrapTemplatePath">;
  /** The flag `--templateFile`. */
  readonly flag: string | undefined;
}

/** A template, and the option that names it. */
interface NamedTemplate {
  readonly path: string;
  readonly by: string;
}

/** The template that is in force; undefined: none, the bootstrap is generated. */
export function templateOf({ variable, proxy, flag }: BootstrapTemplates): NamedTemplate | undefined {
  const named: readonly (readonly [string, string | undefined])[] = [
    ["variable MESH_BOOTSTRAP", variable],
    ["customConfigFile", proxy.customConfigFile],
    ["flag --templateFile", flag],
    ["proxyBootstrapTemplatePath", proxy.proxyBootstrapTemplatePath],
  ];
  const [by, path] = named.find(([, path]) => path !== undefined && path !== "") ?? [];
  return by === undefined || !path ? undefined : { by, path };
}

/**
 * Writes the bootstrap.
 *
 * @param folder of the proxy; made where it is missing
 * @returns the file's path
 * @throws Error when a file cannot be read or written; TextTemplateError for a template that makes none
 */
export async function writeBootstrap(
  input: BootstrapInput,
  template: NamedTemplate | undefined,
  folder: string,
  log: Logger,
): Promise<string> {
  const made = bootstrap(input);
  let text = JSON.stringify(made.config);
  if (template === undefined) {
    for (const { field, value, expected } of made.problems) {
      log.warn(`${field}: got ${JSON.stringify(value)}, expected ${expected}; it has no effect`);
    }
  } else {
    const [{ renderTemplate }, { templateValues }] = await Promise.all([
      import("../../kernel/template/render.ts"),
      import("../bootstrap/template_values.ts"),
    ]);
    text = renderTemplate(await textOfFile(template.by, template.path), template.path, templateValues(input, made));
  }
  // Envoy knows the form of a file by its name.
  const form = /\.ya?ml(?:\.tmpl)?$/.test(template?.path ?? "") ? "yaml" : "json";
  const file = `${folder}/${BOOTSTRAP_FILE}.${form}`;
  try {
    await writeWhole(file, text, 0o644);
  } catch (error) {
    throw new Error(`the bootstrap cannot be written: ${(error as Error).message}`, { cause: error });
  }
  return file;
}

/**
 * The text of a file that a setting names.
 *
 * @throws Error naming the setting
 */
export async function textOfFile(setting: string, path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch (error) {
    throw new Error(`${setting}: ${(error as Error).message}`, { cause: error });
  }
}
