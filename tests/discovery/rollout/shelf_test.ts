import { FolderShelf } from "../../../lib/discovery/rollout/shelf.ts";
import { keepsRollouts } from "./shelf_tests.ts";

Deno.test("a folder keeps rollouts over restarts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await keepsRollouts(() =>
      Promise.resolve({ shelf: new FolderShelf(`${folder}/new`), [Symbol.asyncDispose]: () => Promise.resolve() })
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
