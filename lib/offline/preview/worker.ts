/**
 * The worker for a preview: a thread of its own, so no push waits for a preview.
 *
 * Permissions: env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import { unpaced } from "../../kernel/time/paced.ts";
import { ServerWorld } from "./compare_world.ts";
import type { PreviewInput, PreviewOutput } from "./messages.ts";
import { readPreview, UnreadableQuestion } from "./question.ts";

/** A worker's end of the channel. */
interface WorkerScope {
  onmessage: ((event: { readonly data: PreviewInput }) => void) | null;
  postMessage(message: PreviewOutput): void;
}

const scope = globalThis as unknown as WorkerScope;
let world: ServerWorld | undefined;

scope.onmessage = ({ data }) => {
  try {
    take(data);
  } catch (error) {
    if (error instanceof UnreadableQuestion) scope.postMessage({ say: "refused", message: error.message });
    else {
      const message = error instanceof Error ? error.stack ?? error.message : String(error);
      scope.postMessage({ say: "failed", message });
    }
  }
};
scope.postMessage({ say: "loaded" });

function take(input: PreviewInput): void {
  switch (input.say) {
    case "world":
      world = new ServerWorld(input);
      return;
    case "objects":
      return world?.add(input.objects, input.ofFolder);
    case "facts":
      return world?.addFacts(input.facts, input.ofFolder);
    case "findings":
      return world?.addFindings(input.findings);
    case "compare":
      if (world === undefined) throw new Error("asked before there was a world");
      scope.postMessage({ say: "answer", radius: unpaced(world.compare(readPreview(input.body))) });
  }
}
