/**
 * The values of a chart: the file of defaults with the meaning of each value, and the schema by which Helm refuses
 * others.
 *
 * @module
 */
import * as z from "zod";
import type { InstallData, Node, ValuePlace } from "../../lib/install/template/node.ts";
import { Commented, type Resolved } from "../../lib/install/template/resolved.ts";
import { yamlText } from "../../lib/install/template/text.ts";
import type { ValueRow } from "../../lib/install/values/values.ts";

/** Paths of the values that the nodes read. */
export function pathsIn(nodes: readonly Node[]): ReadonlySet<string> {
  return new Set([...placesIn(nodes)].filter(({ of }) => of === "values").map(({ path }) => path));
}

/** A place is the only part of a node with these two fields. */
function* placesIn(part: unknown): Generator<ValuePlace> {
  if (typeof part !== "object" || part === null) return;
  if ("of" in part && "path" in part) yield part as ValuePlace;
  else for (const inner of Object.values(part)) yield* placesIn(inner);
}

/** The file of values. @param rows In the order of the file; rows with a common beginning stand together. */
export function valuesText(
  rows: Readonly<Record<string, ValueRow>>,
  items: Readonly<Record<string, ValueRow>>,
): string {
  const tree: Record<string, Resolved> = {};
  for (const [path, row] of Object.entries(rows)) {
    const data = path === "gateways" ? itemsTree(row.default as readonly InstallData[], items) : row.default;
    const keys = path.split(".");
    const last = keys.pop()!;
    const inner = keys.reduce((tree, key) => (tree[key] ??= {}) as Record<string, Resolved>, tree);
    inner[last] = new Commented(row.doc, data);
  }
  return yamlText(tree);
}

/** Each item with the values that it lacks, and their meaning. */
function itemsTree(given: readonly InstallData[], items: Readonly<Record<string, ValueRow>>): Resolved {
  return given.map((item) =>
    Object.fromEntries(
      Object.entries(items).map(([path, row]) => [
        path,
        new Commented(row.doc, (item as Readonly<Record<string, InstallData>>)[path] ?? row.default),
      ]),
    )
  );
}

/** The schema of values, as Helm reads it from `values.schema.json`. */
export function valuesSchema(
  rows: Readonly<Record<string, ValueRow>>,
  items: Readonly<Record<string, ValueRow>>,
): InstallData {
  const tree: SchemaTree = {};
  for (const [path, row] of Object.entries(rows)) {
    const keys = path.split(".");
    const last = keys.pop()!;
    const inner = keys.reduce((tree, key) => (tree[key] ??= {}) as SchemaTree, tree);
    const schema = path === "gateways" ? z.array(itemSchema(items)) : row.schema;
    inner[last] = schema.meta({ description: row.doc });
  }
  // Helm hands the values of a chart around this chart down as `global`.
  const schema = objectSchema({ ...tree, global: z.record(z.string(), z.json()).optional() });
  return z.toJSONSchema(schema, { target: "draft-7" }) as InstallData;
}

interface SchemaTree {
  [key: string]: z.ZodType | SchemaTree;
}

function objectSchema(tree: SchemaTree): z.ZodType {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(tree).map(([key, value]) => [key, value instanceof z.ZodType ? value : objectSchema(value)]),
    ),
  );
}

function itemSchema(items: Readonly<Record<string, ValueRow>>): z.ZodType {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(items).map(([path, { schema, doc }]) => [path, schema.meta({ description: doc }).optional()]),
    ),
  );
}
