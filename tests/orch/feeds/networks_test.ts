/** Networks of a cluster and their gateways, as labels and services say. */
import assert from "node:assert/strict";
import { page } from "../../discovery/running.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { namespaceDraft, serviceDraft, sliceDraft } from "../support/drafts.ts";
import { type ObjectFeed, twoFeeds } from "../support/feeds.ts";
import { until } from "../../patience.ts";

const test = twoFeeds();

/** Entrances as `address:port` by the names of networks, as the page shows them. */
async function entrances({ ports }: DiscoveryServer): Promise<Record<string, string[]>> {
  const shown = JSON.parse((await page(ports.http, "/debug/networkz")).body) as Record<
    string,
    { entrances: { address: string; port: number }[] }
  >;
  return Object.fromEntries(
    Object.entries(shown).map(([name, { entrances }]) => [name, entrances.map((e) => `${e.address}:${e.port}`)]),
  );
}

const become = (server: DiscoveryServer, what: string, expected: Readonly<Record<string, readonly string[]>>) =>
  until(what, async () => JSON.stringify(await entrances(server)) === JSON.stringify(expected));

const tls = { name: "tls", port: 15443, protocol: "TCP" };

function gateway(feed: ObjectFeed, network: string, ingress: readonly unknown[]) {
  const labels = { "topology.istio.io/network": network };
  const spec = { type: "LoadBalancer", ports: [tls] };
  return serviceDraft(feed.name, "gw", { labels, spec, status: { loadBalancer: { ingress } } });
}

test("a gateway's service, mesh networks that name one, and nodes are ways into networks, and are followed", async (feed) => {
  const { name } = feed;
  await feed.put(namespaceDraft(name));
  await feed.put(gateway(feed, `${name}-1`, [{ ip: "192.0.2.1" }]));
  await feed.serve(async (server) => {
    await become(server, "the balancer's address", { [`${name}-1`]: ["192.0.2.1:15443"] });
    await feed.put(gateway(feed, `${name}-2`, [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }]));
    await become(server, "another network and address", { [`${name}-2`]: ["192.0.2.1:15443", "192.0.2.2:15443"] });
    await feed.drop(gateway(feed, "", []));
    await become(server, "no gateway", {});

    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `${name}-node`, labels: { edge: name } },
      status: { addresses: [{ type: "ExternalIP", address: "192.0.2.7" }] },
    };
    await feed.put(node);
    await feed.put(serviceDraft(name, "edge", {
      labels: { "topology.mesh.io/network": "edges", "networking.mesh.io/gatewayPort": "443" },
      annotations: { "traffic.mesh.io/nodeSelector": JSON.stringify({ edge: name }) },
      spec: { type: "NodePort", ports: [{ ...tls, port: 443, nodePort: 30443 }] },
    }));
    await become(server, "the node's address and port", { edges: ["192.0.2.7:30443"] });
    await feed.put({ ...node, status: { addresses: [{ type: "ExternalIP", address: "192.0.2.8" }] } });
    await become(server, "the node's other address", { edges: ["192.0.2.8:30443"] });
    await feed.drop(node);
    await feed.drop(serviceDraft(name, "edge"));
    await become(server, "no node", {});
  });
});

test("mesh networks name the service of a gateway by the cluster's registry", async (feed) => {
  const { name } = feed;
  await feed.put(namespaceDraft(name));
  await feed.put(serviceDraft(name, "gw", {
    spec: { type: "LoadBalancer", ports: [tls] },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  }));
  const named = (port: number) => ({
    networks: {
      home: {
        endpoints: [{ fromRegistry: "Orch" }],
        gateways: [{ registryServiceName: `gw.${name}.svc.cluster.local`, port }],
      },
    },
  });
  await feed.meshNetworks(named(15443));
  await feed.serve(async (server) => {
    await become(server, "the named service", { home: ["192.0.2.1:15443"] });
    await feed.meshNetworks(named(8443));
    await become(server, "its other port", { home: ["192.0.2.1:8443"] });
  });
});

test("the network of an endpoint is its pod's label, else the label of the server's namespace, else the network of its address", async (feed) => {
  const { name } = feed;
  const system = (labels: Record<string, string>) => namespaceDraft("mesh-system", labels);
  await feed.put(namespaceDraft(name));
  await feed.put(system({}));
  await feed.put(serviceDraft(name, "cart"));
  await feed.put(sliceDraft(name, "cart", ["10.9.2.1"]));
  await feed.meshNetworks({ networks: { ranges: { endpoints: [{ fromCidr: "10.9.2.0/24" }], gateways: [] } } });
  await feed.serve(async ({ pipeline }) => {
    const networks = () =>
      pipeline.endpoints.endpoints(`${name}/cart.${name}.svc.cluster.local`).map(({ network }) => network).join();
    assert.equal(networks(), "ranges");
    await feed.put(system({ "topology.istio.io/network": "home" }));
    await until("the label of the namespace", () => networks() === "home");
    await feed.put(system({ "topology.istio.io/network": "" }));
    await until("its end", () => networks() === "ranges");
  });
});
