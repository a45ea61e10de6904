/**
 * Reads a dump of a proxy's configuration: Envoy's page `/config_dump`, or the server's page of that name.
 *
 * @module
 */
import * as z from "zod";

/** A part of a message in the JSON form of protobuf. */
export type DumpJson = { readonly [field: string]: unknown };

/** The resources of a dump, by what they are. */
export interface Dump {
  readonly clusters: readonly DumpJson[];
  readonly listeners: readonly DumpJson[];
  readonly routes: readonly DumpJson[];
  /** `ClusterLoadAssignment`s. Absent in Envoy's page without `include_eds`. */
  readonly endpoints: readonly DumpJson[] | undefined;
  readonly secrets: readonly DumpedSecret[];
  /** Only Envoy knows its bootstrap. */
  readonly bootstrap: DumpJson | undefined;
}

/** A secret, and whether Envoy has the content yet. */
export interface DumpedSecret {
  readonly state: "ACTIVE" | "WARMING";
  readonly secret: DumpJson;
}

const DUMP = z.object({ configs: z.array(z.looseObject({ "@type": z.string() })) });

/**
 * Reads a dump.
 * @throws {RangeError} If the text is not a dump as a whole. `types=cds` and `mask=` make other forms.
 */
export function readDump(value: unknown): Dump {
  const read = DUMP.safeParse(value);
  const parts = read.success ? read.data.configs : [];
  const isWhole = parts.some(({ "@type": type }) => type.endsWith(".ListenersConfigDump"));
  if (!isWhole) throw new RangeError("got JSON of another form, expected the whole page /config_dump of a proxy");
  const part = (name: string): DumpJson => parts.find(({ "@type": type }) => type.endsWith(`.${name}`)) ?? {};
  const hasEndpoints = parts.some(({ "@type": type }) => type.endsWith(".EndpointsConfigDump"));
  const clusters = part("ClustersConfigDump");
  const listeners = part("ListenersConfigDump");
  const routes = part("RoutesConfigDump");
  const endpoints = part("EndpointsConfigDump");
  const bootstrap = part("BootstrapConfigDump").bootstrap;
  return {
    clusters: [
      ...fields(clusters.static_clusters, "cluster"),
      ...fields(clusters.dynamic_active_clusters, "cluster"),
      ...fields(clusters.dynamic_warming_clusters, "cluster"),
    ],
    listeners: [
      ...fields(listeners.static_listeners, "listener"),
      ...list(listeners.dynamic_listeners).flatMap(({ active_state, warming_state }) =>
        fields([active_state ?? warming_state], "listener")
      ),
    ],
    routes: [
      ...fields(routes.static_route_configs, "route_config"),
      ...fields(routes.dynamic_route_configs, "route_config"),
    ],
    endpoints: hasEndpoints
      ? [
        ...fields(endpoints.static_endpoint_configs, "endpoint_config"),
        ...fields(endpoints.dynamic_endpoint_configs, "endpoint_config"),
      ]
      : undefined,
    secrets: secretsOf(part("SecretsConfigDump")),
    bootstrap: isDumpJson(bootstrap) ? bootstrap : undefined,
  };
}

function secretsOf(part: DumpJson): DumpedSecret[] {
  const of = (entries: unknown, state: DumpedSecret["state"]) =>
    list(entries).map(({ name, secret }): DumpedSecret => ({ state, secret: { name, ...json(secret) } }));
  return [
    ...of(part.static_secrets, "ACTIVE"),
    ...of(part.dynamic_active_secrets, "ACTIVE"),
    ...of(part.dynamic_warming_secrets, "WARMING"),
  ];
}

/** The same field of each entry of a list. */
function fields(entries: unknown, field: string): DumpJson[] {
  return list(entries).map((entry) => entry[field]).filter(isDumpJson);
}

/** The objects of a list. A missing list is empty: protobuf leaves empty lists out. */
export function list(value: unknown): DumpJson[] {
  return Array.isArray(value) ? value.filter(isDumpJson) : [];
}

/** The texts of a list. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** An object. A missing message is one without fields. */
export function json(value: unknown): DumpJson {
  return isDumpJson(value) ? value : {};
}

/** A text or a number as text. Other values are empty. */
export function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function isDumpJson(value: unknown): value is DumpJson {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `address:port` of an address, or the path of a socket. */
export function addressParts(address: unknown): { readonly address: string; readonly port: string } {
  const { socket_address, pipe, envoy_internal_address } = json(address);
  const socket = json(socket_address);
  if (pipe !== undefined) return { address: `unix://${text(json(pipe).path)}`, port: "0" };
  const { server_listener_name: name, endpoint_id } = json(envoy_internal_address);
  if (name !== undefined) return { address: [`envoy://${text(name)}/`, text(endpoint_id)].join(""), port: "0" };
  return { address: text(socket.address), port: text(socket.port_value) || "0" };
}

/** `name.namespace` of the object that the metadata of a resource names, if the object is of the given kind. */
export function objectBehind(resource: DumpJson, kind: string): string {
  const path = text(json(json(json(resource.metadata).filter_metadata).istio).config);
  const [, namespace, written, name] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  return written === kind ? `${name}.${namespace}` : "";
}
