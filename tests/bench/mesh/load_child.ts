/**
 * The load generators and the flood as child processes.
 *
 * Permissions: run (this runtime).
 *
 * @module
 */
import { startLineChild } from "./line_child.ts";
import type { FloodAnswer, FloodOptions } from "./load/flood.ts";
import type {
  CertificateLoadAnswer,
  CertificateLoadCommand,
  CertificateLoadOptions,
} from "./load/certificate_protocol.ts";
import type { LoadAnswer, LoadCommand, LoadOptions } from "./load/protocol.ts";
import { THIS_TREE } from "./server_child.ts";

const PERMISSIONS = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net=127.0.0.1"];

/** A running load generator. */
export interface LoadChild {
  run(command: LoadCommand): Promise<LoadAnswer>;
  stop(): Promise<void>;
}

/** Starts the load generator of this tree, even for a server of another tree. */
export async function startLoad(options: LoadOptions): Promise<LoadChild> {
  const child = startLineChild([...PERMISSIONS, "tests/bench/mesh/load/main.ts"], { cwd: THIS_TREE });
  await child.tell(JSON.stringify(options));
  return {
    run: async (command) => JSON.parse(await child.ask(JSON.stringify(command))) as LoadAnswer,
    stop: () => child.stop(),
  };
}

/** A running load of requests for certificates. */
export interface CertificateLoadChild {
  begin(): Promise<void>;
  /** The results since `begin`. */
  end(): Promise<CertificateLoadAnswer>;
  stop(): Promise<void>;
}

/** Starts a load of certificate requests. Resolves when connected. */
export async function startCertificateLoad(options: CertificateLoadOptions): Promise<CertificateLoadChild> {
  const child = startLineChild([...PERMISSIONS, "tests/bench/mesh/load/certificates.ts"], { cwd: THIS_TREE });
  await child.ask(JSON.stringify(options));
  const ask = async (command: CertificateLoadCommand) => JSON.parse(await child.ask(command)) as CertificateLoadAnswer;
  return {
    begin: async () => void await ask("begin"),
    end: () => ask("end"),
    stop: () => child.stop(),
  };
}

/** Starts a flood. `stop` returns the results. */
export async function startFlood(options: FloodOptions): Promise<{ stop(): Promise<FloodAnswer> }> {
  const child = startLineChild([...PERMISSIONS, "tests/bench/mesh/load/flood.ts"], { cwd: THIS_TREE });
  await child.ask(JSON.stringify(options));
  return {
    async stop() {
      const answer = JSON.parse(await child.ask("stop")) as FloodAnswer;
      await child.stop();
      return answer;
    },
  };
}
