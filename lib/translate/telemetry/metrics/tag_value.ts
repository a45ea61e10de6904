/**
 * Values of tags: texts with access log commands, which the proxy evaluates for each request or connection.
 *
 * @module
 */

/** An access log command with its argument. */
export interface TagCommand {
  readonly command: string;
  readonly param?: string;
}

/** A fixed text; without quotes, backslashes and percent signs. */
export interface FixedText {
  readonly text: string;
}

/** The value of a CEL expression. An expression that cannot be evaluated gives no value. */
export function cel(expression: string): TagCommand {
  return { command: "CEL", param: expression };
}

/** A value from metadata that filters wrote about the request. */
export function metadata(...path: readonly string[]): TagCommand {
  return { command: "DYNAMIC_METADATA", param: path.join(":") };
}

/** The first available value. */
export function firstOf(...values: readonly (TagCommand | FixedText)[]): string {
  const [only, second] = values;
  if (only !== undefined && second === undefined) return "text" in only ? only.text : commandText(only);
  const operators = values.map((value) => "text" in value ? cel(`'${value.text}'`) : value);
  return `%COALESCE(${JSON.stringify({ operators })})%`;
}

/** A command as text. */
export function commandText({ command, param }: TagCommand): string {
  return param === undefined ? `%${command}%` : `%${command}(${param})%`;
}

/** Default when nothing is known. */
export const UNKNOWN: FixedText = { text: "unknown" };
