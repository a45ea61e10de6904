/**
 * Labels of a series as text on the metrics page. The text is also the key of the series: no two combinations of labels
 * have the same text.
 *
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 *
 * @module
 */

/** Values of labels. A series has no label that is left out here. */
export type LabelValues<L extends string> = Readonly<Partial<Record<L, string | number>>>;

/**
 * The labels in the order of their names, without braces: `type="cds",err="no \"x\""`. Empty without labels.
 *
 * @throws {RangeError} naming a label that the metric does not have.
 */
export function labelText(names: readonly string[], labels: LabelValues<string>): string {
  for (const name in labels) {
    if (!names.includes(name)) {
      throw new RangeError(`label ${name}: expected ${names.length === 0 ? "no labels" : names.join(", ")}`);
    }
  }
  let text = "";
  for (const name of names) {
    const value = labels[name];
    if (value === undefined) continue;
    text += `${text === "" ? "" : ","}${name}="${typeof value === "number" ? value : escaped(value)}"`;
  }
  return text;
}

/**
 * A line of the page.
 *
 * @param labels A text from {@linkcode labelText}.
 */
export function sampleLine(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${valueText(value)}`;
}

/** The lines before the samples of a metric. */
export function headLines(name: string, help: string, type: "counter" | "gauge" | "histogram"): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}`;
}

function escaped(value: string): string {
  if (!/[\\\n"]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function valueText(value: number): string {
  return Number.isFinite(value) || Number.isNaN(value) ? `${value}` : value < 0 ? "-Inf" : "+Inf";
}
