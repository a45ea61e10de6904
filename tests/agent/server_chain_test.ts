/** Servers of the agent, whose certificates break a rule ignored by the runtime's TLS. */
import assert from "node:assert/strict";
import { dial } from "../../lib/grpc/client/dial.ts";
import { listenTls } from "../../lib/sockets/listen/tls.ts";
import { openssl } from "../certificates.ts";
import { PATIENCE } from "../patience.ts";
import { ChainMaker } from "../pki/support/chain_maker.ts";

const AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n";
const WEAK = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,digitalSignature\n";
const LEAF = "subjectAltName=DNS:meshd.test\n";

Deno.test({
  name: "a server whose certificate an authority without the right to sign has signed is not taken",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const dialled = async (between: string) => {
      const made = await maker.make({ root: AUTHORITY, between, leaf: LEAF });
      const certificates = { certificate: made.leaf + made.between, privateKey: await maker.key("leaf") };
      const server = await listenTls(
        { host: "127.0.0.1", port: 0 },
        certificates,
        (socket) => socket.on("error", () => {}),
      );
      const to = { host: "127.0.0.1", port: server.port, tls: { serverName: "meshd.test", roots: made.root } };
      try {
        (await dial(to, PATIENCE)).destroy();
        return "taken";
      } catch (error) {
        return (error as Error).message;
      } finally {
        await server.close();
      }
    };
    assert.equal(await dialled(AUTHORITY), "taken");
    assert.match(await dialled(WEAK), /the server's certificate: certificate "CN=between" may not sign certificates$/);
  },
});
