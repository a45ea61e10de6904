/**
 * The parts of an agent, in the order of their start, each with the reason for its place.
 *
 *     certificate ──> SDS socket ──┐
 *                                  ├──> Envoy ── ends ──> the agent ends with its exit code
 *     server ──> relay ─> XDS socket
 *     status port: is the proxy ready?
 *
 * Permissions: the permission set `pilot-agent` of deno.json.
 *
 * @module
 */
import { PartList } from "../../kernel/lifecycle/parts.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { startEnvoyProcess } from "../envoy/start_envoy.ts";
import type { OwnResponse } from "../relay/messages.ts";
import { Relay } from "../relay/relay.ts";
import { upstreamOpener } from "../relay/upstream.ts";
import { followRevocationFiles } from "../secrets/revocation_files.ts";
import { sdsService } from "../secrets/sds_service.ts";
import { EXTENSION_CONFIG_TYPE } from "../wasm/extension_type.ts";
import type { AgentInput } from "./agent_input.ts";
import { AgentLife } from "./agent_life.ts";
import { closeSockets, openSockets } from "./agent_sockets.ts";
import { discoveryServer, workloadCertificate } from "./control_plane.ts";
import { grpcBootstrapFaults, missingForGrpc, writeGrpcBootstrap } from "./grpc_clients.ts";
import { NAME_TABLE_TYPE, startNameServer } from "./name_server.ts";
import { planSecrets, takesConnections } from "./secret_plan.ts";
import { secretSource } from "./secret_sources.ts";
import { sentSettings } from "./sent_settings.ts";
import { openStatusPort, planStatus } from "./status_port.ts";
import { openTapPort } from "./tap_port.ts";
import { machineToken, startTokenService, tokenFaults } from "./tokens.ts";
import { wasmModules } from "./wasm_modules.ts";
import { startWorkloadHealth } from "./workload_probe.ts";

