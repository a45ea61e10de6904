/** A server answers its probe amid hundreds of simultaneous requests for pages and webhooks. */
import assert from "node:assert/strict";
import { withServer } from "./running.ts";

for (const path of ["/debug/configz", "/debug/?q=a", "/metrics", "/validate"]) {
  Deno.test(`the probe is answered before three hundred requests for ${path} are`, async () => {
    await withServer({}, async ({ ports }, _, kernel) => {
      await kernel.readiness.whenReady;
      const post = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
      const ask = async (path: string) => {
        const answer = await fetch(`http://127.0.0.1:${ports.http}${path}`, path === "/validate" ? post : {});
        return await answer.text();
      };
      await ask(path);
      let answered = 0;
      const all = Array.from({ length: 300 }, () => ask(path).then(() => answered++));
      // All requests ahead of the probe in one turn of the loop would be answered before the probe.
      await Promise.race(all);
      await ask("/ready");
      assert(answered < 300, "the probe was the last");
      await Promise.all(all);
    }, { options: { webhooks: "", monitoring: undefined } });
  });
}
