/** Connections and datagrams of TCPRoutes and UDPRoutes in a folder, from a real Envoy. */
import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { envoyPath } from "../envoy/path.ts";
import { ask } from "./derive/traffic.ts";
import { api, backendService, edgeGateway } from "./folder_world.ts";
import { type GatewayPlaces, withBackends, withFolder } from "./running_folder.ts";

const binary = envoyPath();
const ignore = binary === undefined;

const EDGE = { namespace: "shop", name: "edge" };

/** A route of Gateway `shop/edge` to backends by weights. @param age Smaller is older. */
function route(
  kind: "TCPRoute" | "UDPRoute",
  name: string,
  weights: Readonly<Record<string, number>>,
  { age = 0, namespace = "shop", sectionName }: {
    readonly age?: number;
    readonly namespace?: string;
    readonly sectionName?: string;
  } = {},
): string {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  const backendRefs = Object.entries(weights).map(([name, weight]) => ({ name, namespace, port: 8080, weight }));
  const parentRefs = [{ name: "edge", ...(sectionName && { sectionName }) }];
  return api(kind, name, { parentRefs, rules: [{ backendRefs }] }, { creationTimestamp });
}

function listener(protocol: "TCP" | "UDP", name: string, port: number) {
  return { name, protocol, port, allowedRoutes: { kinds: [{ kind: `${protocol}Route` }] } };
}

/** Permission for routes of namespace `shop` to name services of namespace `pay`. */
function grant(kind: "TCPRoute" | "UDPRoute"): string {
  const from = [{ group: "gateway.networking.k8s.io", kind, namespace: "shop" }];
  return api("ReferenceGrant", "shop", { from, to: [{ group: "", kind: "Service" }] }, { namespace: "pay" });
}

/** Runs backends `a`, `b`, `c` of namespace `shop`, and a folder in front of them. */
function withConnections(text: string, use: (answer: (port: number) => Promise<string>) => Promise<void>) {
  return withBackends({ a: {}, b: {}, c: {}, pay: {} }, async ({ pay, ...ports }) => {
    const services = Object.entries(ports).map(([name, port]) => backendService(name, port)).join("");
    await withFolder(
      binary!,
      text + services + backendService("pay", pay!, "pay"),
      EDGE,
      ({ socket }) =>
        use((port) => ask({ socket: socket(port) }, { path: "/" }).then(({ seen }) => seen!.backend, () => "closed")),
    );
  });
}

Deno.test({
  name: "a TCPRoute without a section has all TCP listeners; of several routes of a listener the oldest has it",
  ignore,
  fn: () => {
    const text = edgeGateway([listener("TCP", "one", 9000), listener("TCP", "two", 9001)]) +
      route("TCPRoute", "young", { b: 1 }, { age: 2 }) + route("TCPRoute", "old", { a: 1 }, { age: 1 }) +
      route("TCPRoute", "oldest", { c: 1 }, { sectionName: "two" });
    return withConnections(text, async (answer) => {
      for (let i = 0; i < 20; i++) assert.deepEqual([await answer(9000), await answer(9001)], ["a", "c"]);
    });
  },
});

Deno.test({
  name: "connections to a backend of another namespace need a grant",
  ignore,
  fn: async () => {
    const text = edgeGateway([listener("TCP", "one", 9000)]) + route("TCPRoute", "r", { pay: 1 }, { namespace: "pay" });
    const got: string[] = [];
    for (const more of ["", grant("TCPRoute")]) {
      await withConnections(text + more, async (answer) => void got.push(await answer(9000)));
    }
    assert.deepEqual(got, ["closed", "pay"]);
  },
});

/** A socket for datagrams on loopback. */
function datagramSocket(): Promise<Socket> {
  const socket = createSocket("udp4");
  return new Promise((ready) => socket.bind(0, "127.0.0.1", () => ready(socket)));
}

/** Runs backends for datagrams, which answer their names, and a folder in front of them. */
async function withDatagrams(text: string, use: (places: GatewayPlaces) => Promise<void>): Promise<void> {
  const sockets = new Map<string, Socket>();
  try {
    for (const name of ["a", "b", "c", "pay"]) {
      const socket = await datagramSocket();
      socket.on("message", (_, { port, address }) => socket.send(name, port, address));
      sockets.set(name, socket);
    }
    const services = [...sockets].map(([name, socket]) =>
      backendService(name, socket.address().port, name === "pay" ? "pay" : "shop", "UDP")
    );
    await withFolder(binary!, text + services.join(""), EDGE, use);
  } finally {
    for (const socket of sockets.values()) socket.close();
  }
}

/** The answer to a datagram of a new client. A datagram may be lost before the listener is there. */
async function answerTo({ address, port }: { readonly address: string; readonly port: number }): Promise<string> {
  const client = await datagramSocket();
  const answer = new Promise<string>((resolve) => client.once("message", (bytes) => resolve(`${bytes}`)));
  const again = setInterval(() => client.send("hi", port, address), 100);
  client.send("hi", port, address);
  try {
    return await answer;
  } finally {
    clearInterval(again);
    client.close();
  }
}

Deno.test({
  name: "datagrams of a client go to one backend, and clients are divided by the weights of the oldest UDPRoute",
  ignore,
  fn: () => {
    const text = edgeGateway([listener("UDP", "one", 5300)]) +
      route("UDPRoute", "old", { a: 70, b: 30, c: 0 }) + route("UDPRoute", "young", { c: 1 }, { age: 1 });
    return withDatagrams(text, async ({ datagrams }) => {
      const counts: Record<string, number> = {};
      for (let i = 0; i < 400; i++) {
        const answer = await answerTo(datagrams(5300));
        counts[answer] = (counts[answer] ?? 0) + 1;
      }
      assert.deepEqual(Object.keys(counts).sort(), ["a", "b"]);
      // Five standard deviations of 400 draws.
      assert.ok(Math.abs(counts["a"]! - 280) < 46, JSON.stringify(counts));
    });
  },
});

Deno.test({
  name: "datagrams go to a backend of another namespace with a grant",
  ignore,
  fn: () => {
    const text = edgeGateway([listener("UDP", "one", 5300)]) + route("UDPRoute", "r", { pay: 1 }, { namespace: "pay" });
    return withDatagrams(text + grant("UDPRoute"), async ({ datagrams }) => {
      assert.equal(await answerTo(datagrams(5300)), "pay");
    });
  },
});
