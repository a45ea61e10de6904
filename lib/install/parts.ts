/**
 * The parts of an installation, in the order of their application.
 *
 * Unless a part is shared, its objects belong to a single revision. So `kubectl delete` of a revision's objects leaves
 * other revisions alone.
 *
 * @module
 */
import { systemNamespace } from "./objects/names.ts";
import type { Node } from "./template/node.ts";
import { GATEWAYS } from "./objects/gateway.ts";
import { PLUGIN_DAEMON_SET, PLUGIN_RIGHTS } from "./objects/plugin.ts";
import { ACCOUNT, RIGHTS } from "./objects/rights.ts";
import { CONFIGURATION, DEPLOYMENT, PRIORITY_CLASS, PROTECTION, SERVICE } from "./objects/server.ts";
import { NODE_TUNNEL } from "./objects/tunnel.ts";
import { INJECTION, TAGS, VALIDATION } from "./objects/webhooks.ts";
import { resolveNodes } from "./template/resolve.ts";
import type { Resolved } from "./template/resolved.ts";
import type { InstallValues } from "./values/values.ts";

/** A part of an installation. */
export interface InstallationPart {
  readonly objects: readonly Node[];
  /** Whether all revisions use the objects. A shared part is installed with the default revision only. */
  readonly shared: boolean;
}

export const PARTS = {
  base: { objects: [systemNamespace(), PRIORITY_CLASS], shared: true },
  rights: { objects: [ACCOUNT, ...RIGHTS], shared: false },
  server: { objects: [...CONFIGURATION, SERVICE, ...PROTECTION, DEPLOYMENT], shared: false },
  plugin: { objects: [...PLUGIN_RIGHTS, PLUGIN_DAEMON_SET], shared: true },
  tunnel: { objects: NODE_TUNNEL, shared: true },
  validation: { objects: [VALIDATION], shared: true },
  injection: { objects: [INJECTION], shared: false },
  tags: { objects: TAGS, shared: false },
  gateways: { objects: GATEWAYS, shared: true },
} as const satisfies Readonly<Record<string, InstallationPart>>;

export type PartName = keyof typeof PARTS;

export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];

/** The parts of an installation with the given values. */
export function partsOf(values: InstallValues): readonly PartName[] {
  const own = values.revision === "default" ? PART_NAMES : PART_NAMES.filter((name) => !PARTS[name].shared);
  const isAmbient = values["ambient.enabled"] === true;
  const left: Partial<Record<PartName, boolean>> = {
    plugin: !isAmbient && values["plugin.enabled"] !== true,
    tunnel: !isAmbient,
  };
  return own.filter((name) => left[name] !== true);
}

/** The objects of parts, with values filled in. */
export function installObjects(
  values: InstallValues,
  parts: readonly PartName[] = partsOf(values),
): readonly Resolved[] {
  const nodes = PART_NAMES.filter((name) => parts.includes(name)).flatMap((name): readonly Node[] =>
    PARTS[name].objects
  );
  return resolveNodes(nodes, values);
}
