/**
 * Values of tags: texts with commands of access logs, which the proxy fills in for each request or connection.
 *
 * @module
 */

/** One way to a value: a command of access logs, with its argument. */
export interface TagCommand {
  readonly command: string;
  readonly param?: string;
}

/** A fixed text; without quotes, backslashes and percent signs. */
export interface FixedText {
  readonly text: string;
}

/** A value of an expression of CEL. An expression that cannot be evaluated gives no value. */
export function cel(expression: string): TagCommand {
  return { command: "CEL", param: expression };
}

/** A value of metadata that filters wrote of the request. */
export function metadata(...path: readonly string[]): TagCommand {
  return { command: "DYNAMIC_METADATA", param: path.join(":") };
}

/** The first of these that there is. */
export function firstOf(...values: readonly (TagCommand | FixedText)[]): string {
  const [only, second] = values;
  if (only !== undefined && second === undefined) return "text" in only ? only.text : commandText(only);
  const operators = values.map((value) => "text" in value ? cel(`'${value.text}'`) : value);
  return `%COALESCE(${JSON.stringify({ operators })})%`;
}

/** One command as a text. */
export function commandText({ command, param }: TagCommand): string {
  return param === undefined ? `%${command}%` : `%${command}(${param})%`;
}

/** Stands where nothing is known. */
export const UNKNOWN: FixedText = { text: "unknown" };
