/**
 * Certificates in files of a gateway: a missing file costs one server alone, and the server serves when the file comes.
 */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { SECRET } from "../../lib/xds/protocol/types.ts";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, type SyncRow, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const pem = new URL("../testdata/pem/", import.meta.url).pathname;

/** What the gateway answers to a client that names a server: the body, or "refused". */
function ask(port: number, servername: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
    socket.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
  });
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (/\r\n\r\n./.test(text)) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(text === "" ? "refused" : text.slice(text.indexOf("\r\n\r\n") + 4)));
  return promise;
}

function server(port: number, host: string, folder: string): string {
  const files = `serverCertificate: ${folder}/cert.pem, privateKey: ${folder}/key.pem`;
  return `  - { port: { number: ${port}, name: ${host}, protocol: HTTPS }, hosts: [${host}.test], tls: { mode: SIMPLE, ${files} } }`;
}

function gateway(port: number, here: string, late: string): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
${server(port, "first", here)}
${server(port, "late", late)}
${server(port, "nowhere", "/no/such/folder")}
${server(port, "last", `${here}/.`)}
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: all, namespace: demo }
spec:
  hosts: [first.test, late.test, nowhere.test, last.test]
  gateways: [door]
  http: [{ directResponse: { status: 200, body: { string: hello } } }]
`;
}

for (const delta of [true, false]) {
  Deno.test({
    name: `${
      delta ? "delta" : "state of the world"
    }: a certificate that is not there harms no other server, and serves once it is`,
    ignore: path === undefined,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        const folder = await Deno.makeTempDir({ prefix: "mesh-tls-" });
        try {
          for (const name of ["here", "late", "new"]) await Deno.mkdir(`${folder}/${name}`);
          for (const to of ["here", "new"]) {
            for (const file of ["cert.pem", "key.pem"]) await Deno.copyFile(pem + file, `${folder}/${to}/${file}`);
          }
          await using mesh = await TestMesh.start({
            files: { "gateway.yaml": gateway(port, `${folder}/here`, `${folder}/late`) },
          });
          const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
          const envoy = await mesh.attach(path!, { ...identity, type: "router" }, delta);
          await envoy.ready(port);
          await until("the first server", async () => await ask(port, "first.test") === "hello");
          await until("the last server", async () => await ask(port, "last.test") === "hello");
          assert.equal(await ask(port, "late.test"), "refused");
          assert.equal(await ask(port, "nowhere.test"), "refused");

          await until("the reason on a page", async () => {
            const [row] = await mesh.page<SyncRow[]>("syncz");
            return /\/(?:late|folder)/.test(row?.resources[SECRET]?.lastError ?? "");
          });
          for (const file of ["key.pem", "cert.pem"]) {
            await Deno.rename(`${folder}/new/${file}`, `${folder}/late/${file}`);
          }
          await until("the server whose files came", async () => await ask(port, "late.test") === "hello");
          assert.equal(await ask(port, "first.test"), "hello");
          assert.equal(await ask(port, "nowhere.test"), "refused");
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      }),
  });
}
