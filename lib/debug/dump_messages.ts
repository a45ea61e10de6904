/**
 * The parts of a config dump as messages of `envoy.admin.v3`. Tools compare these messages with the dump of Envoy
 * itself. Secrets are replaced; endpoints, and routes inside listeners, are left out.
 *
 * Fields: https://www.envoyproxy.io/docs/envoy/latest/api-v3/admin/v3/config_dump_shared.proto and `config_dump.proto`
 * beside it.
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { withoutSecrets } from "../pb/redact.ts";
import { anyRuns, fieldRuns, textRun } from "../resource/field_runs.ts";
import { splitRoutes } from "../simulate/route_parts.ts";
import type { XdsConnection } from "../xds/connection.ts";
import type { DebugResource } from "../xds/protocol/questions.ts";
import { CLUSTER, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../xds/protocol/types.ts";
import { dumpEntries, type DumpEntry, dumpVersion, hostsApart, routeVersion } from "./dump_entries.ts";

type Runs = readonly Uint8Array[];

/** The steps that make the content of an entry. */
type EntrySteps = Generator<void, Runs>;

/** `RouteConfiguration.virtual_hosts` */
const VIRTUAL_HOSTS = 2;
/** `UpdateFailureState.details` */
const DETAILS = 3;

/** The form of a type in its part: the field of the entries, and the content of an entry. */
interface PartForm {
  readonly name: string;
  readonly typeUrl: string;
  readonly list: number;
  readonly entry: (entry: DumpEntry, connection: XdsConnection) => EntrySteps;
  /** The part has the version of the type as a whole. */
  readonly versioned?: true;
}

const PARTS: readonly PartForm[] = [
  { name: "ClustersConfigDump", typeUrl: CLUSTER, list: 3, entry: plainEntry, versioned: true },
  { name: "EcdsConfigDump", typeUrl: EXTENSION_CONFIG, list: 1, entry: plainEntry },
  { name: "ListenersConfigDump", typeUrl: LISTENER, list: 3, entry: listenerEntry, versioned: true },
  { name: "RoutesConfigDump", typeUrl: ROUTE, list: 3, entry: routeEntry },
  { name: "SecretsConfigDump", typeUrl: SECRET, list: 2, entry: secretEntry },
];

/** The steps that make the parts of a proxy's dump. Tools expect even the parts unknown to a server. */
export function* dumpMessages(connection: XdsConnection): Generator<void, DebugResource[]> {
  const parts = [partOf("BootstrapConfigDump", []), partOf("ScopedRoutesConfigDump", [])];
  for (const { name, typeUrl, list, entry, versioned } of PARTS) {
    const version = versioned && dumpVersion(connection, typeUrl);
    const runs = version ? [textRun(1, version)] : [];
    for (const one of dumpEntries(connection, typeUrl)) {
      // An argument for each run would be too many for a long list.
      for (const run of fieldRuns(list, yield* entry(one, connection))) runs.push(run);
      yield;
    }
    parts.push(partOf(name, runs));
  }
  return parts;
}

function partOf(name: string, runs: Runs): DebugResource {
  return { name, typeUrl: `${TYPE_URL_PREFIX}envoy.admin.v3.${name}`, runs };
}

/** `DynamicCluster`, `EcdsFilterConfig`: version_info 1, the resource 2, error_state 4. */
// deno-lint-ignore require-yield -- one resource is one step
function* plainEntry({ resource, version, rejection }: DumpEntry): EntrySteps {
  const content = anyRuns(resource.typeUrl, [shown(resource)]);
  return [textRun(1, version), ...fieldRuns(2, content), ...failure(4, rejection)];
}

/** `DynamicListener`: name 1, active_state 2 (version_info 1, listener 2), error_state 5. */
// deno-lint-ignore require-yield -- one resource is one step
function* listenerEntry({ resource, version, rejection }: DumpEntry): EntrySteps {
  const state = [textRun(1, version), ...fieldRuns(2, anyRuns(resource.typeUrl, [shown(resource)]))];
  return [textRun(1, resource.name), ...fieldRuns(2, state), ...failure(5, rejection)];
}

/** `DynamicRouteConfig`: version_info 1, route_config 2, error_state 4. Virtual hosts are cleaned separately. */
function* routeEntry({ resource, version, rejection }: DumpEntry, connection: XdsConnection): EntrySteps {
  const apart = hostsApart(connection, resource);
  const { head, hosts } = splitRoutes(resource.value);
  const message = [withoutSecrets(messageName(resource.typeUrl), head)];
  for (const host of [...hosts, ...apart]) {
    message.push(...fieldRuns(VIRTUAL_HOSTS, [withoutSecrets("envoy.config.route.v3.VirtualHost", host)]));
    yield;
  }
  const content = anyRuns(resource.typeUrl, message);
  const own = textRun(1, routeVersion(connection, version, apart));
  return [own, ...fieldRuns(2, content), ...failure(4, rejection)];
}

/** `DynamicSecret`: name 1, version_info 2, secret 4, error_state 5. */
// deno-lint-ignore require-yield -- one resource is one step
function* secretEntry({ resource, version, rejection }: DumpEntry): EntrySteps {
  const content = anyRuns(resource.typeUrl, [shown(resource)]);
  const named = [textRun(1, resource.name), textRun(2, version)];
  return [...named, ...fieldRuns(4, content), ...failure(5, rejection)];
}

function failure(field: number, rejection: string | undefined): Runs {
  return rejection === undefined ? [] : fieldRuns(field, [textRun(DETAILS, rejection)]);
}

function shown({ typeUrl, value }: DumpEntry["resource"]): Uint8Array {
  return withoutSecrets(messageName(typeUrl), value);
}

function messageName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
