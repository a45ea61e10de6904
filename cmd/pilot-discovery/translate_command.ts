/**
 * The command `translate`: the resources of one proxy, from files alone.
 *
 * Permissions: read of the named paths, env (the program's variables).
 *
 * @module
 */
// @ts-types="npm:@types/js-yaml@4.0.9"
import { dump } from "js-yaml";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { bootstrapOf, type BootstrapResources, standaloneNode } from "../../lib/offline/bootstrap.ts";
import { resourcesJson, type ShortType, TYPE_URLS } from "../../lib/offline/proxy_resources.ts";
import type { translateFlags } from "./offline_flags.ts";
import { namedProxy, orUsage, readMesh, tellFindings } from "./offline.ts";

/** Prints the resources; resolves with 0, or 2 when something could not be made. */
export async function runTranslate({ flags, args, output }: Invocation<typeof translateFlags>): Promise<number> {
  const types = typesOf(flags.type, flags.output);
  const { mesh } = await readMesh(args, flags, output);
  const { proxy, note } = namedProxy("flag --node", flags.node, mesh);
  const own = flags.output === "bootstrap" ? standaloneNode(proxy.node) : proxy.node;
  const node = { id: own.id, metadata: { ...own.metadata, ...metadataOf(flags.metadata) } };
  const state = orUsage("flag --node", () => mesh.join(node));
  tellFindings(mesh, output);
  if (note !== undefined) output.err(`note: ${note}\n`);
  const resources = resourcesJson(state, types);
  if (flags.output === "bootstrap") {
    const whole = resources as unknown as BootstrapResources;
    output.out(yaml(orUsage("flag --output", () => bootstrapOf(node, whole, { port: flags["admin-port"] }))));
  } else output.out(flags.output === "json" ? `${JSON.stringify(resources, undefined, 2)}\n` : yaml(resources));
  return mesh.failures.length > 0 ? 2 : 0;
}

function typesOf(types: readonly string[], output: string): ShortType[] {
  const all = Object.keys(TYPE_URLS) as ShortType[];
  if (types.length === 0) return all;
  if (output === "bootstrap") throw new UsageError("flag --type: a bootstrap holds all types, expected no --type");
  return all.filter((type) => types.includes(type));
}

function metadataOf(text: string): Record<string, unknown> {
  if (text === "") return {};
  const wrong = () => new UsageError(`flag --metadata: got ${JSON.stringify(text)}, expected a JSON object`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong();
    return value as Record<string, unknown>;
  } catch (error) {
    throw error instanceof UsageError ? error : wrong();
  }
}

function yaml(value: unknown): string {
  // No anchors: Envoy's reader knows none, and people read the same thing twice more easily than a reference.
  return dump(value, { noRefs: true, lineWidth: -1 });
}
