/**
 * Log scopes of each program, exactly as listed in Istio's reference.
 *
 * @module
 */
import type { Program } from "../program/program.ts";

const discovery = "ads adsc all analysis authn authorization ca controllers default delta deltaadsc file " +
  "fullpush gateway grpc grpcgen ip-autoallocate klog krt orch model monitor monitoring " +
  "pkica pkira probes processing retry rootcertrotator secretcontroller security serverca " +
  "serviceentry spiffe status trustBundle untaint validation validationController validationServer wasm wle";

const agent = "ads all ca cache citadelclient default dns cloudcred grpc healthcheck " +
  "klog mockcred monitoring probes sds security spiffe validation wasm xdsproxy";

const cni =
  "ads all cni-agent cni-plugin controllers default grpc klog krt model monitoring spiffe trustBundle validation";

/** Scopes by program. `all` means every scope. */
export const scopes: Readonly<Record<Program, readonly string[]>> = {
  "pilot-discovery": discovery.split(" "),
  "pilot-agent": agent.split(" "),
  "install-cni": cni.split(" "),
};
