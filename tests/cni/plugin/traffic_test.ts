/** The plugin behind Debian's network plugins, in real network namespaces, with real sockets. */
import assert from "node:assert/strict";
import { isObject } from "../../../lib/cni/config/network.ts";
import { chainedText } from "../support/chained.ts";
import { namespaceTest } from "../support/commands.ts";
import { addressOf, TestNode } from "../support/node.ts";
import { FakeOrch, injectedPod } from "../support/orch.ts";

for (const version of ["0.3.1", "0.4.0", "1.0.0", "1.1.0"]) {
  namespaceTest(
    `version ${version}: an injected pod's traffic goes through the proxy, the proxy's own does not`,
    async () => {
      await using node = await TestNode.make();
      const orch = new FakeOrch();
      try {
        await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node, version));
        await node.placePlugin(orch);
        const pod = orch.put(injectedPod("shop", "cart-0"));
        const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
        const added = await node.chain("ADD", sandbox);
        assert(added.ok, JSON.stringify(added));
        assert(isObject(added.result));
        assert.equal(added.result["cniVersion"], version);
        const address = addressOf(added.result);
        assert.match(address, /^10\.77\./);
        const gateway = "10.77.0.1";
        await node.answer("world", [9090]);
        await node.answer("app", [8080, 15020], sandbox.netns, 1000);
        await node.answer("inbound", [15006], sandbox.netns, 1337);
        await node.answer("outbound", [15001], sandbox.netns, 1337);
        assert.equal(await node.ask(address, 8080), "inbound");
        assert.equal(await node.ask(address, 15020), "app", "ports of the agent are reached directly");
        assert.equal(await node.ask(gateway, 9090, sandbox.netns, 1000), "outbound");
        assert.equal(await node.ask(gateway, 9090, sandbox.netns, 1337), "world");
        const checked = await node.chain("CHECK", sandbox, added.result);
        if (version !== "0.3.1") assert.deepEqual(checked, { ok: true, result: added.result });
        assert.deepEqual(
          await node.chain("ADD", { ...sandbox, id: "again" }).then((o) => o.ok),
          false,
          "bridge refuses",
        );
        assert((await node.chain("DEL", sandbox, added.result)).ok);
      } finally {
        await orch.stop();
      }
    },
  );
}
