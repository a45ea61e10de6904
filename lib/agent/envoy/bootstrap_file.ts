/**
 * The bootstrap of a workload's proxy as a file: generated, or made from a template.
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

/** Name of the bootstrap in the proxy's folder, without its extension. */
const BOOTSTRAP_FILE = "envoy-rev";

/** Options with the path of a template, in order of precedence. */
export interface BootstrapTemplates {
  /** `MESH_BOOTSTRAP`; empty: none. */
  readonly variable: string;
  readonly proxy: Pick<ProxySettings, "customConfigFile" | "proxyBootstrapTemplatePath">;
  /** The flag `--templateFile`. */
  readonly flag: string | undefined;
}

/** A template, and the option with its path. */
interface NamedTemplate {
  readonly path: string;
  readonly by: string;
}

/** The template in force. Undefined: there is no template, and the bootstrap is generated. */
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
 * @param folder The proxy's folder. Created if missing.
 * @returns The file's path.
 * @throws {Error} When a file cannot be read or written; TextTemplateError when the template fails.
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
  // Envoy reads the format of a file from its name.
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
 * The text of a file from a setting.
 * @throws {Error} With the name of the setting.
 */
export async function textOfFile(setting: string, path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch (error) {
    throw new Error(`${setting}: ${(error as Error).message}`, { cause: error });
  }
}
