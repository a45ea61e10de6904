/**
 * The logger of an extension provider, as Telemetries and default providers name it.
 *
 * @module
 */
import { logFormatProblem } from "../../config/mesh/log_format.ts";
import type { ExtensionProvider, MeshConfig } from "../../config/mesh/types.ts";
import { providerCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";
import { DEFAULT_TEXT_FORMAT, jsonFormat, type LogFormat, meshFormat, textFormat } from "./log_format.ts";
import { type AccessLogger, fileLog, grpcLog, LOG_NAME, openTelemetryLog } from "./loggers.ts";
import { extensionProvider, isUnusable, type UnusableProvider } from "./provider.ts";

type FileSettings = NonNullable<ExtensionProvider["proxyFileAccessLog"]>;
type OpenTelemetrySettings = NonNullable<ExtensionProvider["proxyOtelAls"]>;

/** The provider of file logs that every mesh has; without a format of its own it writes that of the mesh's own fields. */
const BUILT_IN = "envoy";

const STDOUT = "/dev/stdout";

/** The logger of the provider of that name. */
export function logProvider(read: Reader, name: string): AccessLogger | UnusableProvider {
  const mesh = read.mesh();
  const provider = extensionProvider(mesh, name, "accessLogging");
  if (isUnusable(provider)) return provider;
  const { proxyFileAccessLog: file, proxyHttpAls: http, proxyTcpAls: tcp, proxyOtelAls: openTelemetry } = provider;
  const format = (file ?? openTelemetry)?.logFormat;
  const problem = format && logFormatProblem(format);
  if (problem !== undefined) return { why: `has a logFormat that the proxy cannot read: ${problem}` };
  if (file) return fileLog(file.path || STDOUT, fileFormat(mesh, provider.name, file));
  const settings = http ?? tcp ?? openTelemetry;
  if (!settings) return { why: "has no access logs" };
  const to = providerCluster(read, settings);
  if (isUnusable(to)) return to;
  if (openTelemetry) return openTelemetryLog(to, openTelemetrySettings(openTelemetry));
  return http ? grpcLog("http", to, http) : grpcLog("tcp", to, tcp ?? {});
}

function fileFormat(mesh: MeshConfig, name: string, { logFormat, omitEmptyValues }: FileSettings): LogFormat {
  if (name === BUILT_IN && logFormat === undefined && !omitEmptyValues) return meshFormat(mesh);
  const format = logFormat?.labels === undefined ? textFormat(logFormat?.text) : jsonFormat(logFormat.labels);
  return { ...format, ...(omitEmptyValues ? { omit_empty_values: true } : {}) };
}

function openTelemetrySettings({ logName, logFormat = {} }: OpenTelemetrySettings) {
  return {
    logName: logName || LOG_NAME.openTelemetry,
    text: logFormat.text || DEFAULT_TEXT_FORMAT,
    attributes: logFormat.labels ?? {},
  };
}