/** The kernel of the agent's program. */
export interface AgentKernel {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Input of every part. */
export interface AgentGiven {
  readonly input: AgentInput;
  readonly kernel: AgentKernel;
}

export const AGENT_PARTS = PartList.of<AgentGiven>()
  .add({
    name: "plan",
    needs: [],
    why: "first: all faults of variables and flags are reported at once, before anything is opened.",
    start: async ({ input }) => {
      const status = await planStatus(input);
      const faults = [
        ...status.faults,
        ...tokenFaults(input.settings, input.tokenService),
        ...await grpcBootstrapFaults(input),
      ];
      return { status, secrets: await planSecrets(input.settings, input.paths, faults) };
    },
  })
  .add({
    name: "life",
    needs: ["plan"],
    why: "before the status port, which drains and ends the agent.",
    start: ({ input, kernel, plan }) =>
      new AgentLife(input.drainRules, kernel.log.scope("default"), () => missingForGrpc(input, plan.secrets)),
  })
  .add({
    name: "machine",
    needs: ["plan"],
    why: "before the certificate and the server: the token of the machine proves to both who the agent is.",
    start: ({ input, kernel }) => machineToken(input, kernel),
    stop: (machine) => machine?.stop(),
  })
  .add({
    name: "certificate",
    needs: ["plan", "machine"],
    why: "before the sockets, on which the proxy gets the certificate. It is requested later.",
    start: ({ input, kernel, plan, machine }) =>
      plan.secrets.from === "authority" ? workloadCertificate(input, kernel, machine) : undefined,
    stop: (certificate) => certificate?.stop(),
  })
  .add({
    name: "server",
    needs: ["machine"],
    why: "before the relay: it opens streams to the discovery server.",
    start: ({ input, machine }) =>
      upstreamOpener({
        server: discoveryServer(input, machine),
        keepaliveInterval: input.settings.GRPC_KEEPALIVE_INTERVAL,
        keepaliveTimeout: input.settings.GRPC_KEEPALIVE_TIMEOUT,
      }),
  })
  .add({
    name: "wasm",
    needs: [],
    why: "before the relay, which has extension configurations rewritten.",
    start: ({ input, kernel }) => wasmModules(input, kernel),
    stop: (wasm) => wasm?.stop(),
  })
  .add({
    name: "names",
    needs: ["plan"],
    why: "before the relay, which hands the name table to the DNS server.",
    start: ({ input, kernel }) => startNameServer(input, kernel),
    stop: (names) => names?.close(),
  })
  .add({
    name: "relay",
    needs: ["certificate", "server", "wasm", "names"],
    why: "before the sockets: it answers the proxy's streams.",
    start: ({ input, kernel, certificate, server: open, wasm, names }) =>
      new Relay({
        ...(wasm === undefined ? {} : { rewriters: new Map([[EXTENSION_CONFIG_TYPE, wasm.open]]) }),
        open,
        own: new Map([
          ...(names === undefined ? [] : [[NAME_TABLE_TYPE, (sent: OwnResponse) => names.take(sent)] as const]),
          ...sentSettings(input, certificate),
        ]),
        clock: kernel.clock,
        metrics: kernel.metrics,
        node: input.workload.node.id,
        log: kernel.log.scope("xdsproxy"),
      }),
    stop: (relay) => relay.stop(),
  })
  .add({
    name: "sockets",
    needs: ["plan", "certificate", "relay"],
    why: "before the proxy, which connects to them at its start.",
    start: ({ input, kernel, plan, certificate, relay }) => {
      const { settings, paths, xdsSocket } = input;
      const service = sdsService(secretSource(plan.secrets, certificate, input, kernel), {
        log: kernel.log.scope("sds"),
        metrics: kernel.metrics,
      });
      const isElsewhere = plan.secrets.from === "another program";
      const secrets = { path: isElsewhere ? paths.filesSocket : paths.sdsSocket, service };
      const xds = { path: xdsSocket, service: relay.service };
      // An application without a proxy asks the relay, too. Its certificates are in files.
      return openSockets(settings.DISABLE_PROXY ? [xds] : [secrets, xds], input, kernel);
    },
    stop: (sockets) => closeSockets(sockets),
  })
  .add({
    name: "revocations",
    needs: ["certificate"],
    why: "before the certificate is requested: the proxy gets the roots with their revocation lists.",
    start: ({ input, kernel: { clock, log }, certificate }) =>
      certificate && followRevocationFiles({
        ...{ paths: input.paths.revocationLists, clock, log: log.scope("cache") },
        onLists: (lists) => certificate.revoke(lists),
      }),
    stop: (revocations) => revocations?.stop(),
  })
  .add({
    name: "requests",
    needs: ["machine", "certificate", "sockets", "revocations"],
    why:
      "after the sockets: an agent that cannot open its sockets requests no certificate. The answer is not waited for.",
    start: ({ machine, certificate }) => {
      machine?.start();
      certificate?.start();
    },
  })
  .add({
    name: "grpcBootstrap",
    needs: ["plan", "sockets"],
    why: "after the sockets, which the file of gRPC applications names.",
    start: ({ input, kernel, plan }) => writeGrpcBootstrap(input, plan.secrets, kernel.log.scope("default")),
  })
  .add({
    name: "statusPort",
    needs: ["plan", "life", "names"],
    why: "before the proxy: probes get an answer while the proxy starts.",
    start: ({ input, kernel, plan, life, names }) =>
      openStatusPort(plan.status, life.statusActions(() => names?.table), input, kernel),
    stop: (port) => port.close(),
  })
  .add({
    name: "tapPort",
    needs: ["server"],
    why: "beside the status port: questions to the control plane.",
    start: ({ input, kernel, server }) => openTapPort(input, server, kernel),
    stop: (port) => port?.close(),
  })
  .add({
    name: "tokenService",
    needs: ["plan"],
    why: "before the proxy, which may exchange tokens from its start on.",
    start: ({ input, kernel }) => input.tokenService.port > 0 ? startTokenService(input, kernel) : undefined,
    stop: (service) => service?.close(),
  })
  .add({
    name: "proxy",
    needs: ["plan", "names", "sockets", "requests", "grpcBootstrap", "statusPort"],
    why: "after everything that the proxy connects to.",
    start: async ({ input, kernel: { clock, log }, plan, names }) => {
      if (input.settings.DISABLE_PROXY) return undefined;
      const identity = plan.secrets.from === "another program";
      const others = { identity, credentials: await takesConnections(input.paths.credentialSocket) };
      const checks = names === undefined ? [] : [names.notReady];
      return startEnvoyProcess(input, others, { clock, log, checks });
    },
    stop: async (proxy) => void await proxy?.end(),
  })
  .add({
    name: "health",
    needs: ["proxy", "relay"],
    why: "last: a workload whose proxy does not serve is unhealthy, and the relay reports it.",
    start: ({ input, kernel: { clock, log }, proxy, relay }) =>
      proxy && startWorkloadHealth(input, proxy, relay, { clock, log }),
    stop: (health) => health?.stop(),
  });
