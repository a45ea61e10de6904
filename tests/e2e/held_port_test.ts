/**
 * A listener on a port of another program starts when the port becomes free, and nothing else waits for the listener.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { gateway, service } from "./support/door.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

Deno.test({
  name: "a port that another program holds is offered again, and served when it is free",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using echo = headerEcho("app");
      const holder = Deno.listen({ hostname: "0.0.0.0", port });
      await using mesh = await TestMesh.start({
        files: { "world.yaml": `${gateway(port)}---${service("app", echo.port)}` },
      });
      const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
      await mesh.attach(path!, { type: "router", ...identity }, true);
      const rows = () => mesh.page<readonly { synced: boolean; rejected_objects?: readonly string[] }[]>("syncz");
      await until("the rejection", async () => (await rows()).some((row) => (row.rejected_objects ?? []).length > 0));
      assert.equal((await rows())[0]!.synced, false);
      const [row] = await rows();
      const gone = row!.rejected_objects!.find((key) => key.startsWith("Gateway/"));
      const live = await mesh.page<{ everywhere: boolean; why: readonly string[] }>(`live?object=${gone}`);
      assert.equal(live.everywhere, false);
      assert.match(live.why.join(), /have rejected it: .*(?:[Aa]ddress already in use|cannot bind)/);
      holder.close();
      await until("an answer", async () => (await askWith(port)).by === "app");
      await until("in sync", async () => (await rows())[0]!.synced);
    }),
});
