/** What node tunnels know about names: the addresses of each sort of host, by which a tunnel answers DNS. */
import assert from "node:assert/strict";
import { objectsOf, SETTINGS, TunnelWorld } from "./support/world.ts";

const entry = (spec: string, labels = "") => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: one, namespace: shop, labels: { ${labels} } }
spec: { ${spec}, ports: [{ number: 443, name: tls, protocol: TLS }] }
`;
const service = (spec: string) => `
apiVersion: v1
kind: Service
metadata: { name: one, namespace: shop }
spec: { ${spec}, selector: { app: one }, ports: [{ name: http, port: 80 }] }
`;
const WAYPOINT = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: mesh-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }
`;

/** Every host has an allocated address, unless the mesh refuses it. */
const ALLOCATED = "240.240.0.5";

/** The addresses of the only service, in text; undefined: tunnels have no service. */
function addressesIn(...texts: readonly string[]): readonly string[] | undefined {
  const world = new TunnelWorld({
    ...SETTINGS,
    assigned: ({ spec: { hosts = [] } }) => hosts.map((host) => ({ host, value: ALLOCATED })),
  });
  world.put(...objectsOf(texts.join("---")));
  const all = Object.values(world.readable()) as readonly { readonly service?: ReadableService }[];
  const [service] = all.flatMap(({ service }) => service ?? []);
  return service && (service.addresses ?? []).map(({ address }) => address);
}

interface ReadableService {
  readonly addresses?: readonly { readonly address: string }[];
}

const HOST = "hosts: [api.example.com]";
const ROWS: readonly [host: string, texts: readonly string[], addresses: readonly string[] | undefined][] = [
  ["a Service has its cluster addresses, of both families", [
    service('clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1, "fd00::1"]'),
  ], ["10.96.0.1", "fd00::1"]],
  ["a headless Service has none", [service("clusterIP: None, clusterIPs: [None]")], []],
  ["an ExternalName is no service of tunnels", [
    "\napiVersion: v1\nkind: Service\nmetadata: { name: one, namespace: shop }\n" +
    "spec: { type: ExternalName, externalName: api.example.com }\n",
  ], undefined],
  ["an entry has its written addresses", [entry(`${HOST}, addresses: [192.0.2.7], resolution: DNS`)], ["192.0.2.7"]],
  ["an entry with DNS and without addresses has the allocated address", [entry(`${HOST}, resolution: DNS`)], [
    ALLOCATED,
  ]],
  ["an entry with STATIC and without addresses has the allocated address", [
    entry(`${HOST}, resolution: STATIC, endpoints: [{ address: 192.0.2.9 }]`),
  ], [ALLOCATED]],
  ["a wildcard has its written address", [
    entry('hosts: ["*.example.com"], addresses: [192.0.2.7], resolution: STATIC, endpoints: [{ address: 192.0.2.9 }]'),
  ], ["192.0.2.7"]],
  ["a wildcard has no allocated address", [
    entry('hosts: ["*.example.com"], resolution: STATIC, endpoints: [{ address: 192.0.2.9 }]'),
  ], []],
  ["an entry with NONE has no address", [entry(`${HOST}, addresses: [192.0.2.7], resolution: NONE`)], []],
  ["an entry with NONE that uses a waypoint has its written address", [
    entry(`${HOST}, addresses: [192.0.2.7], resolution: NONE`, "mesh.io/use-waypoint: gate"),
    WAYPOINT,
  ], ["192.0.2.7"]],
];

for (const [host, texts, addresses] of ROWS) {
  Deno.test(`at a tunnel ${host}`, () => assert.deepEqual(addressesIn(...texts), addresses));
}
