/**
 * A measurement of a schema language in a separate process: `child.ts own|zod|plain load|decode`. Prints JSON:
 * milliseconds to load, or CPU seconds and retained megabytes for decoding 20,000 specs.
 *
 * @module
 */
import process from "node:process";

const [language, what] = Deno.args;
const gc = (globalThis as { gc?: () => void }).gc ?? (() => {});
const started = performance.now();
const { KIND_TABLE } = await import("../../../lib/config/kinds/table.ts");
const { DecodeContext } = await import("../../../lib/config/schema/field.ts");
const { Findings } = await import("../../../lib/finding/findings.ts");
type Kind = keyof typeof KIND_TABLE;
let decoders: Map<string, (spec: unknown) => unknown>;
if (language === "zod" || language === "plain") {
  const ours = performance.now();
  const { toPlainZod, toZod } = await import("./zod_kind.ts");
  decoders = new Map(
    Object.keys(KIND_TABLE).map((kind) => {
      const schema = (language === "zod" ? toZod : toPlainZod)(KIND_TABLE[kind as Kind].schema);
      return [kind, (spec) => schema.parse(spec)];
    }),
  );
  // The kinds' own schemas are loaded only as the source of the others.
  if (what === "load") report({ milliseconds: performance.now() - ours });
} else {
  decoders = new Map(
    Object.keys(KIND_TABLE).map((kind) => {
      const { schema } = KIND_TABLE[kind as Kind];
      return [kind, (spec) => schema.decode(spec, new DecodeContext("spec", new Findings()))];
    }),
  );
  if (what === "load") report({ milliseconds: performance.now() - started });
}

if (what === "decode") {
  const { configuration } = await import("../mesh/configuration.ts");
  const { parseYaml } = await import("../../../lib/config/yaml/parse.ts");
  const shape = { services: 2000, endpoints: 10, namespaces: 10, routed: 1000 };
  const trees: { readonly kind: string; readonly spec: unknown }[] = [];
  for (const text of configuration(shape).values()) {
    for (const document of text.split("---\n")) {
      const parsed = parseYaml(document);
      if ("tree" in parsed) trees.push(parsed.tree as { readonly kind: string; readonly spec: unknown });
    }
  }
  const decode = () => trees.map(({ kind, spec }) => decoders.get(kind)?.(spec));
  decode(); // The engine compiles hot code.
  gc();
  const heap = process.memoryUsage().heapUsed;
  const cpu = process.cpuUsage();
  const kept: unknown[][] = [];
  for (let pass = 0; pass < 5; pass++) kept.push(decode());
  const used = process.cpuUsage(cpu);
  gc();
  report({
    objects: kept.flat().length,
    cpuSeconds: (used.user + used.system) / 1e6,
    retainedMegabytes: (process.memoryUsage().heapUsed - heap) / 1e6,
  });
}

function report(figures: object): void {
  console.log(JSON.stringify(figures));
}
